#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command_line.h"
#include "tests/cli/real_processes.h"
#include "tests/support/run_process.h"

namespace vsim::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kScenario = R"(vsim: 1
name: little
model: {name: little, layers: 2, hidden: 32, heads: 2, kv_heads: 2, intermediate: 64, vocabulary: 128}
cluster: {preset: h100-rail-optimized, gpus: 2}
parallel: {fsdp: 2}
systems: [vescale]
batch: {sequence: 32, micro_batch: 1}
real: {scale: 1, steps: 3, warmup: 1}
)";

/// The binary with a data folder of its own and a scenario that two threads run in milliseconds.
class Vsim {
 public:
  Vsim() { test::writeFile(scenario(), kScenario); }
  [[nodiscard]] std::string scenario() const { return folder_ / "little.yaml"; }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::vector<std::string> environment() const {
    return {"XDG_DATA_HOME=" + (folder_ / "data")};
  }
  test::ProcessResult operator()(const std::vector<std::string>& arguments) const {
    return test::runProcess(VSIM_EXECUTABLE, arguments, environment());
  }
  /// `vsim run little --real --executor host` and more.
  [[nodiscard]] std::vector<std::string> real(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"run", scenario(), "--real", "--executor", "host", "--budget", "0.5s"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  test::TemporaryFolder folder_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("run --real on two and four threads: verdict, JSON, trace, profile, store") {
  const Vsim vsim;
  const auto [ranks, more] = GENERATE(table<int, std::vector<std::string>>(
      {{2, {}}, {4, {"--ranks", "4", "--set", "cluster.gpus=4", "--set", "parallel.fsdp=4"}}}));
  auto arguments = vsim.real(more);
  for (const std::string& each :
       {std::string("--json"), vsim.file("out.json"), std::string("--trace"), vsim.file("trace.json"),
        std::string("--save-profile"), vsim.file("costs.yaml")})
    arguments.push_back(each);
  const auto run = vsim(arguments);
  INFO(run.err << run.out);
  REQUIRE(run.exitCode == kDone);
  CHECK(contains(run.out, std::to_string(ranks) + " ranks on host, median of 3 steps after 1 of warm-up"));
  CHECK(contains(run.out, "together: the step"));
  CHECK(contains(run.err, "stored as run 1"));

  const Json json = Json::parse(test::readFile(vsim.file("out.json")));
  CHECK(json.at("scenario") == "little");
  CHECK(json.at("profile") == "measured for this run");
  REQUIRE(json.at("verdicts").size() == 1);
  const Json& verdict = json.at("verdicts").at(0);
  CHECK(verdict.at("ranks") == ranks);
  CHECK(verdict.at("steps_s").size() == 3);
  CHECK(verdict.at("step_time_s").at("measured").get<double>() > 0);
  CHECK(verdict.at("step_time_s").at("predicted").get<double>() > 0);
  CHECK(verdict.at("peak_allocated_bytes").at("error").get<double>() == Approx(0).margin(0.01));
  double phases = 0, difference = 0;
  for (const Json& row : verdict.at("phases")) phases += row.at("time_s").at("measured").get<double>();
  for (const Json& part : verdict.at("contributors")) difference += part.at("difference_s").get<double>();
  CHECK(phases == Approx(verdict.at("step_time_s").at("measured").get<double>()));
  CHECK(difference == Approx(verdict.at("step_time_s").at("predicted").get<double>() -
                             verdict.at("step_time_s").at("measured").get<double>())
                          .margin(1e-9));
  bool gathers = false;
  for (const Json& row : verdict.at("collectives"))
    gathers = gathers || (row.at("kind") == "all_gather" && row.at("ranks") == ranks);
  CHECK(gathers);

  const std::string trace = test::readFile(vsim.file("trace.json"));
  CHECK(contains(trace, "vescale (measured)"));
  CHECK(contains(trace, "vescale (predicted)"));
  CHECK(contains(vsim({"runs"}).out, "vescale (measured)"));
  const auto shown = vsim({"show", "last"});
  CHECK(shown.exitCode == kDone);
  CHECK(contains(shown.out, "vescale (predicted)"));
  CHECK(contains(shown.out, run.out));  // the verdict as it was printed

  // The profile serves again, unless the time did not suffice for all of it.
  auto again = vsim.real(more);
  again.insert(again.end(), {"--profile", vsim.file("costs.yaml"), "--no-store", "--json", "-"});
  const auto second = vsim(again);
  INFO(second.err);
  REQUIRE(second.exitCode == kDone);
  CHECK((Json::parse(second.out).at("profile") == vsim.file("costs.yaml")) !=
        contains(second.err, "has no time for"));
}

TEST_CASE("The option --max-error is a gate, and the verdict is printed all the same") {
  const Vsim vsim;
  const auto tight = vsim(vsim.real({"--no-store", "--max-error", "0.000001"}));
  INFO(tight.err);
  CHECK(tight.exitCode == kFailed);
  CHECK(contains(tight.err, "more than --max-error 1e-06 allows"));
  CHECK(contains(tight.out, "together: the step"));
  CHECK(vsim(vsim.real({"--no-store", "--max-error", "100000"})).exitCode == kDone);
}

TEST_CASE("calibrate and --real are one command: tables, profile, store") {
  const Vsim vsim;
  const std::string word = GENERATE("calibrate", "--real");
  const auto result = vsim(
      {word, "--executor", "host", "--ranks", "2", "--budget", "1s", "--output", vsim.file("profile.yaml")});
  INFO(result.err);
  REQUIRE(result.exitCode == kDone);
  CHECK(contains(result.out, "2 ranks of "));
  CHECK(contains(result.out, "missing: "));
  CHECK(contains(result.out, "nodes, racks"));
  CHECK(contains(result.err, "profile written: " + vsim.file("profile.yaml")));
  CHECK(contains(test::readFile(vsim.file("profile.yaml")), "host"));
  CHECK(contains(vsim({"runs"}).out, "host (calibration)"));
  CHECK(contains(vsim({"show", "1"}).out, test::readFile(vsim.file("profile.yaml"))));
}

TEST_CASE("A profile of other hardware is warned of, and measured anew") {
  const Vsim vsim;
  REQUIRE(vsim({"calibrate", "--executor", "host", "--ranks", "1", "--budget", "0.5s", "--no-store",
                "--output", vsim.file("one.yaml")})
              .exitCode == kDone);
  const auto run = vsim(vsim.real({"--no-store", "--profile", vsim.file("one.yaml")}));
  INFO(run.err);
  CHECK(run.exitCode == kDone);
  CHECK(contains(run.err, "warning: " + vsim.file("one.yaml")));
  CHECK(contains(run.err, "it had 1 ranks, this job 2"));
}

TEST_CASE("run --real and calibrate: mistakes are refused before anything runs") {
  const Vsim vsim;
  struct Mistake {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::string s = vsim.scenario();
  const std::vector<Mistake> mistakes{
      {{"run", s, "--steps", "3"}, "--steps goes with --real"},
      {{"run", s, "--max-error", "0.1"}, "--max-error goes with --real"},
      {{"run", s, "--executor", "host"}, "--executor goes with --real"},
      {{"run", s, "--real", "--executor", "hots"}, "did you mean host?"},
      {{"run", s, "--real", "--ranks", "2"}, "--ranks goes with --executor host"},
      {{"run", s, "--real", "--ranks", "0", "--executor", "host"}, "--ranks"},
      {{"run", s, "--real", "--budget", "soon"}, "\"soon\" is no duration"},
      {{"run", s, "--real", "--budget", "-1s"}, "above 0"},
      {{"run", s, "--real", "--timeout", "0"}, "above 0"},
      {{"run", s, "--real", "--explain"}, "--explain"},
      {{"run", s, "--real", "--json", "-", "--trace", "-"}, "standard output"},
      {{"run", s, "--real", "--db", "x", "--no-store"}, "exclude each other"},
      {{"run", s, "--real", "--executor", "host", "--steps", "255", "--warmup", "1"}, "1 to 255"},
      {{"run", s, "--real", "--executor", "host", "--ranks", "3"},
       "--set cluster.gpus=3 --set parallel.fsdp=3"},
      {{"run", "/nowhere/scenario_without_name.yaml", "--real", "--executor", "host"},
       "scenario_without_name"},
      {{"run", s, "--real", "--executor", "host", "--profile", "/nowhere/p.yaml"}, "/nowhere/p.yaml"},
      {{"run", s, "--real", "--executor", "host", "--set", "sweep={batch.micro_batch: [1, 2]}"}, "sweep"},
      {{"calibrate", "--set", "a=b"}, "--set needs a scenario"},
      {{"calibrate", "--executor", "gpu"}, "unknown executor"},
      {{"calibrate", "--budget", "1w"}, "no duration"},
      {{"calibrate", "--steps", "1"}, "unknown option --steps"},
      {{"--real", "--budget", "1w"}, "no duration"},
  };
  for (const Mistake& mistake : mistakes) {
    std::string typed;
    for (const std::string& argument : mistake.arguments) typed += " " + argument;
    const auto result = vsim(mistake.arguments);
    INFO("vsim" << typed << ": " << result.err);
    CHECK(result.exitCode == kWrongInput);
    CHECK(result.out.empty());
    CHECK(contains(result.err, mistake.message));
  }
  CHECK(vsim.names() == std::vector<std::string>{"little.yaml"});
}

TEST_CASE("Results that cannot be written fail a real run, and leave nothing behind") {
  const Vsim vsim;
  for (const char* option : {"--json", "--trace", "--save-profile"}) {
    const auto result =
        vsim(vsim.real({"--no-store", "--steps", "1", "--warmup", "0", option, "/nowhere/file"}));
    INFO(option << result.err);
    CHECK(result.exitCode == kFailed);
    CHECK(contains(result.err, "/nowhere/file"));
  }
  const auto output = vsim({"calibrate", "--executor", "host", "--ranks", "1", "--budget", "0.5s",
                            "--no-store", "--output", "/nowhere/p.yaml"});
  CHECK(output.exitCode == kFailed);
  CHECK(contains(output.err, "/nowhere/p.yaml"));
  CHECK(vsim.names() == std::vector<std::string>{"little.yaml"});
}

TEST_CASE("Without a plug-in or a GPU the message says what is missing and what can be run instead") {
  const Vsim vsim;
  // The search goes to a folder without plug-ins first; one beside the binary finds no driver here, or works.
  const auto result =
      vsim({"run", vsim.scenario(), "--real", "--no-store", "--budget", "2s", "--timeout", "20s"});
  INFO(result.err);
  if (result.exitCode == kDone) return;  // there are two GPUs
  CHECK(result.exitCode != 0);
  CHECK(result.out.empty());
  CHECK((contains(result.err, "--executor host") || contains(result.err, "GPUs, the job")));
}

TEST_CASE("Processes with different scenarios are refused on all of them, with the difference") {
  const Vsim vsim;
  test::Torchrun job(VSIM_EXECUTABLE, 2, vsim.environment());
  job.start(0, vsim.real({"--no-store", "--timeout", "20s"}));
  job.start(1, vsim.real({"--no-store", "--timeout", "20s", "--set", "batch.micro_batch=2"}));
  for (int process : {0, 1}) CHECK(job.exitCode(process) == kWrongInput);
  INFO(job.err(0) << job.err(1));
  CHECK(contains(job.err(0), "micro_batch=2"));
  CHECK(job.err(1).empty());
  CHECK(job.out(0).empty());
}

TEST_CASE("A process that cannot read its scenario ends all, named") {
  const Vsim vsim;
  test::Torchrun job(VSIM_EXECUTABLE, 2, vsim.environment());
  auto wrong = vsim.real({"--no-store", "--timeout", "20s"});
  wrong[1] = "/nowhere/scenario_without_name.yaml";
  job.start(0, vsim.real({"--no-store", "--timeout", "20s"}));
  job.start(1, wrong);
  for (int process : {0, 1}) CHECK(job.exitCode(process) == kWrongInput);
  CHECK(contains(job.err(0), "rank 1 on "));
  CHECK(contains(job.err(0), "scenario_without_name"));
}

TEST_CASE("MASTER_PORT taken: said with the port") {
  const Vsim vsim;
  test::TakenPort taken;
  test::Torchrun job(VSIM_EXECUTABLE, 2, vsim.environment(), taken.port());
  job.start(0, vsim.real({"--no-store", "--timeout", "3s"}));
  CHECK(job.exitCode(0) == kFailed);
  CHECK(contains(job.err(0), std::to_string(taken.port())));
}

TEST_CASE("A process that never comes ends the others within the timeout") {
  const Vsim vsim;
  test::Torchrun job(VSIM_EXECUTABLE, 2, vsim.environment());
  job.start(0, vsim.real({"--no-store", "--timeout", "1s"}));
  CHECK(job.exitCode(0) == kFailed);
  CHECK(contains(job.err(0), "rank 1"));
}

TEST_CASE("Under mpirun the leader alone speaks, and a killed rank ends all with one error") {
  if (!test::haveMpi()) {
    WARN("SKIPPED: no mpirun or no MPI plug-in");
    return;
  }
  const Vsim vsim;
  const std::vector<std::string> four{"--set",           "cluster.gpus=4", "--set",
                                      "parallel.fsdp=4", "--json",         vsim.file("out.json"),
                                      "--no-store",      "--timeout",      "30s"};
  const auto run = test::mpirun(4, VSIM_EXECUTABLE, vsim.real(four), vsim.environment());
  INFO(run.err);
  REQUIRE(run.exitCode == kDone);
  CHECK(count(run.out, "together: the step") == 1);
  CHECK(Json::parse(test::readFile(vsim.file("out.json"))).at("verdicts").at(0).at("ranks") == 4);

  const auto wrong = test::mpirun(3, VSIM_EXECUTABLE, vsim.real({"--no-store"}), vsim.environment());
  INFO(wrong.err);
  CHECK(wrong.exitCode == kWrongInput);
  CHECK(count(wrong.err, "the scenario has 2 GPUs, the job 3 ranks") == 1);

  // Long enough to be killed in the middle.
  const auto killed = test::mpirunKillingOne(3, VSIM_EXECUTABLE,
                                             {"run",
                                              vsim.scenario(),
                                              "--real",
                                              "--executor",
                                              "host",
                                              "--set",
                                              "cluster.gpus=3",
                                              "--set",
                                              "parallel.fsdp=3",
                                              "--set",
                                              "batch.sequence=256",
                                              "--set",
                                              "batch.micro_batch=16",
                                              "--steps",
                                              "250",
                                              "--no-store",
                                              "--budget",
                                              "60s",
                                              "--timeout",
                                              "30s"},
                                             vsim.environment());
  INFO(killed.err);
  CHECK(killed.exitCode != kDone);
  CHECK(count(killed.err, "rank 1 on ") == 1);
  CHECK(contains(killed.err, " ended"));
  CHECK(killed.out.empty());
}

}  // namespace vsim::cli
