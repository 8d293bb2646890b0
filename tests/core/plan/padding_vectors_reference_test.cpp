#include <catch2/catch.hpp>

#include "core/plan/layout_rules.h"
#include "core/plan/verifier.h"
#include "tests/core/plan/sample_layers.h"
#include "tests/support/reference.h"

using namespace vsim::core;
using vsim::test::CsvRow;

TEST_CASE("padding vectors: sizes of whole layers as the libraries have them") {
  const auto table = vsim::test::referenceText("pytorch/padding_vectors.csv");
  if (!table) return;
  // The table's DeepSpeed columns come from its formula; its library's own sizes have a test of their own.
  const std::pair<const char*, std::string> columns[] = {{"fsdp1", "fsdp1_aligned"},
                                                         {"fsdp1-unaligned", "fsdp1_unaligned"},
                                                         {"fsdp2", "fsdp2"},
                                                         {"deepspeed", "deepspeed_formula"}};
  const auto layers = vsim::test::paddingLayers();
  int compared = 0;
  for (const CsvRow& row : vsim::test::parseCsv(*table)) {
    const auto layer = layers.find(row.at("layer"));
    if (layer == layers.end()) continue;
    const LayoutProblem problem{.tensors = layer->second, .devices = std::stoll(row.at("world"))};
    for (const auto& [name, column] : columns) {
      INFO(row.at("layer") << " on " << row.at("world") << ", " << name);
      const LayoutRule& rule = *layoutRule(name);
      const auto layout = rule.layout(problem);
      REQUIRE(layout);
      CHECK(text(verifyLayout(rule.promise(problem), *layout)) == "");
      CHECK(layout->unitElements == std::stoll(row.at("elements")));
      CHECK(layout->shardElements == std::stoll(row.at(column + "_shard")));
      CHECK(layout->totalElements() == std::stoll(row.at(column + "_total")));
      ++compared;
    }
  }
  CHECK(compared > 0);
}
