#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace vsim::core {

/// Files larger than this are refused unread: a scenario is a page of text.
inline constexpr std::size_t kMaxScenarioBytes = 256 * 1024;
/// Values (scalars, lists, maps) of one file.
inline constexpr std::size_t kMaxScenarioNodes = 20'000;
inline constexpr int kMaxScenarioDepth = 32;

enum class NodeKind : std::uint8_t { null, scalar, sequence, map };

/// Where a value was written: in the file, or on the command line (`source` > 0: that --set, from 1).
struct Place {
  int line = 0, column = 0;
  int source = 0;
};

/// A value of a YAML document. Immutable once built, so that an alias is the node itself and a sweep point
/// shares everything that it does not change: no document grows beyond its text.
struct Node {
  NodeKind kind = NodeKind::null;
  bool quoted = false;
  Place place;
  std::string value;                                       // of a scalar
  std::vector<const Node*> items;                          // of a sequence
  std::vector<std::pair<const Node*, const Node*>> pairs;  // of a map: key, value; duplicates are kept
};

/// Owns nodes; their addresses stay.
class Document {
 public:
  Node& make() { return nodes_.emplace_back(); }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  std::deque<Node> nodes_;
};

/// Parses one YAML document into `document`. Errors (of `file`, with line and column): malformed YAML, bytes
/// that are not UTF-8 text, tabs in the indentation, an alias inside its own anchor, tags, more than one
/// document, the limits above. Columns count bytes, as editors of plain ASCII show them.
ResultAll<const Node*> parseDocument(std::string_view text, const std::string& file, Document& document);

/// The value of one --set: YAML in flow style ("4", "[a, b]", "{name: sgd}"). Its places carry `source`.
Result<const Node*> parseOverride(const std::string& value, int source, Document& document);

/// Reads a file of at most kMaxScenarioBytes. Errors: missing, a folder, unreadable, too large.
Result<std::string> readSmallFile(const std::string& path);

/// `value` for a message: at most 40 bytes, control characters as '?', in quotes.
std::string shownValue(std::string_view value);
/// "a list", "'abc'", "nothing": what stands at a node, for messages.
std::string shownNode(const Node& node);

}  // namespace vsim::core
