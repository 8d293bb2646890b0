#include "core/plan/layout_rules.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/plan/deepspeed_layout.h"
#include "core/plan/fsdp1_layout.h"
#include "core/plan/fsdp2_layout.h"
#include "core/plan/megatron_layout.h"
#include "core/plan/planner.h"

namespace vsim::core {
namespace {

LayoutProblem asAsked(const LayoutProblem& problem) { return problem; }

std::vector<std::vector<std::size_t>> oneBucket(std::span<const PlanTensor> tensors) {
  if (tensors.empty()) return {};
  std::vector<std::size_t> all(tensors.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return {std::move(all)};
}

std::vector<std::vector<std::size_t>> moduleBuckets(std::span<const PlanTensor> tensors) {
  return megatronBuckets(tensors);
}

}  // namespace

std::span<const LayoutRule> layoutRules() {
  static constexpr std::array kRules{
      LayoutRule{"vescale", "RaggedShard planner: blocks stay whole, smallest shard for the given order",
                 planGivenOrder, asAsked, oneBucket},
      LayoutRule{"fsdp2", "PyTorch FSDP2: every parameter cut along one dimension, padded to equal slices",
                 fsdp2Layout, asAsked, oneBucket},
      LayoutRule{"fsdp1", "PyTorch FSDP1, use_orig_params=True: flat parameter, starts aligned to 16 bytes",
                 fsdp1Layout, fsdp1Promise, oneBucket},
      LayoutRule{"fsdp1-unaligned", "PyTorch FSDP1, use_orig_params=False: flat parameter without gaps",
                 fsdp1UnalignedLayout, fsdp1UnalignedPromise, oneBucket},
      LayoutRule{"deepspeed", "DeepSpeed ZeRO-3: every parameter flattened and cut on its own",
                 deepspeedLayout, deepspeedPromise, oneBucket},
      LayoutRule{"megatron", "Megatron-FSDP: shards of whole chunks, rows of large parameters stay whole",
                 megatronLayout, megatronPromise, moduleBuckets},
      LayoutRule{"megatron-v2", "Megatron-FSDP, experimental second version: all rows stay whole",
                 megatronV2Layout, megatronV2Promise, moduleBuckets},
  };
  return kRules;
}

const LayoutRule* layoutRule(std::string_view name) {
  const auto rules = layoutRules();
  const auto at =
      std::find_if(rules.begin(), rules.end(), [&](const LayoutRule& r) { return r.name == name; });
  return at == rules.end() ? nullptr : &*at;
}

}  // namespace vsim::core
