#include "tests/gpu/device/program/conformance.h"

#include <chrono>
#include <numeric>

#include <nlohmann/json.hpp>

#include "core/program/dag.h"
#include "tests/gpu/device/checked_run.h"
#include "tests/gpu/device/program/collective_conformance.h"
#include "tests/gpu/support/log_checks.h"

namespace vsim::test {

using namespace vsim::core;

namespace {

constexpr int kSteps = 3;

gpu::device::DeviceOptions deviceOptions(const ConformanceOptions& options, int ranks) {
  gpu::device::DeviceOptions result = plainOptions(options.timeout);
  result.fixedReductionOrder = options.fixedReductionOrder;
  result.devices.resize(static_cast<std::size_t>(ranks));
  std::iota(result.devices.begin(), result.devices.end(), 0);
  return result;
}

void checkCase(const System& system, const ConformanceCase& what,
               const std::shared_ptr<gpu::device::Api>& api, const ConformanceOptions& options,
               ConformanceRow& row) {
  const auto program = programOf(system, what);
  const gpu::device::DeviceOptions devices = deviceOptions(options, what.ranks());
  row.exact = devices.fixedReductionOrder || what.ranks() == 1;
  CheckedRun run(program, what, api, devices);
  const auto log = run.execute(kSteps);
  if (!log) {
    row.problems.push_back(log.error().text());
    return;
  }
  row.checked = run.checkedElements();
  if (row.checked == 0) row.problems.emplace_back("no data was checked");
  for (const std::string& problem : {run.dataProblem(), run.finalProblem()})
    if (!problem.empty()) row.problems.push_back(problem);
  for (std::string& problem : logProblems(program, *log, row.ranks, kSteps, options))
    row.problems.push_back(std::move(problem));
}

}  // namespace

std::vector<std::string> logProblems(const std::shared_ptr<const StepProgram>& program,
                                     const ExecutionLog& log, int ranks, int steps,
                                     const ConformanceOptions& options) {
  std::vector<std::string> problems;
  const auto note = [&](const std::string& where, const std::string& problem) {
    if (!problem.empty()) problems.push_back(where + ": " + problem);
  };
  const auto dag = ProgramDag::build(*program, steps);
  if (!dag) return {"program: " + dag.error().text()};
  const ExecutionLog expected = simulatedWithAllocator(program, steps);
  if (log.ranks.size() != static_cast<std::size_t>(ranks)) note("log", "not all ranks are there");
  for (const RankLog& rank : log.ranks) {
    note(rank.name, difference(expected.ranks.front(), rank));
    note(rank.name, brokenDependency(*program, *dag, rank, {options.streamClocks, options.hostClock}));
    if (rank.stepEnd.size() != static_cast<std::size_t>(steps)) note(rank.name, "not all steps are there");
  }
  return problems;
}

ConformanceCase fittedTo(const ConformanceCase& what, int devices) {
  ConformanceCase fitted = what;
  ParallelSpec& parallel = fitted.options.parallel;
  while (fitted.ranks() > devices) {
    if (parallel.fsdp > 1)
      parallel.fsdp = (parallel.fsdp + 1) / 2;
    else if (parallel.replicate > 1)
      --parallel.replicate;
    else
      parallel.tensor /= 2;
  }
  parallel.expert = std::min(parallel.expert, parallel.fsdp);
  if (parallel.expert < 2) fitted.model.experts = false;  // their tokens are exchanged, with somebody
  if (fitted.ranks() != what.ranks())
    fitted.name += fmt::format(" (on {} rank{})", fitted.ranks(), fitted.ranks() == 1 ? "" : "s");
  return fitted;
}

std::vector<ConformanceRow> checkConformance(const std::shared_ptr<gpu::device::Api>& api,
                                             const ConformanceOptions& options) {
  std::vector<ConformanceRow> rows = checkCollectives(api, options);
  for (const auto& system : systems())
    for (const ConformanceCase& any : conformanceCases()) {
      const ConformanceCase what = fittedTo(any, options.devices);
      ConformanceRow& row = rows.emplace_back();
      row.system = system->name();
      row.name = what.name;
      row.ranks = what.ranks();
      const auto began = std::chrono::steady_clock::now();
      try {
        checkCase(*system, what, api, options, row);
      } catch (const std::exception& error) {
        row.problems.emplace_back(error.what());
      }
      row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      if (options.progress) options.progress(row);
    }
  return rows;
}

std::string conformanceJson(const std::vector<ConformanceRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  int failed = 0;
  for (const ConformanceRow& row : rows) {
    list.push_back({{"system", row.system},
                    {"case", row.name},
                    {"ranks", row.ranks},
                    {"exact", row.exact},
                    {"checked", row.checked},
                    {"problems", row.problems},
                    {"seconds", row.seconds}});
    if (!row.problems.empty()) ++failed;
  }
  return nlohmann::json{{"rows", list}, {"failed", failed}}.dump(1);
}

}  // namespace vsim::test
