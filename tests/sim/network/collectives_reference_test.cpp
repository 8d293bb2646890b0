#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <set>

#include "sim/cluster/cluster_catalogue.h"
#include "sim/network/collective_model.h"
#include "tests/support/reference.h"

using namespace vsim;

namespace {

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// The preset that describes where a row was measured; "" when no preset does.
std::string presetOf(const test::CsvRow& row) {
  const std::string &gpu = row.at("gpu"), &net = row.at("interconnect"), &note = row.at("note");
  if (contains(note, "degraded") || contains(net, "slower fabric")) return {};
  if (contains(gpu, "GH200")) return "gh200-slingshot";
  if (contains(gpu, "GB300")) return "gb300-nvl72";
  if (contains(gpu, "GB200")) return "gb200-nvl72";
  if (contains(gpu, "B300")) return "b300-rail-optimized";
  if (contains(gpu, "B200")) return "b200-rail-optimized";
  if (contains(gpu, "H200")) return "h200-rail-optimized";
  if (contains(gpu, "H20")) return "h20-rail-optimized";
  if (contains(gpu, "H800")) return "h800-rail-optimized";
  if (contains(gpu, "H100")) return contains(net, "EFA") ? "h100-efa" : "h100-rail-optimized";
  if (contains(gpu, "A100")) {
    const bool small = contains(gpu, "40GB");
    if (contains(net, "Slingshot")) return "a100-40gb-slingshot";
    if (contains(net, "EFA")) return small ? "a100-40gb-efa" : "a100-80gb-efa";
    return small ? "a100-40gb-rail-optimized" : "a100-80gb-rail-optimized";
  }
  return {};
}

bool kindOf(const std::string& name, core::CollectiveKind& kind) {
  if (name == "all_gather")
    kind = core::CollectiveKind::allGather;
  else if (name == "reduce_scatter")
    kind = core::CollectiveKind::reduceScatter;
  else if (name == "all_reduce")
    kind = core::CollectiveKind::allReduce;
  else if (name == "alltoall")
    kind = core::CollectiveKind::allToAll;
  else if (name == "broadcast")
    kind = core::CollectiveKind::broadcast;
  else
    return false;
  return true;
}

double number(const test::CsvRow& row, const char* column) { return std::atof(row.at(column).c_str()); }

struct Score {
  int rows = 0;
  double sum = 0, signedSum = 0, worst = 0;
  void add(double error) {
    ++rows;
    sum += std::abs(error);
    signedSum += error;
    if (std::abs(error) > std::abs(worst)) worst = error;
  }
  [[nodiscard]] double mean() const { return rows ? sum / rows : 0; }
};

}  // namespace

TEST_CASE("predicted collectives against measured ones, nothing fitted per cluster", "[network]") {
  const auto text = test::referenceText("collectives.csv");
  if (!text) return;
  std::map<std::string, Score> groups, fabrics;
  Score all, large, mainstream, mainstreamLarge;
  int skipped = 0;
  const char* detail = std::getenv("VSIM_PRINT_ROWS");
  for (const test::CsvRow& row : test::parseCsv(*text)) {
    core::CollectiveKind kind{};
    const std::string preset = presetOf(row);
    const double microseconds = number(row, "time_us"), bytes = number(row, "bytes");
    if (preset.empty() || !kindOf(row.at("collective"), kind) || microseconds <= 0 || bytes <= 0 ||
        row.at("in_place") == "1") {
      ++skipped;
      continue;
    }
    auto cluster = sim::clusterPreset(preset).value();
    const int perNode = static_cast<int>(number(row, "gpus_per_node"));
    const auto ranks = static_cast<std::int64_t>(number(row, "n_gpus"));
    if (number(row, "n_nodes") > 1 && cluster.nvlinkDomain <= cluster.gpusPerNode &&
        perNode < cluster.gpusPerNode) {
      // Only some GPUs of each node took part: they had the NICs beside them to themselves.
      cluster.nicsPerNode = std::max(1, cluster.nicsPerNode * perNode / cluster.gpusPerNode);
      cluster.gpusPerNode = cluster.nvlinkDomain = perNode;
    }
    const sim::CollectiveModel model(cluster);
    const core::CommGroup group{"world", ranks, 1};
    const auto size = static_cast<std::int64_t>(bytes);
    const double predicted = core::secondsFromPicoseconds(model.cost(kind, size, group).time) * 1e6;
    const double error = predicted / microseconds - 1;
    groups[fmt::format("{:28} {:15} {:5} ranks", preset, row.at("collective"), ranks)].add(error);
    fabrics[preset].add(error);
    all.add(error);
    if (bytes >= 1 << 20) large.add(error);
    if (!contains(preset, "slingshot")) {
      mainstream.add(error);
      if (bytes >= 1 << 20) mainstreamLarge.add(error);
    }
    if (detail && contains(row.at("run_id"), detail)) {
      const sim::Choice choice = model.explain(kind, size, group);
      fmt::print("  {:36} {:>12} B measured {:10.1f} predicted {:10.1f} us {:+6.1f} %  {} {} c{}\n",
                 row.at("run_id"), size, microseconds, predicted, 100 * error,
                 sim::kAlgorithmNames[static_cast<std::size_t>(choice.algorithm)],
                 sim::kProtocolNames[static_cast<std::size_t>(choice.protocol)], choice.channels);
    }
  }
  const auto print = [](const std::string& name, const Score& score) {
    fmt::print("{:52} {:5} rows  mean |error| {:6.1f} %  bias {:+6.1f} %  worst {:+7.1f} %\n", name,
               score.rows, 100 * score.mean(), score.rows ? 100 * score.signedSum / score.rows : 0,
               100 * score.worst);
  };
  for (const auto& [name, score] : groups) print(name, score);
  for (const auto& [name, score] : fabrics) print("cluster " + name, score);
  print("all", all);
  print("all, 1 MiB and more", large);
  print("InfiniBand, RoCE, EFA and single nodes", mainstream);
  print("the same, 1 MiB and more", mainstreamLarge);
  fmt::print("{} rows not compared (in place, no time, or hardware not in the catalogue)\n", skipped);
  if (mainstream.rows > 200) {
    CHECK(mainstream.mean() <= 0.30);
    CHECK(mainstreamLarge.mean() <= 0.25);
  }
}
