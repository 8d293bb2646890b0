#include "app/validate_runs.h"

#include <cmath>
#include <map>

#include "app/prediction.h"
#include "app/run_rows.h"

namespace vsim::app {
namespace {

using namespace core;

/// FLOPs per token that HFU counts for a run, and the GPU's peak.
struct Work {
  double flopsPerToken = 0, peak = 0;
};

ResultAll<std::pair<double, Work>> predictRun(const PublishedRun& run) {
  auto parameters = sim::KernelModel::loadParameters();
  if (!parameters) return tl::unexpected(Errors{parameters.error()});
  const Scenario& s = run.scenario;
  const sim::KernelSoftware software{
      .attention = s.software.attention, .compile = s.software.compile, .year = s.software.year};
  CostModels models{.cluster = run.cluster,
                    .profile = {},
                    .kernels = sim::KernelModel(run.cluster.gpu, std::move(*parameters), software),
                    .collectives = sim::ProfiledCollectives(sim::CollectiveModel(run.cluster)),
                    .compiled = s.software.compile};
  models.nodes = std::max<std::int64_t>(1, s.cluster.gpus / run.cluster.gpusPerNode);
  const ModelGraph graph(s.model);
  auto prepared = prepare(graph, s, s.systems.front());
  if (!prepared) return tl::unexpected(Errors{prepared.error()});
  auto prediction = predict(graph, s, *prepared, models, false);
  if (!prediction) return tl::unexpected(Errors{prediction.error()});
  const RunReport& report = prediction->report;
  return std::pair{report.tokensPerSecondPerGpu,
                   Work{modelFlopsPerToken(report.facts) + report.facts.recomputeFlopsPerToken,
                        report.hardware.peakFlops}};
}

}  // namespace

bool isRunTable(const CsvTable& table) {
  return table.column("tokens_per_s_per_gpu") >= 0 && table.column("parallelism") >= 0 &&
         table.column("n_gpus") >= 0;
}

ResultAll<ValidationReport> validateRunTable(const CsvTable& table) {
  Errors errors;
  for (const char* column :
       {"row_id", "gpu", "framework", "model", "seq_len", "micro_batch_per_gpu", "precision"})
    if (table.column(column) < 0)
      errors.push_back(
          {.message = std::string("column \"") + column + "\" is missing", .file = table.file, .line = 1});
  if (!errors.empty()) return tl::unexpected(errors);

  ValidationReport report;
  report.quantity = "tokens_per_s_per_gpu";
  std::vector<Work> works;
  std::map<std::string, std::pair<double, double>> hfu;  // gpu -> (sum, rows)
  for (const auto& fields : table.rows) {
    RunRow row;
    for (std::size_t c = 0; c < table.header.size(); ++c) row[table.header[c]] = fields[c].text;
    ValidatedRow result{.id = row["row_id"],
                        .group = row["framework"],
                        .gpu = row["gpu"],
                        .family = row["gpu"],
                        .format = row["model"],
                        .library = row["framework"],
                        .reasonSkipped = {}};
    Work work;
    auto run = publishedRun(row);
    if (!run) {
      result.reasonSkipped = run.error().message;
    } else if (auto predicted = predictRun(*run); !predicted) {
      result.reasonSkipped = predicted.error().front().message;
    } else {
      result.measured = run->tokensPerSecondPerGpu;
      result.predicted = predicted->first;
      result.error = result.predicted / result.measured - 1.0;
      work = predicted->second;
      auto& [sum, rows] = hfu[result.gpu];
      sum += result.measured * work.flopsPerToken / work.peak;
      rows += 1;
    }
    works.push_back(work);
    report.details.push_back(std::move(result));
  }
  std::map<std::string, std::vector<const ValidatedRow*>> byFramework, byGpu;
  std::vector<const ValidatedRow*> all;
  for (std::size_t i = 0; i < report.details.size(); ++i) {
    ValidatedRow& row = report.details[i];
    if (!row.reasonSkipped.empty()) {
      ++report.skipped;
      continue;
    }
    const auto& [sum, rows] = hfu[row.gpu];
    row.naive = sum / rows * works[i].peak / works[i].flopsPerToken;
    ++report.rows;
    all.push_back(&row);
    byFramework[row.group].push_back(&row);
    byGpu[row.gpu + " " + row.format].push_back(&row);
  }
  const ValidatedGroup total = summarise("all", all);
  report.mae = total.mae;
  report.bias = total.bias;
  report.naiveMae = total.naiveMae;
  for (const auto& [name, rows] : byFramework) report.groups.push_back(summarise(name, rows));
  for (const auto& [name, rows] : byGpu) report.groupsByGpu.push_back(summarise(name, rows));
  return report;
}

}  // namespace vsim::app
