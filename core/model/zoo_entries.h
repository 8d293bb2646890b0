#pragma once

#include <span>

namespace vsim::core {

/// A bundled model: a config in the form of a Hugging Face config.json, read by the same reader as files.
struct ZooEntry {
  const char* name;
  const char* remark;  // where the numbers come from
  const char* json;
};

std::span<const ZooEntry> denseZoo();
std::span<const ZooEntry> moeZoo();
std::span<const ZooEntry> mptZoo();
std::span<const ZooEntry> vescaleZoo();

}  // namespace vsim::core
