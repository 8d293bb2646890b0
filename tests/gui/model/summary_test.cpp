#include "gui/model/summary.h"

#include <catch2/catch.hpp>

#include "core/report/text.h"
#include "gui/model/figure_text.h"
#include "tests/gui/model/opened_scenario.h"

namespace vsim::gui {

TEST_CASE("The summary shows what the terminal prints") {
  for (const char* scenario : {"tiny", "moe_10k"}) {
    const auto run = test::openScenario(scenario);
    for (std::size_t i = 0; i < run->reports.size(); ++i) {
      const core::RunReport& report = run->reports[i];
      const std::string printed = core::toText(std::span(&report, 1));
      const Summary summary = summaryOf(*run, i);
      INFO(scenario << " " << i << "\n" << printed);
      for (const SummaryFigure& figure : summary.figures)
        CHECK(printed.find(figure.value) != std::string::npos);
      for (const SummaryPart& part : summary.memory) CHECK(printed.find(part.value) != std::string::npos);
      for (const SummaryPart& part : summary.provenance) CHECK(printed.find(part.value) != std::string::npos);
      for (const SummaryCollective& row : summary.collectives)
        for (const std::string& cell : row.cells) CHECK(printed.find(cell) != std::string::npos);
      for (const SummaryPhase& phase : summary.phases) {
        CHECK(printed.find(phase.label) != std::string::npos);
        CHECK(printed.find(timeText(phase.seconds)) != std::string::npos);
      }
      CHECK(printed.find(summary.verdict) != std::string::npos);
    }
  }
}

TEST_CASE("Parts of the summary sum to the step and to the peak") {
  const auto run = test::openScenario("moe_10k");
  const Summary summary = summaryOf(*run, 0);
  double step = 0, phases = 0, memory = 0, shares = 0;
  for (const SummaryPart& part : summary.breakdown) step += part.amount;
  for (const SummaryPhase& phase : summary.phases) {
    double parts = 0;
    for (const SummaryPart& part : phase.parts) parts += part.amount;
    CHECK(parts == Approx(phase.seconds));
    phases += phase.seconds;
  }
  for (const SummaryPart& part : summary.memory)
    if (part.category != core::MemoryCategory::ncclContext) memory += part.amount;
  for (const SummaryPart& part : summary.provenance) shares += part.amount;
  CHECK(step == Approx(summary.stepSeconds));
  CHECK(phases == Approx(summary.stepSeconds));
  CHECK(memory == Approx(summary.allocatedBytes));
  CHECK(shares == Approx(1));
}

TEST_CASE("Links of the summary lead into the last step") {
  const auto run = test::openScenario("tiny");
  const Summary summary = summaryOf(*run, 0);
  const core::RankLog& rank = run->logs[0]->ranks.front();
  REQUIRE_FALSE(summary.phases.empty());
  for (const SummaryPhase& phase : summary.phases) {
    CHECK(phase.to.view == "timeline");
    CHECK(phase.to.zoom.begin >= rank.stepBegin.back());
    CHECK(phase.to.zoom.end <= rank.stepEnd.back());
    CHECK_FALSE(phase.to.zoom.empty());
  }
  for (const SummaryCollective& row : summary.collectives) CHECK_FALSE(row.to.zoom.empty());
}

TEST_CASE("A summary without steps and logs") {
  core::RunReport report;
  report.facts.scenario = "broken";
  report.outOfMemory = true;
  const Summary summary = summaryOf(test::madeUpRun({report}), 0);
  CHECK_FALSE(summary.completed);
  CHECK(summary.breakdown.empty());
  CHECK(summary.figures.front().value == "-");
  REQUIRE_FALSE(summary.notes.empty());
  CHECK(summary.notes.back().find("not stored") != std::string::npos);
  CHECK_FALSE(tableOf(summary).rows.empty());
}

}  // namespace vsim::gui
