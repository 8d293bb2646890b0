#include "app/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>

#include "app/load.h"
#include "app/prediction.h"
#include "app/profile_notes.h"

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

/// A bucket that pads much is worth a word: its tensors are too coarse for so many ranks.
void notePadding(const Prepared& prepared, std::vector<std::string>& notes) {
  const auto buckets = core::bucketLayouts(prepared.model, prepared.options, prepared.layouts);
  const auto worst = std::max_element(buckets.begin(), buckets.end(), [](const auto& a, const auto& b) {
    return a.paddingRatio() < b.paddingRatio();
  });
  if (worst == buckets.end() || worst->paddingRatio() <= 0.5) return;
  const auto index = static_cast<std::size_t>(worst - buckets.begin());
  const bool contiguous = prepared.layouts.layouts[index].contiguous;
  const bool optimal = contiguous && worst->shardElements == worst->lowerBound;
  notes.push_back(
      fmt::format("{}: bucket {} ({} of them) pads {:.0f} %{}: {} for {} ranks; a smaller "
                  "parallel.fsdp{} pads less",
                  prepared.system->name(), worst->name, worst->copies, 100 * worst->paddingRatio(),
                  optimal ? ", which no order of its tensors avoids" : "",
                  contiguous ? "its blocks are coarse" : "its tensors have too few rows", worst->devices,
                  contiguous ? " or finer granularity" : ""));
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
    const std::string text = options.text ? *options.text : fileText(scenario.path);
    auto begin = Clock::now();
    const core::ModelGraph graph(scenario.model);
    auto models = costModels(scenario);
    if (!models) return tl::unexpected(models.error());
    for (const core::SystemSpec& spec : scenario.systems) {
      if (options.cancelled && options.cancelled())
        return tl::unexpected(core::Errors{{.message = "cancelled"}});
      tell(fmt::format("simulating {} on {} GPUs", spec.name, scenario.cluster.gpus),
           static_cast<double>(done++) / static_cast<double>(total));
      auto prepared = prepare(graph, scenario, spec);
      if (!prepared) return tl::unexpected(core::Errors{prepared.error()});
      auto prediction = predict(graph, scenario, *prepared, *models, options.keepLogs, options.cancelled);
      if (!prediction) return tl::unexpected(core::Errors{prediction.error()});
      prediction->report.facts.wallSeconds = std::chrono::duration<double>(Clock::now() - begin).count();
      std::vector<std::string> notes = notesOf(scenario);
      for (std::string& note : profileNotes(scenario, *models, *prediction->log))
        notes.push_back(std::move(note));
      results.push_back({.report = std::move(prediction->report),
                         .log = std::move(prediction->log),
                         .scenarioText = text,
                         .notes = std::move(notes)});
      notePadding(*prepared, results.back().notes);
      begin = Clock::now();
    }
  }
  tell("done", 1);
  return results;
}

}  // namespace vsim::app
