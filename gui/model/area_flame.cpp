#include "gui/model/area_flame.h"

#include <algorithm>
#include <array>
#include <map>

#include "traces/slice_text.h"

namespace vsim::gui {
namespace {

using core::Picoseconds;
using Node = AreaFlame::Node;

struct Sum {
  Picoseconds time = 0;
  std::int64_t count = 0;
  void add(const Sum& other) { time += other.time, count += other.count; }
};

/// Instructions, or names of traces of other programs.
std::size_t sourcesOf(const TimelineData& data) {
  return data.log ? data.log->program->step.size() : data.names.size();
}

/// Without the unit's name in front, which the bar above says.
std::string nameOf(const TimelineData& data, std::size_t source, const std::string& unit) {
  std::string name =
      data.log ? traces::sliceName(*data.log->program, static_cast<core::Index>(source)) : data.names[source];
  if (!unit.empty() && name.starts_with(unit + " ")) name.erase(0, unit.size() + 1);
  return name;
}

using Names = std::map<std::string, Sum>;
using Units = std::map<std::string, Names>;

template <class Map, class Total>
auto longestFirst(const Map& map, Total total) {
  std::vector<std::pair<Sum, const typename Map::value_type*>> order;
  for (const auto& item : map) order.emplace_back(total(item.second), &item);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first.time > b.first.time; });
  return order;
}

Sum totalOf(const Names& names) {
  Sum sum;
  for (const auto& [name, part] : names) sum.add(part);
  return sum;
}

Sum totalOfUnits(const Units& units) {
  Sum sum;
  for (const auto& [name, names] : units) sum.add(totalOf(names));
  return sum;
}

/// Adds a bar below `parent`, right of what is there.
std::size_t addNode(AreaFlame& flame, std::size_t parent, std::string name, SliceClass kind, const Sum& sum,
                    Picoseconds& at) {
  flame.nodes.push_back({.name = std::move(name),
                         .kind = kind,
                         .depth = flame.nodes[parent].depth + 1,
                         .parent = parent,
                         .begin = at,
                         .time = sum.time,
                         .count = sum.count});
  at += sum.time;
  return flame.nodes.size() - 1;
}

void addUnits(AreaFlame& flame, std::size_t parent, SliceClass kind, const Units& units) {
  Picoseconds unitAt = flame.nodes[parent].begin;
  for (const auto& [unitSum, unit] : longestFirst(units, totalOf)) {
    Picoseconds nameAt = unitAt;
    // What belongs to no unit stands right below its class.
    const std::size_t above =
        unit->first.empty() ? parent : addNode(flame, parent, unit->first, kind, unitSum, unitAt);
    for (const auto& [sum, name] : longestFirst(unit->second, [](const Sum& s) { return s; }))
      addNode(flame, above, name->first, kind, sum, nameAt);
    unitAt = std::max(unitAt, nameAt);
  }
}

}  // namespace

int AreaFlame::at(Picoseconds time, int wanted) const {
  for (std::size_t i = nodes.size(); i-- > 0;)
    if (nodes[i].depth == wanted && time >= nodes[i].begin && time < nodes[i].begin + nodes[i].time)
      return static_cast<int>(i);
  return -1;
}

int AreaFlame::depth() const {
  int deepest = -1;
  for (const Node& node : nodes) deepest = std::max(deepest, node.depth);
  return deepest + 1;
}

std::string AreaFlame::path(std::size_t node) const {
  std::string text = nodes[node].name;
  for (; nodes[node].parent != node; node = nodes[node].parent)
    text = nodes[nodes[node].parent].name + "; " + text;
  return text;
}

AreaFlame areaFlame(const TimelineData& data, std::span<const LaneIndex> indexes,
                    std::span<const std::size_t> lanes, TimeRange range, const std::atomic<bool>& cancelled) {
  std::vector<std::array<Sum, kSliceClasses>> sums(sourcesOf(data));
  for (const std::size_t number : lanes) {
    if (cancelled) break;
    const LaneColumns& lane = indexes[number].lane();
    const LaneIndex::Run run = indexes[number].slicesIn(range);
    for (std::size_t i = run.first; i < run.last; ++i)
      sums[lane.source[i]][static_cast<std::size_t>(lane.kind[i])].add(
          {std::max<Picoseconds>(0, std::min(lane.end[i], range.end) - std::max(lane.begin[i], range.begin)),
           1});
  }
  std::array<Units, kSliceClasses> classes;
  const std::vector<std::string> layers =
      data.log ? traces::sliceLayers(*data.log->program) : std::vector<std::string>(sums.size());
  for (std::size_t source = 0; source < sums.size(); ++source)
    for (std::size_t kind = 0; kind < kSliceClasses; ++kind)
      if (sums[source][kind].time > 0) {
        const std::string& unit = layers[source];
        classes[kind][unit][nameOf(data, source, unit)].add(sums[source][kind]);
      }
  std::map<std::size_t, Units> found;
  for (std::size_t kind = 0; kind < kSliceClasses; ++kind)
    if (!classes[kind].empty()) found.emplace(kind, std::move(classes[kind]));
  AreaFlame flame;
  if (found.empty()) return flame;
  Sum all;
  const auto order = longestFirst(found, totalOfUnits);
  for (const auto& [sum, item] : order) all.add(sum);
  flame.nodes.push_back({.name = "all", .time = all.time, .count = all.count});
  Picoseconds at = 0;
  for (const auto& [sum, item] : order) {
    const auto kind = static_cast<SliceClass>(item->first);
    addUnits(flame, addNode(flame, 0, std::string(kSliceClassNames[item->first]), kind, sum, at), kind,
             item->second);
  }
  return flame;
}

}  // namespace vsim::gui
