#include <catch2/catch.hpp>
#include <map>

#include "core/plan/deepspeed_layout.h"
#include "core/plan/fsdp2_layout.h"
#include "core/plan/verifier.h"
#include "tests/core/plan/sample_layers.h"
#include "tests/support/reference.h"

using namespace vsim::core;
using vsim::test::CsvRow;

TEST_CASE("deepspeed layout: every rank's part of every parameter as the library has it") {
  const auto table = vsim::test::referenceText("deepspeed/partition_sizes.csv");
  if (!table) return;
  // The parameters of one sub-group on one rank: its shard is what the library keeps in one piece.
  std::map<std::string, std::vector<CsvRow>> subGroups;
  for (const CsvRow& row : vsim::test::parseCsv(*table))
    subGroups[row.at("world") + "/" + row.at("rank") + "/" + row.at("persistence_threshold") + "/" +
              row.at("sub_group")]
        .push_back(row);
  CHECK(!subGroups.empty());

  for (const auto& [name, rows] : subGroups) {
    INFO(name);
    LayoutProblem problem{.devices = std::stoll(rows.front().at("world"))};
    const std::int64_t rank = std::stoll(rows.front().at("rank"));
    for (const CsvRow& row : rows)
      problem.tensors.push_back(vsim::test::tensorOf(row.at("name"), vsim::test::shapeOf(row.at("shape"))));
    const auto layout = deepspeedLayout(problem);
    REQUIRE(layout);
    const LayoutProblem promise = deepspeedPromise(problem);
    CHECK(text(verifyLayout(promise, *layout)) == "");
    CHECK(layout->shardElements == std::stoll(rows.front().at("sub_group_shard_elements")));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      INFO(rows[i].at("name"));
      const std::int64_t end = i + 1 < rows.size() ? layout->offsets[i + 1] : layout->shardElements;
      const std::int64_t slot = end - layout->offsets[i];
      CHECK(problem.tensors[i].elements == std::stoll(rows[i].at("elements")));
      CHECK(slot == std::stoll(rows[i].at("shard_elements")));
      CHECK(slot * problem.devices == std::stoll(rows[i].at("aligned_elements")));
      CHECK(slot * problem.devices - problem.tensors[i].elements ==
            std::stoll(rows[i].at("padding_elements")));
      CHECK(fsdp2Slice(promise.tensors[i], problem.devices, rank).elements ==
            std::stoll(rows[i].at("real_elements_on_rank")));
    }
  }
}
