#include "app/run.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iterator>

#include "app/load.h"
#include "app/prediction.h"

namespace vsim::app {
namespace {

std::string fileText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> notesOf(const core::Scenario& scenario) {
  std::vector<std::string> notes;
  if (!scenario.model.remark.empty()) notes.push_back(scenario.model.name + ": " + scenario.model.remark);
  if (!scenario.ignoredModelFields.empty())
    notes.push_back(fmt::format("{}: fields not used: {}", scenario.model.name,
                                fmt::join(scenario.ignoredModelFields, ", ")));
  return notes;
}

/// A bucket that pads much is worth a word: its blocks are too coarse for so many ranks.
void notePadding(const Prepared& prepared, std::vector<std::string>& notes) {
  const core::BucketLayout* worst = nullptr;
  const auto buckets = core::bucketLayouts(prepared.model, prepared.options, prepared.layouts);
  for (const core::BucketLayout& bucket : buckets)
    if (!worst || bucket.paddingRatio() > worst->paddingRatio()) worst = &bucket;
  if (!worst || worst->paddingRatio() <= 0.5) return;
  const bool optimal = worst->shardElements == worst->lowerBound;
  notes.push_back(
      fmt::format("{}: bucket {} ({} of them) pads {:.0f} %{}: its blocks are coarse for {} ranks; a smaller "
                  "parallel.fsdp or finer "
                  "granularity pads less",
                  prepared.system->name(), worst->name, worst->copies, 100 * worst->paddingRatio(),
                  optimal ? ", which no order of its tensors avoids" : "", worst->devices));
}

}  // namespace

core::ResultAll<std::vector<RunResult>> run(const RunOptions& options, const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  const auto tell = [&](const std::string& what, double fraction) {
    if (progress) progress(what, fraction);
  };
  tell("reading the scenario", 0);
  auto scenarios = loadScenarios(options);
  if (!scenarios) return tl::unexpected(scenarios.error());
  std::size_t total = 0, done = 0;
  for (const core::Scenario& scenario : *scenarios) total += scenario.systems.size();
  std::vector<RunResult> results;
  for (const core::Scenario& scenario : *scenarios) {
    const std::string text = fileText(scenario.path);
    auto begin = Clock::now();
    const core::ModelGraph graph(scenario.model);
    auto models = costModels(scenario);
    if (!models) return tl::unexpected(models.error());
    for (const core::SystemSpec& spec : scenario.systems) {
      tell(fmt::format("simulating {} on {} GPUs", spec.name, scenario.cluster.gpus),
           static_cast<double>(done++) / static_cast<double>(total));
      auto prepared = prepare(graph, scenario, spec);
      if (!prepared) return tl::unexpected(core::Errors{prepared.error()});
      auto prediction = predict(graph, scenario, *prepared, *models, options.keepLogs);
      if (!prediction) return tl::unexpected(core::Errors{prediction.error()});
      prediction->report.facts.wallSeconds = std::chrono::duration<double>(Clock::now() - begin).count();
      results.push_back({.report = std::move(prediction->report),
                         .log = std::move(prediction->log),
                         .scenarioText = text,
                         .notes = notesOf(scenario)});
      notePadding(*prepared, results.back().notes);
      begin = Clock::now();
    }
  }
  tell("done", 1);
  return results;
}

}  // namespace vsim::app
