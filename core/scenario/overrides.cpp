#include "core/scenario/overrides.h"

#include <charconv>
#include <optional>
#include <vector>

namespace vsim::core {
namespace {

constexpr std::size_t kMaxParts = 8;

Result<std::vector<std::string>> parts(const std::string& key) {
  std::vector<std::string> result(1);
  for (const char c : key)
    if (c == '.')
      result.emplace_back();
    else
      result.back() += c;
  for (const std::string& part : result)
    if (part.empty()) return fail("expected key=value with a dotted key such as batch.micro_batch=2");
  if (result.size() > kMaxParts) return fail(fmt::format("the key has more than {} parts", kMaxParts));
  return result;
}

std::optional<std::size_t> indexIn(const Node& sequence, const std::string& part) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
  if (error != std::errc() || end != part.data() + part.size() || index >= sequence.items.size())
    return std::nullopt;
  return index;
}

class Setter {
 public:
  Setter(Document& document, std::vector<std::string> path, const Node& value, const Place& keyPlace)
      : document_(document), path_(std::move(path)), value_(value), keyPlace_(keyPlace) {}

  Result<const Node*> at(const Node* node, std::size_t depth) {
    if (depth == path_.size()) return &value_;
    if (!node || node->kind == NodeKind::null) return inMap(nullptr, depth);
    if (node->kind == NodeKind::map) return inMap(node, depth);
    if (node->kind == NodeKind::sequence) return inSequence(*node, depth);
    if (depth == 2 && path_[0] == "systems") return inMap(namedSystem(*node), depth);
    return fail(fmt::format("{} has no keys of its own: it is {}", joined(depth), shownNode(*node)));
  }

 private:
  std::string joined(std::size_t count) const {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) result += (i ? "." : "") + path_[i];
    return result;
  }

  Node& scalar(const std::string& text, const Place& place) {
    Node& node = document_.make();
    node.kind = NodeKind::scalar;
    node.value = text;
    node.place = place;
    return node;
  }

  const Node* namedSystem(const Node& name) {
    Node& map = document_.make();
    map.kind = NodeKind::map;
    map.place = name.place;
    map.pairs.emplace_back(&scalar("name", name.place), &name);
    return &map;
  }

  Result<const Node*> inMap(const Node* old, std::size_t depth) {
    Node& copy = document_.make();
    if (old)
      copy = *old;
    else
      copy.place = keyPlace_;
    copy.kind = NodeKind::map;
    const std::string& key = path_[depth];
    // A model is one thing: the layers of the old one must not be mixed with the new one.
    if (depth == 1 && path_[0] == "model" && (key == "preset" || key == "hf_config")) copy.pairs.clear();
    for (auto& [name, value] : copy.pairs) {
      if (name->kind != NodeKind::scalar || name->value != key) continue;
      const auto changed = at(value, depth + 1);
      if (!changed) return changed;
      value = *changed;
      return &copy;
    }
    const auto added = at(nullptr, depth + 1);
    if (!added) return added;
    copy.pairs.emplace_back(&scalar(key, keyPlace_), *added);
    return &copy;
  }

  Result<const Node*> inSequence(const Node& old, std::size_t depth) {
    const auto index = indexIn(old, path_[depth]);
    if (!index)
      return fail(fmt::format("{} is a list of {}: {} is not one of its items", joined(depth),
                              old.items.size(), shownValue(path_[depth])),
                  "items count from 0");
    const auto changed = at(old.items[*index], depth + 1);
    if (!changed) return changed;
    Node& copy = document_.make();
    copy = old;
    copy.items[*index] = *changed;
    return &copy;
  }

  Document& document_;
  std::vector<std::string> path_;
  const Node& value_;
  Place keyPlace_;
};

}  // namespace

Result<const Node*> withValue(Document& document, const Node& root, const std::string& dottedKey,
                              const Node& value, const Place& keyPlace) {
  auto path = parts(dottedKey);
  if (!path) return tl::unexpected(path.error());
  return Setter(document, std::move(*path), value, keyPlace).at(&root, 0);
}

const Node* valueAt(const Node& root, const std::string& dottedKey) {
  const auto path = parts(dottedKey);
  if (!path) return nullptr;
  const Node* node = &root;
  for (const std::string& part : *path) {
    const Node* next = nullptr;
    if (node->kind == NodeKind::sequence) {
      const auto index = indexIn(*node, part);
      if (index) next = node->items[*index];
    } else if (node->kind == NodeKind::map) {
      for (const auto& [name, value] : node->pairs)
        if (name->kind == NodeKind::scalar && name->value == part) next = value;
    }
    if (!next) return nullptr;
    node = next;
  }
  return node;
}

}  // namespace vsim::core
