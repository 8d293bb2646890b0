#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace vsim::core {

/// How finely the tensors whose name matches may be cut. At most one of the four kinds is set; none means
/// element by element. A row is one run of the last dimension.
struct BlockRule {
  std::string match = "*";    // '*' stands for any run of characters, also none
  std::int64_t elements = 0;  // blocks of so many elements
  std::int64_t rows = 0;      // blocks of so many rows
  /// {rows, columns}: quantisation tiles of the tensor seen as a matrix (everything else, last dimension).
  std::vector<std::int64_t> tile{};
  bool whole = false;  // never cut: one device owns the tensor (matrix optimizers)
};

/// True when `pattern`, in which '*' stands for any run of characters, matches all of `text`.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

/// Block in elements that `rule` asks of a tensor of this shape. A tile asks for the whole rows that contain
/// it, whatever its width: a cut inside a row would part the tiles below. Rows and tiles leave
/// one-dimensional tensors element-wise. Errors: more than one kind set, counts below one, a tile without two
/// sizes, overflow.
[[nodiscard]] Result<std::int64_t> blockElements(const BlockRule& rule, std::span<const std::int64_t> shape);

/// The same under the last rule whose pattern matches `name`; 1 when none does.
[[nodiscard]] Result<std::int64_t> blockElements(std::span<const BlockRule> rules, std::string_view name,
                                                 std::span<const std::int64_t> shape);

}  // namespace vsim::core
