// Changes one value in a scenario's text and leaves every other byte as it is.
#include <algorithm>
#include <map>
#include <optional>

#include "core/scenario/document.h"
#include "core/scenario/overrides.h"
#include "gui/model/scenario_form.h"

namespace vsim::gui {
namespace {

using core::Node;
using core::NodeKind;

tl::unexpected<core::Error> byHand(const std::string& key) {
  return core::fail(key + ": the text writes this value in a way that the form cannot change",
                    "change it in the text");
}

/// Where the place (line and column from 1) stands in the text; npos: nowhere.
std::size_t offsetOf(std::string_view text, const core::Place& place) {
  std::size_t at = 0;
  for (int line = 1; line < place.line; ++line) {
    at = text.find('\n', at);
    if (at == std::string_view::npos) return at;
    ++at;
  }
  at += static_cast<std::size_t>(std::max(place.column - 1, 0));
  return at < text.size() ? at : std::string_view::npos;
}

/// One past the quoted scalar or bracket that begins at `at`; npos: it does not end.
std::size_t endOfQuoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '\'' && i + 1 < text.size() && text[i + 1] == quote)
        ++i;  // '' stands for one
      else
        return i + 1;
    }
  }
  return std::string_view::npos;
}

/// One past the bracket that closes the one at `at`; `commas` gets the commas directly inside.
std::size_t endOfBracket(std::string_view text, std::size_t at, std::vector<std::size_t>* commas = nullptr) {
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = endOfQuoted(text, i);
      if (i == std::string_view::npos) return i;
      --i;
    } else if (c == '#' && (text[i - 1] == ' ' || text[i - 1] == '\n')) {
      i = text.find('\n', i);
      if (i == std::string_view::npos) return i;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (--depth == 0) return i + 1;
    } else if (c == ',' && depth == 1 && commas != nullptr) {
      commas->push_back(i);
    }
  }
  return std::string_view::npos;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n"), last = text.find_last_not_of(" \t\n");
  return first == std::string_view::npos ? std::string() : std::string(text.substr(first, last - first + 1));
}

std::string replaced(std::string_view text, std::size_t from, std::size_t to, const std::string& with) {
  return std::string(text.substr(0, from)) + with + std::string(text.substr(to));
}

std::optional<std::string> replaceScalar(std::string_view text, const Node& node, const std::string& value) {
  const std::size_t at = offsetOf(text, node.place);
  if (at == std::string_view::npos) return std::nullopt;
  if (text[at] == '"' || text[at] == '\'') {
    const std::size_t end = endOfQuoted(text, at);
    if (end == std::string_view::npos) return std::nullopt;
    return replaced(text, at, end, value);
  }
  if (text.substr(at, node.value.size()) != node.value) return std::nullopt;  // folded over lines, an anchor
  return replaced(text, at, at + node.value.size(), value);
}

std::vector<std::string> namesIn(const std::string& list) {
  std::vector<std::string> names(1);
  for (const char c : list)
    if (c == ',')
      names.emplace_back();
    else if (c != ' ')
      names.back() += c;
  std::erase(names, std::string());
  return names;
}

std::string nameOfSystem(const Node& item) {
  if (item.kind == NodeKind::scalar) return item.value;
  const Node* name = core::valueAt(item, "name");
  return name == nullptr ? std::string() : name->value;
}

std::string asList(const std::vector<std::string>& items) {
  std::string list = "[";
  for (const std::string& item : items) list += (list.size() > 1 ? ", " : "") + item;
  return list + "]";
}

/// The list of systems with those of `names` that it lacks, and without those that are not among them. Items
/// that stay keep their options.
std::optional<std::string> replaceSystems(std::string_view text, const Node& node, const std::string& names) {
  std::vector<std::string> wanted = namesIn(names);
  const std::size_t at = offsetOf(text, node.place);
  if (at == std::string_view::npos) return std::nullopt;
  if (node.kind == NodeKind::scalar) return replaceScalar(text, node, asList(wanted));
  if (text[at] != '[' && text[at] != '{') return std::nullopt;
  std::vector<std::size_t> commas;
  const std::size_t end = endOfBracket(text, at, &commas);
  if (end == std::string_view::npos) return std::nullopt;
  std::vector<std::pair<std::string, std::string>> items;  // name, as written
  if (node.kind == NodeKind::map) {
    items.emplace_back(nameOfSystem(node), std::string(text.substr(at, end - at)));
  } else {
    commas.push_back(end - 1);
    std::size_t from = at + 1;
    for (std::size_t i = 0; i < node.items.size() && i < commas.size(); ++i) {
      items.emplace_back(nameOfSystem(*node.items[i]), trimmed(text.substr(from, commas[i] - from)));
      from = commas[i] + 1;
    }
  }
  std::vector<std::string> kept;
  for (const auto& [name, written] : items)
    if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) kept.push_back(written);
  for (const std::string& name : wanted)
    if (std::none_of(items.begin(), items.end(), [&](const auto& item) { return item.first == name; }))
      kept.push_back(name);
  return replaced(text, at, end, asList(kept));
}

