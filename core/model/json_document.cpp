#include "core/model/json_document.h"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

namespace vsim::core {
namespace {

constexpr std::size_t kMaxDepth = 200;

struct Place {
  int line = 1, column = 1;
};

/// Turns offsets into line and column; offsets must not decrease, so that the text is walked once.
class PlaceFinder {
 public:
  explicit PlaceFinder(std::string_view text) : text_(text) {}
  Place at(std::size_t offset) {
    for (; at_ < offset && at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        ++place_.line;
        place_.column = 1;
      } else {
        ++place_.column;
      }
    }
    return place_;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  Place place_;
};

/// Hands the text to the parser and tells how much of it has been taken.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* taken) : at_(at), taken_(taken) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*taken_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  std::size_t* taken_;
};

/// The part of the library's message that says what was found and expected, safe to print.
std::string readableDetail(const std::string& what) {
  std::string detail = what;
  if (const auto at = detail.find("syntax error"); at != std::string::npos) detail = detail.substr(at);
  if (const auto at = detail.find(" - "); at != std::string::npos) detail = detail.substr(at + 3);
  // The parser quotes everything since the last token: a megabyte of garbage is not worth reading.
  constexpr std::size_t kQuoteLimit = 60;
  const std::string lastRead = "; last read: '";
  if (const auto at = detail.find(lastRead); at != std::string::npos) {
    const auto start = at + lastRead.size();
    const auto end = detail.rfind('\'');
    if (end > start && end - start > kQuoteLimit) detail.replace(start, end - start - kQuoteLimit, "...");
  }
  if (detail.size() > 300) detail = detail.substr(0, 300) + "...";
  for (char& c : detail)
    if (!std::isprint(static_cast<unsigned char>(c))) c = '?';
  return detail;
}

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, const std::size_t& taken, std::string file, std::size_t mostValues)
      : text_(text), taken_(taken), file_(std::move(file)), mostValues_(mostValues), places_(text) {}

  bool null() override { return add({.kind = JsonNode::Kind::null}); }
  bool boolean(bool value) override { return add({.kind = JsonNode::Kind::boolean, .boolean = value}); }
  bool number_integer(std::int64_t value) override {
    return add({.kind = JsonNode::Kind::integer, .integer = value, .text = std::to_string(value)});
  }
  bool number_unsigned(std::uint64_t value) override {
    // Beyond int64 it is no size of anything: kept as a number that readers find too large.
    if (value > static_cast<std::uint64_t>(INT64_MAX))
      return add({.kind = JsonNode::Kind::real, .text = std::to_string(value)});
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double, const std::string& written) override {
    return add({.kind = JsonNode::Kind::real, .text = written});
  }
  bool string(std::string& value) override {
    return add({.kind = JsonNode::Kind::string, .text = std::move(value)});
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonNode::Kind::object); }
  bool start_array(std::size_t) override { return open(JsonNode::Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    const Place place = nextToken();
    if (!keys_.back().insert(name).second) {
      const JsonMember* first = open_.back().find(name);
      errors.push_back({.message = fmt::format("field \"{}\" is given twice", name),
                        .file = file_,
                        .line = place.line,
                        .column = place.column,
                        .hint = fmt::format("first in line {}", first->line)});
    }
    open_.back().members.push_back({.key = name, .line = place.line, .column = place.column, .value = {}});
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow)
      return refuse(fmt::format("the number {} is too large", token.substr(0, 40)), nextToken());
    const std::size_t offset = std::min(position > 0 ? position - 1 : 0, text_.size());
    const Place place = places_.at(offset);
    // The parser counts the end of the text as one more character read.
    const bool ended = position > text_.size();
    errors.push_back(
        {.message = (ended ? "truncated JSON: " : "malformed JSON: ") + readableDetail(error.what()),
         .file = file_,
         .line = place.line,
         .column = place.column});
    return false;
  }

  Errors errors;
  std::optional<JsonNode> root;

 private:
  /// Start of the token that the parser has just reported. Only white space and punctuation stand between two
  /// tokens; after a number the parser has also taken the character behind it, which is one of these.
  Place nextToken() {
    std::size_t at = lastEnd_;
    while (at < text_.size() &&
           std::string_view(" \t\r\n,:\xEF\xBB\xBF").find(text_[at]) != std::string_view::npos)
      ++at;
    lastEnd_ = taken_;
    return places_.at(std::min(at, taken_));
  }
  bool add(JsonNode node) {
    const Place place = nextToken();
    node.line = place.line;
    node.column = place.column;
    return attach(std::move(node), place);
  }
  bool attach(JsonNode node, Place place) {
    if (++values_ > mostValues_) return refuse(fmt::format("more than {} values", mostValues_), place);
    if (open_.empty())
      root = std::move(node);
    else if (open_.back().kind == JsonNode::Kind::object)
      open_.back().members.back().value = std::move(node);
    else
      open_.back().items.push_back(std::move(node));
    return true;
  }
  bool open(JsonNode::Kind kind) {
    const Place place = nextToken();
    if (open_.size() >= kMaxDepth)
      return refuse(fmt::format("nested deeper than {} levels", kMaxDepth), place);
    open_.push_back({.kind = kind, .line = place.line, .column = place.column});
    keys_.emplace_back();
    return true;
  }
  bool close() {
    lastEnd_ = taken_;
    JsonNode node = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    const Place place{.line = node.line, .column = node.column};
    return attach(std::move(node), place);
  }
  bool refuse(std::string message, Place place) {
    errors.push_back(
        {.message = std::move(message), .file = file_, .line = place.line, .column = place.column});
    return false;
  }

  std::string_view text_;
  const std::size_t& taken_;
  std::string file_;
  std::size_t mostValues_;
  PlaceFinder places_;
  std::size_t lastEnd_ = 0;
  std::size_t values_ = 0;
  std::vector<JsonNode> open_;
  std::vector<std::unordered_set<std::string>> keys_;
};

}  // namespace

const JsonMember* JsonNode::find(std::string_view key) const {
  for (const JsonMember& member : members)
    if (member.key == key) return &member;
  return nullptr;
}

std::string_view describe(JsonNode::Kind kind) {
  switch (kind) {
    case JsonNode::Kind::null:
      return "null";
    case JsonNode::Kind::boolean:
      return "true or false";
    case JsonNode::Kind::integer:
    case JsonNode::Kind::real:
      return "a number";
    case JsonNode::Kind::string:
      return "text";
    case JsonNode::Kind::array:
      return "a list";
    case JsonNode::Kind::object:
      return "an object";
  }
  return "";
}

ResultAll<JsonNode> parseJson(std::string_view text, const std::string& file, std::size_t mostValues) {
  std::size_t taken = 0;
  TreeBuilder builder(text, taken, file, mostValues);
  const CountingIterator begin(text.data(), &taken);
  const CountingIterator end(text.data() + text.size(), &taken);
  nlohmann::json::sax_parse(begin, end, &builder);
  if (!builder.errors.empty()) return tl::unexpected(std::move(builder.errors));
  VSIM_CHECK(builder.root.has_value(), "a parsed document has a root");
  return std::move(*builder.root);
}

}  // namespace vsim::core
