#include "traces/checkpoint_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace vsim::traces {
namespace {

bool isControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool climbs(std::string_view name) {
  while (true) {
    const std::size_t slash = name.find('/');
    if (name.substr(0, slash) == "..") return true;
    if (slash == std::string_view::npos) return false;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace

core::Result<void> checkTensorName(const std::string& name) {
  if (name.empty()) return core::fail("a tensor without a name");
  if (name == "__metadata__") return core::fail("the tensor name '__metadata__' is reserved");
  if (std::any_of(name.begin(), name.end(), isControl))
    return core::fail("a tensor name with control characters");
  if (name.front() == '/' || name.find('\\') != std::string::npos || climbs(name))
    return core::fail(fmt::format("the tensor name '{}' looks like a path", name));
  return {};
}

bool isPlainFileName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of("/\\") == std::string::npos &&
         std::none_of(name.begin(), name.end(), isControl);
}

std::string entryName(const std::string& tensor, const core::TensorBlock& box) {
  return fmt::format("{}@{}", tensor, fmt::join(box.offset, ","));
}

std::map<std::string, std::string> rankMetadata(const std::string& label, std::int64_t rank,
                                                std::int64_t ranks) {
  return {{"format", "vsim-checkpoint"},
          {"label", label},
          {"rank", std::to_string(rank)},
          {"ranks", std::to_string(ranks)}};
}

}  // namespace vsim::traces
