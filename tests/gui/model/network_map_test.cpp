#include "gui/model/network_map.h"

#include <catch2/catch.hpp>
#include <random>

#include "gui/model/open_run.h"
#include "tests/folders.h"

using namespace vsim;
using namespace vsim::gui;

namespace {

std::shared_ptr<const OpenedRun> simulated(const std::string& scenario) {
  const auto run = openRun({.kind = RunSource::Kind::scenario,
                            .path = std::string(VSIM_SOURCE_DIR) + "/scenarios/" + scenario + ".yaml"},
                           {}, {});
  REQUIRE(run);
  return *run;
}

NetworkMap mapOf(const OpenedRun& run, std::size_t report) {
  const auto cluster = clusterOf(run, static_cast<int>(report));
  REQUIRE(cluster);
  return NetworkMap(run.logs[report], slowestClass(*run.logs[report]), *cluster,
                    run.reports[report].facts.gpus);
}

double loadAt(const std::vector<LoadInterval>& intervals, core::Picoseconds time) {
  double sum = 0;
  for (const LoadInterval& each : intervals)
    if (each.begin <= time && time < each.end) sum += each.load;
  return sum;
}

}  // namespace

TEST_CASE("load curve: means are conserved and no peak is lost at any zoom") {
  std::mt19937 random(5);
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<LoadInterval> intervals;
    double total = 0;
    for (std::size_t i = 0, n = 1 + random() % 60; i < n; ++i) {
      const auto begin = static_cast<core::Picoseconds>(random() % 10000);
      const auto length = static_cast<core::Picoseconds>(random() % 300);
      intervals.push_back(
          {begin, begin + length, random() % kLoadParts, 0.1 + 0.01 * static_cast<double>(random() % 90)});
      total += intervals.back().load * static_cast<double>(length);
    }
    const LoadCurve curve(intervals);
    for (const int width : {1, 7, 113, 2000}) {
      const TimeAxis axis{.view = {-100, 10500}, .width = width};
      std::vector<LoadCurve::Summary> columns;
      curve.columns(axis, columns);
      double carried = 0, peak = 0;
      for (int x = 0; x < width; ++x) {
        const auto& column = columns[static_cast<std::size_t>(x)];
        const core::Picoseconds from = axis.boundary(x), to = axis.boundary(x + 1);
        carried += sumOf(column.mean) * static_cast<double>(to - from);
        peak = std::max(peak, sumOf(column.peak));
        double expected = loadAt(intervals, from);
        for (const LoadInterval& each : intervals)
          if (from < each.begin && each.begin < to)
            expected = std::max(expected, loadAt(intervals, each.begin));
        REQUIRE(sumOf(column.peak) == Approx(expected).margin(1e-9));
        REQUIRE(sumOf(curve.at(from)) == Approx(loadAt(intervals, from)).margin(1e-9));
      }
      CHECK(carried == Approx(total).margin(1e-6));
      double highest = 0;
      for (const LoadInterval& each : intervals) highest = std::max(highest, loadAt(intervals, each.begin));
      CHECK(peak == Approx(highest).margin(1e-9));
    }
  }
}

TEST_CASE("load curve: nothing runs, nothing is loaded") {
  CHECK(LoadCurve().empty());
  CHECK(sumOf(LoadCurve().summary({0, 10}).peak) == 0);
  const LoadCurve curve({{.begin = 5, .end = 5, .part = 0, .load = 1}});
  CHECK(curve.empty());
  const LoadCurve one({{.begin = 5, .end = 9, .part = 1, .load = 0.5}});
  CHECK(sumOf(one.at(9)) == 0);
  CHECK(one.summary({0, 6}).peakTime == 5);
  CHECK(one.summary({6, 8}).peakTime == 6);
}

TEST_CASE("network: collectives by kind are the report's") {
  for (const char* name : {"tiny", "gpt_oss_120b_64", "moe_10k", "mixtral_hsdp"}) {
    const auto run = simulated(name);
    for (std::size_t report = 0; report < run->reports.size(); ++report) {
      INFO(name << " report " << report);
      const NetworkMap map = mapOf(*run, report);
      const auto rows = map.groupRows(std::nullopt);
      const auto& expected = run->reports[report].collectives;
      REQUIRE(rows.size() == expected.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(rows[i].kind == expected[i].kind);
        CHECK(map.log().program->groups[rows[i].group].name == expected[i].group);
        CHECK(rows[i].count == expected[i].count);
        CHECK(rows[i].bytes == static_cast<double>(expected[i].bytes));
        CHECK(rows[i].seconds == Approx(expected[i].seconds));
        CHECK(rows[i].busBandwidth == Approx(expected[i].busBandwidth));
        CHECK(rows[i].share >= 0);
        CHECK(rows[i].share <= 1.2);
      }
    }
  }
}

