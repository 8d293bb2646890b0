#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "core/plan/fsdp1_layout.h"
#include "core/plan/verifier.h"
#include "tests/core/plan/sample_layers.h"
#include "tests/support/reference.h"

using namespace vsim::core;
using vsim::test::CsvRow;

namespace {

/// Rows of one case, system and world, all ranks.
using Groups = std::map<std::string, std::vector<CsvRow>>;

Groups fsdp1Groups(const std::string& table) {
  Groups groups;
  for (const CsvRow& row : vsim::test::parseCsv(table))
    if (row.at("system").starts_with("fsdp1"))
      groups[row.at("case") + "/" + row.at("system") + "/" + row.at("world")].push_back(row);
  return groups;
}

// The ranks' parts of a parameter are all of it.
LayoutProblem problemOf(const std::vector<CsvRow>& rows) {
  LayoutProblem problem{.devices = std::stoll(rows.front().at("world"))};
  problem.elementBytes = rows.front().at("system").ends_with("bf16") ? 2 : 4;
  std::map<std::string, std::size_t> known;
  for (const CsvRow& row : rows) {
    if (row.at("level") != "parameter") continue;
    const auto [at, added] = known.try_emplace(row.at("name"), problem.tensors.size());
    if (added) problem.tensors.push_back({.name = row.at("name"), .shape = {0}});
    PlanTensor& tensor = problem.tensors[at->second];
    tensor.elements += std::stoll(row.at("local_elements"));
    tensor.shape = {tensor.elements};
  }
  return problem;
}

std::int64_t heldBy(std::int64_t rank, const Layout& layout, std::int64_t start, std::int64_t elements) {
  const std::int64_t first = std::max(start, rank * layout.shardElements);
  const std::int64_t end = std::min(start + elements, (rank + 1) * layout.shardElements);
  return std::max<std::int64_t>(end - first, 0);
}

void checkGroup(const CsvRow& row, const Layout& layout) {
  CHECK(layout.shardElements == std::stoll(row.at("padded_local_elements")));
  if (!row.at("ag_input_elements").empty()) {
    CHECK(layout.shardElements == std::stoll(row.at("ag_input_elements")));
    CHECK(layout.totalElements() == std::stoll(row.at("ag_output_elements")));
  }
  if (!row.at("rs_output_elements").empty()) {
    CHECK(layout.shardElements == std::stoll(row.at("rs_output_elements")));
    CHECK(layout.totalElements() == std::stoll(row.at("rs_input_elements")));
  }
}

}  // namespace

TEST_CASE("fsdp1 layout: every rank's sizes as the library has them") {
  const auto table = vsim::test::referenceText("pytorch/shard_sizes.csv");
  if (!table) return;
  const Groups groups = fsdp1Groups(*table);
  CHECK(!groups.empty());
  for (const auto& [name, rows] : groups) {
    INFO(name);
    const bool aligned = name.find("orig1") != std::string::npos;
    const LayoutProblem problem = problemOf(rows);
    const auto layout = aligned ? fsdp1Layout(problem) : fsdp1UnalignedLayout(problem);
    REQUIRE(layout);
    const LayoutProblem promise = aligned ? fsdp1Promise(problem) : fsdp1UnalignedPromise(problem);
    CHECK(text(verifyLayout(promise, *layout)) == "");
    std::size_t i = 0;
    for (const CsvRow& row : rows) {
      const std::int64_t rank = std::stoll(row.at("rank"));
      INFO("rank " << rank << " " << row.at("name"));
      if (row.at("level") == "group") {
        checkGroup(row, *layout);
        const std::string& alignment = row.at("alignment_elements");
        if (aligned && !alignment.empty()) CHECK(promise.align == std::stoll(alignment));
        i = 0;
      } else {
        REQUIRE(problem.tensors[i].name == row.at("name"));
        CHECK(heldBy(rank, *layout, layout->offsets[i], problem.tensors[i].elements) ==
              std::stoll(row.at("local_elements")));
        ++i;
      }
    }
  }
}
