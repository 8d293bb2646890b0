#include "core/scenario/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <optional>
#include <sstream>

namespace vsim::core {
namespace {

struct Refused {
  Error error;
};

int lineOf(const YAML::Mark& mark) { return mark.line + 1; }
int columnOf(const YAML::Mark& mark) { return mark.column + 1; }

[[noreturn]] void refuse(const YAML::Mark& mark, std::string message, std::string hint = {}) {
  throw Refused{Error{std::move(message), {}, lineOf(mark), columnOf(mark), std::move(hint)}};
}

/// Builds nodes from the parser's events. yaml-cpp's own tree is not used: it loses the places of keys and
/// lets an anchor contain itself.
class Builder : public YAML::EventHandler {
 public:
  Builder(Document& document, int source) : document_(document), source_(source) {}

  const Node* root() const { return root_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Node& node = make(mark, anchor);
    closed(anchor);
    attach(node);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    checkTag(mark, tag);
    Node& node = make(mark, anchor);
    node.quoted = tag == "!";
    const bool null = !node.quoted && (value == "~" || value == "null" || value.empty());
    node.kind = null ? NodeKind::null : NodeKind::scalar;
    node.value = value;
    closed(anchor);
    attach(node);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end() || !found->second.closed)
      refuse(mark, "this alias stands inside the value that it names: it would never end");
    if (++aliases_ > kMaxScenarioNodes) refuse(mark, "too many aliases");
    attach(*found->second.node);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, NodeKind::sequence);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, NodeKind::map);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Anchor {
    const Node* node = nullptr;
    bool closed = false;
  };
  struct Level {
    Node* node = nullptr;
    const Node* key = nullptr;  // of a map: read, its value not yet
    YAML::anchor_t anchor = 0;
  };

  Node& make(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (++made_ > kMaxScenarioNodes)
      refuse(mark, fmt::format("more than {} values in one file", kMaxScenarioNodes));
    Node& node = document_.make();
    node.place = {lineOf(mark), columnOf(mark), source_};
    if (anchor != 0) anchors_[anchor] = {&node, false};
    return node;
  }
  void closed(YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor].closed = true;
  }
  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, NodeKind kind) {
    checkTag(mark, tag);
    if (levels_.size() >= static_cast<std::size_t>(kMaxScenarioDepth))
      refuse(mark, fmt::format("nested more than {} levels deep", kMaxScenarioDepth));
    Node& node = make(mark, anchor);
    node.kind = kind;
    levels_.push_back({&node, nullptr, anchor});
  }
  void close() {
    const Level level = levels_.back();
    levels_.pop_back();
    closed(level.anchor);
    attach(*level.node);
  }
  void attach(const Node& node) {
    if (levels_.empty()) {
      root_ = &node;
      return;
    }
    Level& level = levels_.back();
    if (level.node->kind == NodeKind::sequence) {
      level.node->items.push_back(&node);
    } else if (!level.key) {
      level.key = &node;
    } else {
      level.node->pairs.emplace_back(level.key, &node);
      level.key = nullptr;
    }
  }
  static void checkTag(const YAML::Mark& mark, const std::string& tag) {
    constexpr std::string_view kStandard = "tag:yaml.org,2002:";
    if (tag.empty() || tag == "?" || tag == "!") return;
    if (tag.starts_with(kStandard))
      for (const char* name : {"str", "int", "float", "bool", "seq", "map"})
        if (tag.substr(kStandard.size()) == name) return;
    refuse(mark, fmt::format("the tag {} means nothing here", shownValue(tag)), "leave it out");
  }

  Document& document_;
  int source_;
  std::size_t made_ = 0, aliases_ = 0;
  const Node* root_ = nullptr;
  std::map<YAML::anchor_t, Anchor> anchors_;
  std::vector<Level> levels_;
};

std::optional<Error> parse(std::string_view text, Builder& builder) {
  // yaml-cpp notices a quote that is never closed only where the text does not end in white space.
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    const Node* first = builder.root();
    if (first && parser.HandleNextDocument(builder))
      return Error{.message = "a second document begins here",
                   .line = builder.root()->place.line,
                   .column = builder.root()->place.column,
                   .hint = "one scenario per file"};
  } catch (const Refused& refused) {
    return refused.error;
  } catch (const YAML::Exception& error) {
    const bool placed = error.mark.line >= 0;
    return Error{.message = "not valid YAML: " + error.msg,
                 .line = placed ? lineOf(error.mark) : 0,
                 .column = placed ? columnOf(error.mark) : 0};
  }
  return std::nullopt;
}

