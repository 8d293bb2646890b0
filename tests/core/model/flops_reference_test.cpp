// Forward FLOPs against torch's counter (validation/pytorch/README.md, model_forward_flops.csv).
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>

#include "core/model/costs.h"
#include "core/model/zoo.h"
#include "tests/support/reference.h"

namespace {

using namespace vsim::core;
using vsim::test::CsvRow;

/// FLOPs of a model's forward by the counter's kinds. All are integers below 2^53, so sums are exact.
struct ForwardFlops {
  Flops dense = 0;        // mm, addmm
  Flops batched = 0;      // attention scores and values, chunks of linear attention
  Flops routed = 0;       // routed experts
  Flops convolution = 0;  // and whatever else counts
};

bool isRoutedExpert(const Operation& op) { return op.name.starts_with("expert_"); }

ForwardFlops forwardFlops(const ModelConfig& config, const WorkShape& work) {
  ForwardFlops sum;
  const auto add = [&](ModuleKind kind, std::int64_t layer) {
    const auto costs = moduleCosts(config, kind, layer, work);
    INFO(config.name << " layer " << layer);
    REQUIRE(costs.has_value());
    for (const Operation& op : costs->forward) {
      if (op.kind == OpKind::gemm)
        sum.dense += op.flops;
      else if (op.kind == OpKind::attentionForward)
        sum.batched += op.flops;
      else if (op.kind == OpKind::groupedGemm)
        (isRoutedExpert(op) ? sum.routed : sum.batched) += op.flops;
      else
        sum.convolution += op.flops;
    }
  };
  add(ModuleKind::embedding, -1);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) add(ModuleKind::layer, layer);
  add(ModuleKind::finalNorm, -1);
  add(ModuleKind::head, -1);
  return sum;
}

double column(const CsvRow& row, const char* name) {
  const std::string& text = row.at(name);
  return text.empty() ? 0.0 : std::stod(text);
}

}  // namespace

TEST_CASE("Forward FLOPs equal torch's counter exactly") {
  const auto text = vsim::test::referenceText("pytorch/model_forward_flops.csv");
  if (!text) return;
  const std::vector<std::string> known = presetNames();
  std::size_t compared = 0;
  for (const CsvRow& row : vsim::test::parseCsv(*text)) {
    const std::string& name = row.at("model");
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::cout << "no preset " << name << ": row left out\n";
      continue;
    }
    const auto config = preset(name);
    REQUIRE(config.has_value());
    WorkShape work;
    work.sequence = std::stoll(row.at("sequence"));
    const ForwardFlops ours = forwardFlops(*config, work);
    INFO(name << " sequence " << row.at("sequence") << " " << row.at("attention"));
    CHECK(ours.dense == column(row, "dense_matmul_flops"));
    CHECK(ours.routed == column(row, "routed_expert_flops_formula"));

    // The fused kernel and the written-out products count the same full score matrices.
    double batched = column(row, "batched_matmul_flops") + column(row, "fused_attention_flops");
    double others = 0;
    if (row.at("routed_experts").starts_with("all experts computed")) {
      others =
          ours.routed / static_cast<double>(config->expertsPerToken) * static_cast<double>(config->experts);
    }
    CHECK(ours.batched + others == batched);
    CHECK(ours.dense + ours.batched + ours.convolution + others == column(row, "total_flops"));
    ++compared;
  }
  CHECK(compared > 0);
}
