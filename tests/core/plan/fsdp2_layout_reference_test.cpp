#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "core/plan/fsdp2_layout.h"
#include "core/plan/verifier.h"
#include "tests/support/reference.h"

using namespace vsim::core;
using vsim::test::CsvRow;

namespace {

using Shape = std::vector<std::int64_t>;

PlanTensor tensorOf(std::string name, Shape shape, int shardDim = 0) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements *= size;
  return {.name = std::move(name), .shape = std::move(shape), .elements = elements, .shardDim = shardDim};
}

Shape shapeOf(const std::string& text) {
  Shape shape;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, 'x');) shape.push_back(std::stoll(part));
  return shape;
}

// The four layers of padding_vectors.csv (shapes as its documentation lists them).
std::map<std::string, std::vector<PlanTensor>> paddingLayers() {
  const auto list = [](std::initializer_list<Shape> shapes) {
    std::vector<PlanTensor> tensors;
    for (const Shape& shape : shapes) tensors.push_back(tensorOf(fmt::format("t{}", tensors.size()), shape));
    return tensors;
  };
  return {{"toy", list({{10, 6}, {10}, {7}})},
          {"llama8b", list({{4096, 4096},
                            {4096, 4096},
                            {1024, 4096},
                            {1024, 4096},
                            {14336, 4096},
                            {14336, 4096},
                            {4096, 14336},
                            {4096},
                            {4096}})},
          {"moe", list({{128, 1536, 2048}, {128, 2048, 768}, {128, 2048}})},
          {"odd", list({{2880, 2880}, {2880}, {5120, 2880}, {5120}, {201}})}};
}

}  // namespace

TEST_CASE("fsdp2 layout: padded sizes of whole layers as the library has them") {
  const auto text = vsim::test::referenceText("pytorch/padding_vectors.csv");
  if (!text) return;
  const auto layers = paddingLayers();
  int compared = 0;
  for (const CsvRow& row : vsim::test::parseCsv(*text)) {
    const auto layer = layers.find(row.at("layer"));
    if (layer == layers.end()) continue;
    INFO(row.at("layer") << " on " << row.at("world"));
    const LayoutProblem problem{.tensors = layer->second, .devices = std::stoll(row.at("world"))};
    const auto layout = fsdp2Layout(problem);
    REQUIRE(layout);
    CHECK(vsim::core::text(verifyLayout(problem, *layout)) == "");
    CHECK(layout->unitElements == std::stoll(row.at("elements")));
    CHECK(layout->shardElements == std::stoll(row.at("fsdp2_shard")));
    CHECK(layout->totalElements() == std::stoll(row.at("fsdp2_total")));
    ++compared;
  }
  CHECK(compared > 0);
}

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
