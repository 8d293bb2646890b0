#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <sstream>

#include "core/base/checked.h"
#include "core/plan/megatron_layout.h"
#include "core/plan/verifier.h"
#include "tests/core/plan/sample_layers.h"
#include "tests/support/reference.h"

using namespace vsim::core;
using vsim::test::CsvRow;

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// The bucket of `layer` that the row is about.
vsim::test::Tensors bucketOf(const vsim::test::Tensors& layer, const CsvRow& row) {
  const std::string& size = row.at("bucket_size");
  const auto buckets =
      megatronBuckets(layer, size == "none" ? 0 : static_cast<std::int64_t>(std::stod(size)));
  vsim::test::Tensors tensors;
  const auto bucket = static_cast<std::size_t>(std::stoll(row.at("bucket")));
  if (bucket < buckets.size())
    for (const std::size_t i : buckets[bucket]) tensors.push_back(layer[i]);
  return tensors;
}

std::int64_t usedElements(const LayoutProblem& problem, const Layout& layout) {
  std::int64_t used = 0;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i)
    used = std::max(used, layout.offsets[i] + problem.tensors[i].elements);
  return used;
}

void checkOffsets(const LayoutProblem& problem, const Layout& layout, const CsvRow& row) {
  const auto names = split(row.at("v1_order"), '|');
  const auto offsets = split(row.at("v1_offsets"), ';');
  REQUIRE(names.size() == offsets.size());
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto at = std::find_if(problem.tensors.begin(), problem.tensors.end(),
                                 [&](const PlanTensor& t) { return t.name == names[k]; });
    INFO(names[k]);
    REQUIRE(at != problem.tensors.end());
    CHECK(layout.offsets[static_cast<std::size_t>(at - problem.tensors.begin())] == std::stoll(offsets[k]));
  }
}

void checkRow(const LayoutProblem& problem, const CsvRow& row) {
  REQUIRE(problem.tensors.size() == std::stoull(row.at("parameters")));
  const auto v1 = megatronLayout(problem);
  REQUIRE(v1);
  CHECK(text(verifyLayout(megatronPromise(problem), *v1)) == "");
  CHECK(v1->unitElements == std::stoll(row.at("elements")));
  CHECK(*megatronChunk(problem.tensors) == std::stoll(row.at("v1_chunk")));
  CHECK(usedElements(problem, *v1) == std::stoll(row.at("v1_used")));
  CHECK(v1->totalElements() == std::stoll(row.at("v1_total")));
  CHECK(v1->shardElements == std::stoll(row.at("v1_shard")));
  const std::int64_t holding =
      v1->shardElements == 0 ? 0 : ceilDivide(usedElements(problem, *v1), v1->shardElements);
  CHECK(problem.devices - holding == std::stoll(row.at("v1_ranks_all_padding")));
  if (!row.at("v1_order").empty()) checkOffsets(problem, *v1, row);

  const auto v2 = megatronV2Layout(problem);
  REQUIRE(v2);
  CHECK(text(verifyLayout(megatronV2Promise(problem), *v2)) == "");
  CHECK(*megatronV2Chunk(problem.tensors) == std::stoll(row.at("v2_chunk")));
  CHECK(v2->totalElements() == std::stoll(row.at("v2_total")));
  CHECK(v2->shardElements == std::stoll(row.at("v2_shard")));
}

}  // namespace

TEST_CASE("megatron layout: buckets of whole layers as the library has them") {
  const auto table = vsim::test::referenceText("megatron/buffer_sizes.csv");
  if (!table) return;
  const auto layers = vsim::test::megatronLayers();
  int compared = 0;
  for (const CsvRow& row : vsim::test::parseCsv(*table)) {
    const auto layer = layers.find(row.at("layer"));
    if (layer == layers.end()) continue;
    INFO(row.at("layer") << ", bucket " << row.at("bucket") << ", " << row.at("world") << " devices");
    LayoutProblem problem{.devices = std::stoll(row.at("world"))};
    problem.tensors = bucketOf(layer->second, row);
    checkRow(problem, row);
    ++compared;
  }
  CHECK(compared > 0);
}
