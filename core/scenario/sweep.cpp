#include "core/scenario/sweep.h"

#include <algorithm>

namespace vsim::core {
namespace {

constexpr std::size_t kMaxWritten = 200;

/// A value in YAML's flow style, cut after kMaxWritten bytes.
void write(const Node& node, std::string& out) {
  if (out.size() > kMaxWritten) return;
  switch (node.kind) {
    case NodeKind::null:
      out += "null";
      break;
    case NodeKind::scalar:
      out += node.value;
      break;
    case NodeKind::sequence: {
      out += '[';
      for (std::size_t i = 0; i < node.items.size() && out.size() <= kMaxWritten; ++i) {
        if (i) out += ", ";
        write(*node.items[i], out);
      }
      out += ']';
      break;
    }
    case NodeKind::map: {
      out += '{';
      for (std::size_t i = 0; i < node.pairs.size() && out.size() <= kMaxWritten; ++i) {
        if (i) out += ", ";
        write(*node.pairs[i].first, out);
        out += ": ";
        write(*node.pairs[i].second, out);
      }
      out += '}';
      break;
    }
  }
}

void collect(Problems& problems, const Node& map, const std::string& prefix, std::vector<SweepAxis>& axes) {
  for (const auto& [name, value] : map.pairs) {
    if (name->kind != NodeKind::scalar || name->value.empty()) {
      expected(problems, *name, "sweep", "a dotted key");
      continue;
    }
    const std::string key = prefix + name->value;
    const std::string top = key.substr(0, key.find('.'));
    if (value->kind == NodeKind::map) {
      collect(problems, *value, key + ".", axes);
      continue;
    }
    const bool twice =
        std::any_of(axes.begin(), axes.end(), [&](const auto& axis) { return axis.key == key; });
    if (top == "vsim" || top == "name" || top == "sweep") {
      problems.add(name->place, fmt::format("sweep: {} cannot be swept", shownValue(key)));
    } else if (twice) {
      problems.add(name->place, fmt::format("sweep: {} is swept twice", shownValue(key)));
    } else if (value->kind != NodeKind::sequence || value->items.empty()) {
      expected(problems, value->kind == NodeKind::null ? *name : *value, "sweep." + key, "a list of values");
    } else {
      SweepAxis axis{key, name->place, value->items, {}};
      for (const Node* item : axis.values) write(*item, axis.written.emplace_back());
      axes.push_back(std::move(axis));
    }
  }
}

}  // namespace

std::vector<SweepAxis> readAxes(Problems& problems, const Node* sweep) {
  std::vector<SweepAxis> axes;
  if (!sweep) return axes;
  if (sweep->kind != NodeKind::map) {
    expected(problems, *sweep, "sweep", "a map such as {cluster.gpus: [64, 128]}");
    return axes;
  }
  collect(problems, *sweep, "", axes);
  std::size_t points = 1;
  for (const SweepAxis& axis : axes) {
    points *= axis.values.size();
    if (points <= kMaxSweepPoints) continue;
    problems.add(sweep->place, fmt::format("sweep: more than {} points", kMaxSweepPoints));
    axes.clear();
    break;
  }
  return axes;
}

std::size_t pointCount(const std::vector<SweepAxis>& axes) {
  std::size_t points = 1;
  for (const SweepAxis& axis : axes) points *= axis.values.size();
  return points;
}

std::vector<std::size_t> pointAt(const std::vector<SweepAxis>& axes, std::size_t index) {
  std::vector<std::size_t> choice(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    choice[i] = index % axes[i].values.size();
    index /= axes[i].values.size();
  }
  return choice;
}

}  // namespace vsim::core
