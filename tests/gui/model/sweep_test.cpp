#include "gui/model/sweep.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/gui/model/opened_scenario.h"

namespace vsim::gui {
namespace {

core::RunReport point(const std::string& gpus, const std::string& system, double step, double peak,
                      bool fits) {
  core::RunReport report;
  report.facts.system = system;
  report.facts.scenario = "s";
  report.facts.overrides = {{"cluster.gpus", gpus}};
  report.completed = step > 0;
  report.stepSeconds = step;
  report.peakReserved = static_cast<core::Bytes>(peak * 1024 * 1024 * 1024);
  report.fits = fits;
  return report;
}

SweepData dataOf(const std::vector<core::RunReport>& reports) {
  const SweepSource source{"run 1", 1, reports};
  return sweepOf(std::span(&source, 1));
}

}  // namespace

TEST_CASE("Axes come from what was swept") {
  const auto run = test::openScenario("sweep_moe_10k");
  const SweepSource source{run->title, run->id, run->reports};
  const SweepData data = sweepOf(std::span(&source, 1));
  REQUIRE(data.points.size() == 5);
  const SweepChoice choice = suggestedChoice(data);
  CHECK(data.columns[choice.x].name == "cluster.gpus");
  CHECK(data.columns[choice.x].numeric);
  CHECK(data.columns[choice.y].name == kStepColumn);
  CHECK(choice.kind == SweepChoice::Kind::line);
  CHECK(choice.logX);
  CHECK_FALSE(choice.series.has_value());
  for (std::size_t i = 0; i < data.points.size(); ++i) {
    CHECK(data.points[i].values.size() == data.columns.size());
    CHECK(*data.points[i].values[choice.y] == run->reports[i].stepSeconds);
    CHECK(*data.points[i].values[choice.x] == static_cast<double>(run->reports[i].facts.gpus));
  }
}

TEST_CASE("What is swept beside the horizontal axis makes a line each") {
  std::vector<core::RunReport> reports;
  for (const char* gpus : {"64", "128"})
    for (const char* batch : {"1", "2", "3"}) {
      reports.push_back(point(gpus, "vescale", 1, 10, true));
      reports.back().facts.overrides.push_back({"batch.micro_batch", batch});
    }
  const SweepData data = dataOf(reports);
  const SweepChoice choice = suggestedChoice(data);
  REQUIRE(choice.series.has_value());
  CHECK(choice.x != *choice.series);
  for (const std::size_t column : {choice.x, *choice.series})
    CHECK((data.columns[column].name == "cluster.gpus" || data.columns[column].name == "batch.micro_batch"));
}

TEST_CASE("Words become categories, systems become series") {
  std::vector<core::RunReport> reports{point("64", "vescale", 1, 10, true), point("64", "fsdp2", 2, 12, true),
                                       point("4Ki", "vescale", 3, 10, true)};
  reports[0].facts.overrides.push_back({"activation_checkpointing", "full"});
  reports[1].facts.overrides.push_back({"activation_checkpointing", "none"});
  const SweepData data = dataOf(reports);
  const SweepColumn& gpus = data.columns[*data.column("cluster.gpus")];
  CHECK(gpus.numeric);
  CHECK(*data.points[2].values[*data.column("cluster.gpus")] == 4096);
  const std::size_t words = *data.column("activation_checkpointing");
  CHECK_FALSE(data.columns[words].numeric);
  CHECK(data.columns[words].names == std::vector<std::string>{"full", "none"});
  CHECK(*data.points[1].values[words] == 1);
  CHECK_FALSE(data.points[2].values[words].has_value());
  CHECK(suggestedChoice(data).series == data.column("system"));
}

TEST_CASE("Points that did not complete keep their place, without times") {
  const SweepData data = dataOf({point("1", "a", 0, 90, false), point("2", "a", 5, 40, true)});
  REQUIRE(data.points.size() == 2);
  CHECK_FALSE(data.points[0].values[*data.column(kStepColumn)].has_value());
  CHECK(data.points[0].values[*data.column(kPeakColumn)].has_value());
  CHECK_FALSE(data.points[0].fits);
}

TEST_CASE("The Pareto front is what nothing beats") {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> grid(1, 12);
  for (int round = 0; round < 50; ++round) {
    std::vector<core::RunReport> reports;
    for (int i = 0; i < 30; ++i)
      reports.push_back(point(std::to_string(i), "a", grid(random), grid(random), grid(random) > 2));
    const SweepData data = dataOf(reports);
    const std::size_t x = *data.column(kPeakColumn), y = *data.column(kStepColumn);
    const auto front = paretoFront(data, x, y);
    const auto beats = [&](const SweepPoint& a, const SweepPoint& b) {
      return a.fits && *a.values[x] <= *b.values[x] && *a.values[y] <= *b.values[y] &&
             (*a.values[x] < *b.values[x] || *a.values[y] < *b.values[y]);
    };
    for (std::size_t i = 0; i < data.points.size(); ++i) {
      const bool beaten = std::ranges::any_of(
          data.points, [&](const SweepPoint& other) { return beats(other, data.points[i]); });
      const bool inFront = std::find(front.begin(), front.end(), i) != front.end();
      CHECK(inFront == (data.points[i].fits && !beaten));
    }
  }
}

TEST_CASE("A sweep of nothing") {
  const SweepData data = sweepOf({});
  CHECK(data.points.empty());
  const SweepChoice choice = suggestedChoice(data);
  CHECK(choice.x < data.columns.size());
  CHECK(paretoFront(data, choice.x, choice.y).empty());
}

}  // namespace vsim::gui