TEST_CASE("network: what tiers carry is what the collectives moved") {
  for (const char* name : {"tiny", "gpt_oss_120b_64", "mixtral_hsdp"}) {
    INFO(name);
    const auto run = simulated(name);
    const NetworkMap map = mapOf(*run, 0);
    for (std::size_t t = 0; t < kLinkTiers; ++t) {
      const auto tier = static_cast<LinkTier>(t);
      if (map.tier(tier).perGpu <= 0) continue;
      double all = 0;
      for (const NetworkFlow& flow : map.flows()) all += flow.carried[t];
      const double integral = sumOf(map.tier(tier).load.before(map.whole().end + 1)) * 1e-12;
      CHECK(integral * map.tier(tier).perGpu == Approx(all));
      CHECK(map.carried(tier, map.whole()) == Approx(all));
    }
    // What leaves the nodes in the matrix is what their NICs carry.
    const TrafficMatrix matrix = map.matrix(std::nullopt);
    REQUIRE(matrix.nodesPerBin == 1);
    CHECK(matrix.bins == matrix.nodes);
    for (std::int64_t from = 0; from < matrix.bins; ++from) {
      double leaves = 0;
      for (std::int64_t to = 0; to < matrix.bins; ++to) leaves += from == to ? 0 : matrix.at(from, to);
      CHECK(leaves ==
            Approx(map.carried(LinkTier::nic, std::nullopt) * static_cast<double>(map.gpusPerNode())));
    }
  }
}

TEST_CASE("network: folding keeps the traffic of 10,240 GPUs") {
  const auto run = simulated("moe_10k");
  const NetworkMap map = mapOf(*run, 0);
  const TrafficMatrix matrix = map.matrix(std::nullopt);
  CHECK(matrix.nodes == 1280);
  CHECK(matrix.nodesPerBin == 20);
  REQUIRE(matrix.bins == 64);
  double total = 0, expected = 0;
  for (const double bytes : matrix.bytes) total += bytes;
  for (const NetworkFlow& flow : map.flows())
    if (flow.step == map.rank().stepEnd.size() - 1) expected += flow.busBytes * 10240;
  CHECK(total == Approx(expected));
  CHECK(map.layers().size() >= 2);
  CHECK(map.summary().find("10,240 GPUs in 1,280 nodes") != std::string::npos);
}

TEST_CASE("network: running and lost") {
  const auto run = simulated("mixtral_hsdp");
  const NetworkMap map = mapOf(*run, 0);
  const core::Picoseconds middle = (map.lastStep().begin + map.lastStep().end) / 2;
  const auto running = map.runningAt(middle, std::nullopt);
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < map.flows().size(); ++i)
    if (map.flows()[i].begin <= middle && middle < map.flows()[i].end) expected.push_back(i);
  CHECK(running == expected);
  const auto lost = map.mostLost(std::nullopt, 20);
  REQUIRE(lost.size() == 20);
  for (std::size_t i = 1; i < lost.size(); ++i)
    CHECK(map.flows()[lost[i - 1]].lost() >= map.flows()[lost[i]].lost());
  CHECK(map.mostLost(TimeRange{middle, middle + 1}, 20).size() <= 20);
  for (const DataTable& table :
       {map.flowTable(), map.lostTable(std::nullopt, 20), map.groupTable(std::nullopt),
        map.tierTable(std::nullopt), map.matrixTable(std::nullopt), map.runningTable(middle, LinkTier::nic)})
    for (const auto& row : table.rows) CHECK(row.size() == table.header.size());
}

TEST_CASE("network: without a cluster there are collectives and no loads") {
  const auto run = simulated("tiny");
  const NetworkMap map(run->logs[0], 0, std::nullopt, 0);
  CHECK(!map.known());
  CHECK(map.gpus() == 4);
  CHECK(!map.flows().empty());
  CHECK(map.tier(LinkTier::local).load.empty());
  CHECK(map.tierTable(std::nullopt).rows.empty());
  CHECK(!clusterOf(OpenedRun{}, 0));
}
