#include "gui/model/compare.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/report/timeline.h"
#include "core/report/verdict.h"
#include "gui/model/side_parts.h"
#include "tests/gui/model/opened_scenario.h"

namespace vsim::gui {
namespace {

using Run = std::shared_ptr<const OpenedRun>;

Comparison compareAll(const std::vector<Run>& runs) {
  std::vector<ComparedSide> sides;
  const auto all = comparableSides(runs);
  for (const std::size_t i : suggestedSides(all, 0)) sides.push_back(all[i]);
  return compare(sides, {});
}

const DeltaRow& rowOf(const Comparison& comparison, DeltaGroup group, const std::string& name) {
  for (const DeltaRow& row : comparison.rows)
    if (row.group == group && row.name == name) return row;
  throw std::runtime_error("no row " + name);
}

/// As `vsim run --real` stores it: measured, then predicted. The measured half is the simulation with steps
/// that took longer.
Run measuredRun(const std::string& command) {
  const Run simulated = test::openScenario("tiny", {{"simulate.steps", "6"}});
  auto measured = std::make_shared<core::ExecutionLog>(*simulated->logs[0]);
  measured->executor = "host";
  for (core::RankLog& rank : measured->ranks) {
    const auto stretch = [](core::Picoseconds& time) { time += time / 4; };
    for (core::Slice& slice : rank.slices) {
      stretch(slice.issued);
      stretch(slice.begin);
      stretch(slice.end);
    }
    for (core::Picoseconds& time : rank.stepBegin) stretch(time);
    for (core::Picoseconds& time : rank.stepEnd) stretch(time);
  }
  auto run = std::make_shared<OpenedRun>(*simulated);
  run->command = command;
  core::RunReport report =
      core::makeReport(*measured, simulated->reports[0].facts, simulated->reports[0].hardware);
  run->reports = {report, simulated->reports[0]};
  run->logs = {measured, simulated->logs[0]};
  return run;
}

}  // namespace

TEST_CASE("Contributors sum to the difference") {
  const Comparison comparison =
      compareAll({test::openScenario("tiny"), test::openScenario("tiny", {{"batch.micro_batch", "4"}}),
                  test::openScenario("tiny", {{"cluster.gpus", "8"}, {"parallel.fsdp", "8"}})});
  REQUIRE(comparison.sides.size() == 3);
  for (std::size_t side = 1; side < 3; ++side)
    for (const DeltaGroup by : {DeltaGroup::kind, DeltaGroup::phase, DeltaGroup::unit, DeltaGroup::part})
      for (const std::size_t most : {std::size_t{2}, std::size_t{100}}) {
        const Waterfall waterfall = waterfallOf(comparison, side, by, most);
        INFO("side " << side << " by " << static_cast<int>(by) << ", most " << most);
        REQUIRE_FALSE(waterfall.bars.empty());
        double sum = 0;
        for (const WaterfallBar& bar : waterfall.bars) sum += bar.seconds;
        CHECK(sum == Approx(waterfall.to - waterfall.from).margin(1e-11));
        CHECK(waterfall.from == comparison.sides[0].figures().stepSeconds);
        CHECK(waterfall.to == comparison.sides[side].figures().stepSeconds);
      }
}

TEST_CASE("Figures of a comparison are those of the reports") {
  const Run a = test::openScenario("tiny"), b = test::openScenario("moe_10k");
  const Comparison comparison = compareAll({a, b});
  const core::RunReport& report = b->reports[0];
  CHECK(rowOf(comparison, DeltaGroup::step, "step time").values[1] == report.stepSeconds);
  CHECK(rowOf(comparison, DeltaGroup::kind, "compute").values[1] == Approx(report.computeSeconds));
  CHECK(rowOf(comparison, DeltaGroup::kind, "exposed communication").values[1] ==
        Approx(report.exposedCommSeconds));
  for (const core::PhaseRow& row : report.phases)
    CHECK(rowOf(comparison, DeltaGroup::phase,
                std::string(core::kPhaseNames[static_cast<std::size_t>(row.phase)]))
              .values[1] == Approx(row.seconds));
  CHECK(rowOf(comparison, DeltaGroup::memory, "peak reserved").values[1] ==
        static_cast<double>(report.peakReserved));
  // Sorted by the largest difference within a group.
  for (std::size_t i = 1; i < comparison.rows.size(); ++i) {
    const DeltaRow &before = comparison.rows[i - 1], &row = comparison.rows[i];
    if (before.group == row.group && row.group == DeltaGroup::part)
      CHECK(std::abs(before.difference(1)) >= std::abs(row.difference(1)));
  }
  const DataTable table = tableOf(comparison);
  CHECK(table.rows.size() == comparison.rows.size());
  for (const auto& row : table.rows) CHECK(row.size() == table.header.size());
}

TEST_CASE("Equal runs have no differences") {
  const Run run = test::openScenario("tiny");
  auto copy = std::make_shared<OpenedRun>(*run);
  const Comparison comparison = compareAll({run, copy});
  for (const DeltaRow& row : comparison.rows)
    if (std::isfinite(row.difference(1))) CHECK(row.difference(1) == 0);
  CHECK(comparison.configuration.empty());
  CHECK(largestDifferences(comparison, 1, 10).empty());
}

TEST_CASE("A measured run is compared with its own prediction") {
  const Run run = measuredRun("vsim run tiny --real --warmup 2");
  const auto sides = comparableSides(std::vector<Run>{run});
  REQUIRE(sides.size() == 2);
  CHECK(sides[0].measured);
  CHECK(sides[1].title.ends_with("predicted"));
  CHECK(warmupOf(*run) == 2);
  CHECK(suggestedSides(sides, 0) == std::vector<std::size_t>{0, 1});
  const Comparison comparison = compareAll({run});
  const auto verdict = core::makeVerdict(*run->logs[0], *run->logs[1], 2);
  REQUIRE(verdict.has_value());
  const DeltaRow& step = rowOf(comparison, DeltaGroup::step, "step time");
  CHECK(step.values[0] == verdict->stepSeconds.measured);
  CHECK(step.values[1] == verdict->stepSeconds.predicted);
  CHECK(step.relative(1) == Approx(*verdict->stepSeconds.error()));
  CHECK(step.relative(1) == Approx(-0.2).margin(1e-3));
  for (const core::VerdictPhase& row : verdict->phases) {
    const DeltaRow& phase = rowOf(comparison, DeltaGroup::phase,
                                  std::string(core::kPhaseNames[static_cast<std::size_t>(row.phase)]));
    CHECK(phase.values[0] == row.seconds.measured);
    CHECK(phase.values[1] == Approx(row.seconds.predicted));
  }
}

TEST_CASE("A measured run finds its own system's prediction by the names that real runs store") {
  OpenedRun run = *measuredRun("vsim run tiny --real --warmup 2");
  run.reports = {run.reports[0], run.reports[1], run.reports[0], run.reports[1]};
  run.logs = {run.logs[0], run.logs[1], run.logs[0], run.logs[1]};
  const char* const names[] = {"vescale (measured)", "vescale (predicted)", "fsdp2 (measured)",
                               "fsdp2 (predicted)"};
  for (std::size_t i = 0; i < std::size(names); ++i) run.reports[i].facts.system = names[i];
  const auto sides = comparableSides(std::vector<Run>{std::make_shared<const OpenedRun>(run)});
  REQUIRE(sides.size() == 4);
  CHECK(predictionOf(sides[0]) == 1);
  CHECK(predictionOf(sides[1]) == -1);
  CHECK(predictionOf(sides[2]) == 3);
}

TEST_CASE("Warm-up from the scenario's text where the command names none") {
  OpenedRun run = *measuredRun("vsim run tiny --real");
  run.configuration = "real.warmup=3\n";
  CHECK(warmupOf(run) == 3);
  run.scenarioText = "no: scenario";
  CHECK(warmupOf(run) == 0);
}

TEST_CASE("Settings that differ, and only those") {
  const Run a = test::openScenario("tiny"), b = test::openScenario("tiny", {{"batch.micro_batch", "4"}});
  const std::vector<Run> runs{a, b};
  const auto sides = comparableSides(runs);
  const auto rows = configurationDifference(std::vector<ComparedSide>{sides[0], sides[a->reports.size()]});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].key == "batch.micro_batch");
  CHECK(rows[0].values == std::vector<std::string>{"1", "4"});
}

