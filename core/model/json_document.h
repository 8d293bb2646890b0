#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace vsim::core {

struct JsonMember;

/// A JSON value that remembers where it stands: readers of hand-edited files point at the mistake.
struct JsonNode {
  enum class Kind : std::uint8_t { null, boolean, integer, real, string, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  int line = 0, column = 0;  // of its first character, from 1; columns count bytes
  std::int64_t integer = 0;
  std::string text{};  // of a string, or a number as it is written
  std::vector<JsonNode> items{};
  std::vector<JsonMember> members{};  // in file order

  /// The member with that key, or nullptr.
  [[nodiscard]] const JsonMember* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  int line = 0, column = 0;  // of the key
  JsonNode value;
};

/// "a number", "text", ...: for messages.
std::string_view describe(JsonNode::Kind kind);

/// Values that a small document may hold: enough for every configuration.
inline constexpr std::size_t kMostJsonValues = 200'000;

/// Parses a document. `file` is only used in messages. Errors: malformed or truncated text (one error, at the
/// place), keys given twice (all of them), more than 200 levels or `mostValues` values (a value takes about
/// 150 bytes).
ResultAll<JsonNode> parseJson(std::string_view text, const std::string& file,
                              std::size_t mostValues = kMostJsonValues);

}  // namespace vsim::core
