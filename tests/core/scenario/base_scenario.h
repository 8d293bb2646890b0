#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/scenario/reader.h"

namespace vsim::test {

/// A small right scenario, one subject per line, that the tests change.
inline const std::string kBase =
    R"(vsim: 1
name: base
model: {layers: 3, hidden: 64, heads: 4, kv_heads: 2, intermediate: 128, vocabulary: 256, experts: 8, experts_per_token: 2, expert_intermediate: 32}
cluster: {preset: h100-rail-optimized, gpus: 16}
parallel: {fsdp: 8, replicate: 2, expert: 4, tensor: 1}
systems: [vescale, {name: fsdp2, prefetch: 2}]
batch: {sequence: 128, micro_batch: 1, accumulation: 1}
precision: {params: fp32, compute: bf16, reduce: fp32}
optimizer: {name: adamw}
granularity: [{match: "*", elements: 1}]
activation_checkpointing: none
software: {attention: flash2, loss: fused}
simulate: {mode: representative, steps: 2, seed: 1}
)";

using Change = std::pair<std::string, std::string>;

/// kBase with each `first` (which stands there exactly once) replaced by its `second`, in order.
inline std::string changed(const std::vector<Change>& changes) {
  std::string text = kBase;
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos || text.find(from, at + 1) != std::string::npos)
      throw std::logic_error("not exactly once in the base scenario: " + from);
    text.replace(at, from.size(), to);
  }
  return text;
}
inline std::string changed(const std::string& from, const std::string& to) { return changed({{from, to}}); }

inline core::ReadOptions baseOptions() {
  core::ReadOptions options;
  options.clusterPresets = {"h100-rail-optimized", "h100-clos", "h800-rail-optimized",
                            "h800-rail-optimized-400g", "a100-80gb-rail-optimized"};
  return options;
}

inline core::ResultAll<core::Scenario> read(const std::string& text) {
  return core::parseScenario(text, "base.yaml", baseOptions());
}

}  // namespace vsim::test