std::string withLineAtEnd(std::string_view text, const std::string& line) {
  std::string result(text);
  if (!result.empty() && result.back() != '\n') result += '\n';
  return result + line + '\n';
}

/// A new pair in a map that lacks it.
std::optional<std::string> addTo(std::string_view text, const Node& map, const std::string& pair) {
  const std::size_t at = offsetOf(text, map.pairs.empty() ? map.place : map.pairs.front().first->place);
  const std::size_t start = offsetOf(text, map.place);
  if (at == std::string_view::npos || start == std::string_view::npos) return std::nullopt;
  if (text[start] == '{') {
    const std::size_t end = endOfBracket(text, start);
    if (end == std::string_view::npos) return std::nullopt;
    return replaced(text, end - 1, end - 1, (map.pairs.empty() ? "" : ", ") + pair);
  }
  const std::size_t line = text.rfind('\n', at) == std::string_view::npos ? 0 : text.rfind('\n', at) + 1;
  const std::string indent(text.substr(line, at - line));
  if (indent.find_first_not_of(' ') != std::string::npos) return std::nullopt;
  return replaced(text, line, line, indent + pair + "\n");
}

std::optional<std::string> added(std::string_view text, const Node& root, const std::string& key,
                                 const std::string& value) {
  const std::size_t dot = key.rfind('.');
  if (dot == std::string::npos) {
    const std::size_t start = offsetOf(text, root.place);
    if (start != std::string_view::npos && text[start] == '{') return addTo(text, root, key + ": " + value);
    return withLineAtEnd(text, key + ": " + value);
  }
  const std::string section = key.substr(0, dot), leaf = key.substr(dot + 1);
  const Node* parent = core::valueAt(root, section);
  if (parent == nullptr) return added(text, root, section, "{" + leaf + ": " + value + "}");
  if (parent->kind == NodeKind::map) return addTo(text, *parent, leaf + ": " + value);
  if (parent->kind == NodeKind::scalar && leaf == "name") return replaceScalar(text, *parent, value);
  return std::nullopt;
}

/// What stands at each key of the form, to see that an edit touched no other.
std::map<std::string, std::string> valuesOf(const Node& root) {
  std::map<std::string, std::string> values;
  for (const FormGroup& group : formGroups())
    for (const FormField& field : group.fields) {
      const Node* node = core::valueAt(root, field.key);
      if (node == nullptr && field.key.ends_with(".name"))  // "optimizer: sgd" is short for its name
        node = core::valueAt(root, field.key.substr(0, field.key.rfind('.')));
      if (node != nullptr && node->kind == NodeKind::scalar) values[field.key] = node->value;
    }
  return values;
}

/// "vescale, fsdp2": names of the list, alone or with options; empty: it is none.
std::string systemsIn(const Node& root) {
  const Node* list = core::valueAt(root, "systems");
  if (list == nullptr || list->kind != NodeKind::sequence) return {};
  std::string names;
  for (const Node* item : list->items) {
    const Node* name = item->kind == NodeKind::map ? core::valueAt(*item, "name") : item;
    if (name == nullptr || name->kind != NodeKind::scalar) continue;
    names += (names.empty() ? "" : ", ") + name->value;
  }
  return names;
}

}  // namespace

std::map<std::string, std::string> writtenValues(std::string_view text) {
  core::Document document;
  const auto root = core::parseDocument(text, "", document);
  if (!root || *root == nullptr) return {};
  std::map<std::string, std::string> values = valuesOf(**root);
  if (const std::string systems = systemsIn(**root); !systems.empty()) values["systems"] = systems;
  return values;
}

core::Result<std::string> withField(std::string_view text, const std::string& key, const std::string& value) {
  core::Document before, after;
  const auto root = core::parseDocument(text, "", before);
  if (!root) return tl::unexpected(root.error().front());
  if (*root == nullptr || (*root)->kind != NodeKind::map) return byHand(key);
  const Node* node = core::valueAt(**root, key);
  const std::string written = key == "systems" ? asList(namesIn(value)) : value;
  std::optional<std::string> result;
  if (node == nullptr || node->kind == NodeKind::null)
    result = node == nullptr ? added(text, **root, key, written) : std::nullopt;
  else if (key == "systems")
    result = replaceSystems(text, *node, value);
  else if (node->kind == NodeKind::scalar)
    result = replaceScalar(text, *node, written);
  if (!result) return byHand(key);
  const auto changed = core::parseDocument(*result, "", after);
  if (!changed || *changed == nullptr) return byHand(key);
  auto old = valuesOf(**root), now = valuesOf(**changed);
  if (key != "systems" && now[key] != value) return byHand(key);
  old.erase(key);
  now.erase(key);
  if (old != now) return byHand(key);
  return *result;
}

}  // namespace vsim::gui