TEST_CASE("Scenario texts that are no YAML are compared by line") {
  OpenedRun a = test::madeUpRun({core::RunReport{}}), b = a;
  a.scenarioText = "one\n  two: [\nthree";
  b.scenarioText = "one\n  2: [\nthree";
  const std::vector<Run> runs{std::make_shared<OpenedRun>(a), std::make_shared<OpenedRun>(b)};
  const auto sides = comparableSides(runs);
  const auto rows = configurationDifference(sides);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].key == "line 2");
}

TEST_CASE("Reports without logs are compared by what they say") {
  core::RunReport a, b;
  a.completed = b.completed = true;
  a.stepSeconds = 3, a.computeSeconds = 1, a.exposedCommSeconds = 1.5, a.bubbleSeconds = 0.5;
  b.stepSeconds = 4, b.computeSeconds = 1, b.exposedCommSeconds = 2, b.bubbleSeconds = 1;
  const Comparison comparison = compareAll({std::make_shared<OpenedRun>(test::madeUpRun({a, b}))});
  REQUIRE(comparison.sides.size() == 2);
  CHECK(comparison.notes.size() == 2);
  const Waterfall waterfall = waterfallOf(comparison, 1, DeltaGroup::kind);
  double sum = 0;
  for (const WaterfallBar& bar : waterfall.bars) sum += bar.seconds;
  CHECK(sum == Approx(1));
  CHECK(waterfallOf(comparison, 1, DeltaGroup::part).bars.empty());
}

TEST_CASE("Too few and too many sides") {
  CHECK(compareAll({}).sides.empty());
  std::vector<core::RunReport> many(11);
  const auto run = std::make_shared<OpenedRun>(test::madeUpRun(many));
  CHECK(compareAll({run}).sides.size() == kMostSides);
  CHECK(waterfallOf(Comparison{}, 1, DeltaGroup::kind).bars.empty());
}

TEST_CASE("Units that are alike have one name") {
  CHECK(unitKind("L1") == "L*");
  CHECK(unitKind("L12.experts3") == "L*.experts*");
  CHECK(unitKind("R") == "R");
  CHECK(unitKind("") == "no unit");
}

}  // namespace vsim::gui