/// Length of the UTF-8 sequence at `i`, 0 where it is not one (RFC 3629: no overlong forms, no surrogates).
std::size_t utf8Length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t j) { return static_cast<unsigned char>(j < text.size() ? text[j] : 0); };
  const auto tail = [&](std::size_t j) { return (byte(j) & 0xC0) == 0x80; };
  const unsigned c = byte(i), d = byte(i + 1);
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c <= 0xDF) return tail(i + 1) ? 2 : 0;
  if (c >= 0xE0 && c <= 0xEF) {
    if ((c == 0xE0 && d < 0xA0) || (c == 0xED && d >= 0xA0)) return 0;
    return tail(i + 1) && tail(i + 2) ? 3 : 0;
  }
  if (c >= 0xF0 && c <= 0xF4) {
    if ((c == 0xF0 && d < 0x90) || (c == 0xF4 && d >= 0x90)) return 0;
    return tail(i + 1) && tail(i + 2) && tail(i + 3) ? 4 : 0;
  }
  return 0;
}

/// What no scenario contains, told by place before the YAML parser guesses at it.
std::optional<Error> checkText(std::string_view text) {
  int line = 1, column = 1;
  bool indentation = true;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto problem = [&](std::string message, std::string hint = {}) {
      return Error{std::move(message), {}, line, column, std::move(hint)};
    };
    if (c == 0) return problem("a NUL byte: this is not a text file");
    if (c == '\t' && indentation) return problem("a tab in the indentation", "YAML takes spaces only");
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F)
      return problem(fmt::format("the control character 0x{:02x}: this is not a text file", c));
    const std::size_t length = utf8Length(text, i);
    if (length == 0) return problem(fmt::format("byte 0x{:02x} is not UTF-8 text", c));
    if (c != ' ') indentation = c == '\n';
    column = c == '\n' ? 1 : column + static_cast<int>(length);
    line += c == '\n' ? 1 : 0;
    i += length;
  }
  return std::nullopt;
}

}  // namespace

ResultAll<const Node*> parseDocument(std::string_view text, const std::string& file, Document& document) {
  std::optional<Error> error;
  Builder builder(document, 0);
  if (text.size() > kMaxScenarioBytes)
    error = Error{.message = fmt::format("larger than {} KiB: not a scenario", kMaxScenarioBytes / 1024)};
  if (!error) error = checkText(text);
  if (!error) error = parse(text, builder);
  if (!error && (!builder.root() || builder.root()->kind == NodeKind::null))
    error = Error{.message = "the file is empty", .line = 1, .column = 1, .hint = "it begins with 'vsim: 1'"};
  if (!error) return builder.root();
  error->file = file;
  return tl::unexpected(Errors{std::move(*error)});
}

Result<const Node*> parseOverride(const std::string& value, int source, Document& document) {
  Builder builder(document, source);
  std::optional<Error> error;
  if (value.size() > kMaxScenarioBytes) error = Error{.message = "the value is too long"};
  if (!error) error = checkText(value);
  if (!error) error = parse(value, builder);
  if (error) {
    error->line = error->column = 0;
    return tl::unexpected(std::move(*error));
  }
  if (builder.root()) return builder.root();
  Node& empty = document.make();
  empty.place.source = source;
  return &empty;
}

std::string shownValue(std::string_view value) {
  std::string text = "'";
  for (const char c : value.substr(0, 40))
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  // A cut in the middle of a UTF-8 sequence would spoil the terminal: its head goes too.
  if (value.size() > 40) {
    while (text.size() > 1 && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
    if (static_cast<unsigned char>(text.back()) >= 0xC0) text.pop_back();
    text += "...";
  }
  return text + "'";
}

std::string shownNode(const Node& node) {
  switch (node.kind) {
    case NodeKind::null:
      return "nothing";
    case NodeKind::scalar:
      return shownValue(node.value);
    case NodeKind::sequence:
      return "a list";
    case NodeKind::map:
      return "a map";
  }
  return {};
}

}  // namespace vsim::core
