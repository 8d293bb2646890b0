#include <catch2/catch.hpp>
#include <map>

#include "core/plan/fsdp2_layout.h"
#include "core/plan/verifier.h"
#include "tests/core/plan/sample_layers.h"
#include "tests/support/reference.h"

using namespace vsim::core;
using vsim::test::CsvRow;

using vsim::test::shapeOf;
using vsim::test::tensorOf;

TEST_CASE("fsdp2 layout: every rank's shapes and the collectives' sizes as the library has them") {
  const auto text = vsim::test::referenceText("pytorch/shard_sizes.csv");
  if (!text) return;
  std::map<std::string, std::vector<CsvRow>> groups;
  for (const CsvRow& row : vsim::test::parseCsv(*text))
    if (row.at("system").starts_with("fsdp2"))
      groups[row.at("case") + "/" + row.at("system") + "/" + row.at("world") + "/" + row.at("rank")]
          .push_back(row);
  CHECK(!groups.empty());

  for (const auto& [name, rows] : groups) {
    INFO(name);
    LayoutProblem problem{.devices = std::stoll(rows.front().at("world"))};
    const std::int64_t rank = std::stoll(rows.front().at("rank"));
    for (const CsvRow& row : rows)
      if (row.at("level") == "parameter")
        problem.tensors.push_back(
            tensorOf(row.at("name"), shapeOf(row.at("shape")), std::stoi(row.at("shard_dim"))));
    const auto layout = fsdp2Layout(problem);
    REQUIRE(layout);
    CHECK(vsim::core::text(verifyLayout(problem, *layout)) == "");

    std::int64_t held = 0;
    std::size_t i = 0;
    for (const CsvRow& row : rows) {
      if (row.at("level") == "parameter") {
        const PlanTensor& tensor = problem.tensors[i];
        INFO(tensor.name);
        const Fsdp2Slice slice = fsdp2Slice(tensor, problem.devices, rank);
        CHECK(slice.elements == std::stoll(row.at("local_elements")));
        CHECK(slice.paddedElements == std::stoll(row.at("padded_local_elements")));
        if (slice.elements > 0)
          CHECK(fsdp2LocalShape(tensor, problem.devices, rank) == shapeOf(row.at("local_shape")));
        held += slice.elements;
        ++i;
        continue;
      }
      CHECK(layout->shardElements == std::stoll(row.at("padded_local_elements")));
      CHECK(held == std::stoll(row.at("local_elements")));
      if (!row.at("ag_output_elements").empty())
        CHECK(layout->totalElements() == std::stoll(row.at("ag_output_elements")));
      if (!row.at("rs_output_elements").empty())
        CHECK(layout->shardElements == std::stoll(row.at("rs_output_elements")));
    }
  }
}
