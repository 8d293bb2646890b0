#pragma once

#include <optional>
#include <string>

#include "core/model/config.h"

namespace vsim::test {

/// The three models of validation/pytorch/fsdp2_memory.md, filled from the page's table (one layer: the
/// layers are equal; depth() has their number).
inline std::optional<core::ModelConfig> describedModel(const std::string& name) {
  core::ModelConfig c;
  c.name = name;
  c.layers = 1;
  c.vocabulary = 128256;
  if (name == "llama_1b") {
    c.hidden = 2048, c.heads = 32, c.kvHeads = 8, c.headDim = 64, c.intermediate = 8192;
  } else if (name == "llama3_8b") {
    c.hidden = 4096, c.heads = 32, c.kvHeads = 8, c.headDim = 128, c.intermediate = 14336;
  } else if (name == "moe_small") {
    c.hidden = 2048, c.heads = 16, c.kvHeads = 4, c.headDim = 128, c.vocabulary = 50304;
    c.experts = 32, c.expertsPerToken = 4, c.expertIntermediate = 1024;
    c.moe = {true};
  } else {
    return std::nullopt;
  }
  return c;
}

inline std::int64_t depth(const std::string& name) { return name == "llama3_8b" ? 32 : 16; }

}  // namespace vsim::test
