// One device per process, as a launcher starts them: real processes, a job over loopback, communicators
// between them.

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "core/program/dag.h"
#include "tests/gpu/device/device_run.h"
#include "tests/gpu/job/child_processes.h"
#include "tests/gpu/job/job_harness.h"
#include "tests/gpu/support/log_checks.h"

using namespace vsim;
using namespace vsim::core;
using namespace vsim::test;
using Catch::Matchers::Contains;

namespace {

constexpr int kSteps = 2;

/// A folder in shared memory for the processes' mail, gone afterwards.
class MailFolder {
 public:
  MailFolder() {
    char path[] = "/dev/shm/vsim-mail-XXXXXX";
    if (::mkdtemp(path) == nullptr) throw std::runtime_error("no folder in /dev/shm");
    path_ = path;
  }
  ~MailFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  MailFolder(const MailFolder&) = delete;
  MailFolder& operator=(const MailFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

ConformanceCase caseNamed(const std::string& name) {
  for (const ConformanceCase& what : conformanceCases())
    if (what.name == name) return what;
  throw std::runtime_error("no case " + name);
}

std::string oneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "good" : text;
}

/// What process 0 has of the others' logs, compared with the simulator's.
std::string logProblem(const std::shared_ptr<const StepProgram>& program, const ExecutionLog& log,
                       int ranks) {
  const auto dag = ProgramDag::build(*program, kSteps);
  if (!dag || log.ranks.size() != static_cast<std::size_t>(ranks)) return "not all ranks are in the log";
  const ExecutionLog virtualLog = simulatedWithAllocator(program, kSteps);
  for (int r = 0; r < ranks; ++r) {
    const RankLog& rank = log.ranks[static_cast<std::size_t>(r)];
    if (rank.firstRank != r) return "ranks are out of order";
    if (auto problem = difference(virtualLog.ranks.front(), rank); !problem.empty()) return problem;
    if (auto problem = brokenDependency(*program, *dag, rank); !problem.empty()) return problem;
  }
  return "";
}

/// The life of one process; answers what it has to complain about.
std::string live(int process, const std::string& jobName, const std::string& system,
                 const ConformanceCase& what, StandInOptions devices) {
  const int ranks = what.ranks();
  auto job = gpu::joinJob(launchOf(jobName, process, ranks), optionsOf(process));
  if (!job) return job.error().text();
  devices.devices = 1;
  devices.seed += static_cast<std::uint64_t>(process) * 100;
  const auto program = programOf(*findSystem(system), what);
  DeviceRun run(program, what, devices, job->get());
  const auto log = run.execute(kSteps);
  std::string problem = log ? "" : log.error().text();
  if (log) {
    if (process == 0) problem = logProblem(program, *log, ranks);
    if (problem.empty() && process != 0 && log->ranks.size() != 1) problem = "a log of other ranks";
    if (problem.empty()) problem = run.dataProblem();
    if (problem.empty() && run.checkedElements() == 0) problem = "nothing was checked";
    if (problem.empty()) problem = run.finalProblem();
  }
  run.close();
  if (!run.leaks().empty()) problem += " LEFT BEHIND " + run.leaks();
  if (!run.violations().empty()) problem += " VIOLATIONS " + run.violations();
  return problem;
}

}  // namespace

TEST_CASE("processes: one device each; order, memory and data are those of one process") {
  using Names = std::vector<const char*>;
  for (const auto& [system, names] :
       {std::pair{"vescale", Names{"default", "experts"}}, {"fsdp2", Names{"replicas"}}}) {
    for (const char* name : names) {
      INFO(system << ", " << name);
      const ConformanceCase what = caseNamed(name);
      const MailFolder mail;
      const std::string jobName = freshJobName();
      ChildProcesses children(what.ranks(), [&](int process, const ChildProcesses::Say& say) {
        StandInOptions devices;
        devices.mailFolder = mail.path();
        devices.maxDelay = 30;
        say(oneLine(live(process, jobName, system, what, devices)));
      });
      for (int process = 0; process < what.ranks(); ++process) CHECK(children.line(process) == "good");
    }
  }
}

TEST_CASE("processes: a fault in one ends all of them with its error, and nothing is left") {
  const ConformanceCase what = caseNamed("default");
  struct Case {
    Fault fault;
    const char* contains;
  };
  const std::vector<Case> cases{
      {{.kind = Fault::Kind::call, .call = "reduceScatter", .after = 2, .text = "broken (999)"},
       "reduceScatter: broken (999)"},
      {{.kind = Fault::Kind::call, .call = "createStream", .after = 1, .text = "broken (999)"}, "setting up"},
      {{.kind = Fault::Kind::communicatorError, .after = 4}, "remote process exited"},
      {{.kind = Fault::Kind::deviceError, .after = 60}, "unspecified launch failure"},
      {{.kind = Fault::Kind::call, .call = "deviceFacts", .after = 1, .text = "broken (999)"},
       "cannot be used: deviceFacts: broken (999)"},
  };
  constexpr int kFaulty = 2;
  for (const Case& c : cases) {
    INFO(c.contains);
    const MailFolder mail;
    const std::string jobName = freshJobName();
    ChildProcesses children(what.ranks(), [&](int process, const ChildProcesses::Say& say) {
      StandInOptions devices;
      devices.mailFolder = mail.path();
      if (process == kFaulty) devices.faults = {c.fault};
      say(oneLine(live(process, jobName, "vescale", what, devices)));
    });
    for (int process = 0; process < what.ranks(); ++process) {
      const std::string said = children.line(process);
      INFO("process " << process);
      CHECK_THAT(said, Contains(c.contains) && Contains("host2"));
      CHECK_THAT(said, !Contains("LEFT BEHIND") && !Contains("VIOLATIONS"));
    }
  }
}

TEST_CASE("processes: one that is killed in the middle of a collective is named by the others") {
  const ConformanceCase what = caseNamed("default");
  const MailFolder mail;
  const std::string jobName = freshJobName();
  constexpr int kVictim = 3;
  ChildProcesses children(what.ranks(), [&](int process, const ChildProcesses::Say& say) {
    StandInOptions devices;
    devices.mailFolder = mail.path();
    // The victim's third collective never ends: there it waits to be killed.
    if (process == kVictim) devices.faults = {{.kind = Fault::Kind::stall, .after = 3}};
    say("begins");
    say(oneLine(live(process, jobName, "vescale", what, devices)));
  });
  for (int process = 0; process < what.ranks(); ++process) REQUIRE(children.line(process) == "begins");
  std::this_thread::sleep_for(std::chrono::milliseconds(700));  // they run; were they late, it is found too
  children.signal(kVictim, SIGKILL);
  for (int process = 0; process < kVictim; ++process) {
    const std::string said = children.line(process);
    CHECK_THAT(said, Contains("host3"));
    CHECK_THAT(said, !Contains("LEFT BEHIND") && !Contains("VIOLATIONS"));
  }
}
