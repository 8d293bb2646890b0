#include "gui/model/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/report/timeline.h"

namespace vsim::gui {
namespace {

using core::Index;
using core::kNone;
using core::Picoseconds;

SliceClass classOf(const StepGraph& graph, const core::Slice& slice) {
  const SliceRef ref = graph.reference(slice);
  return graph.data().lanes[static_cast<std::size_t>(ref.lane)].kind[static_cast<std::size_t>(ref.slice)];
}

PathKind kindOf(SliceClass kind) {
  if (isCommunication(kind)) return PathKind::communication;
  return kind == SliceClass::copy ? PathKind::copy : PathKind::compute;
}

/// Follows the chain back; times only fall.
class Walker {
 public:
  Walker(const StepGraph& graph, StepPath& path) : graph_(graph), path_(path), now_(path.step.end) {}

  void walk(Index node) {
    // The host may find the streams drained a little after the last end.
    if (node != kNone) back(graph_.done(node), PathKind::host, {});
    while (node != kNone && now_ > path_.step.begin) {
      const core::Slice* slice = graph_.sliceAt(node);
      const Index earlier = graph_.lastBefore(node);
      const Picoseconds released = earlier == kNone ? path_.step.begin : graph_.done(earlier);
      if (slice != nullptr) {
        const SliceRef ref = graph_.reference(*slice);
        back(std::max(slice->begin, released), kindOf(classOf(graph_, *slice)), ref);
        back(released, PathKind::wait, ref);
      } else {
        back(released, PathKind::host, {});
      }
      node = earlier;
    }
    back(path_.step.begin, PathKind::host, {});
    std::reverse(path_.segments.begin(), path_.segments.end());
  }

 private:
  void back(Picoseconds to, PathKind kind, SliceRef slice) {
    to = std::max(to, path_.step.begin);
    if (to >= now_) return;
    path_.byKind[static_cast<std::size_t>(kind)] += now_ - to;
    if (!path_.segments.empty() && kind == PathKind::host && path_.segments.back().kind == kind)
      path_.segments.back().range.begin = to;
    else
      path_.segments.push_back({kind, {to, now_}, slice});
    now_ = to;
  }

  const StepGraph& graph_;
  StepPath& path_;
  Picoseconds now_;
};

Picoseconds latestBefore(const StepGraph& graph, Index node, const std::vector<Picoseconds>& done) {
  Picoseconds latest = 0;
  for (const Index earlier : graph.before(node)) latest = std::max(latest, done[earlier]);
  return latest;
}

/// End of the step if slices for which `isFree` holds took no time. What is not the slices' own time (waits,
/// the host) stays as long as it was.
Picoseconds endIfFree(const StepGraph& graph, std::size_t step,
                      const std::function<bool(const core::Slice&)>& isFree) {
  std::vector<Picoseconds> was(graph.dag().nodes().size()), now(was.size());
  Picoseconds end = 0;
  for (Index node = 0; node < was.size(); ++node) was[node] = graph.done(node);
  for (const Index node : graph.order()) {
    const core::DagNode& what = graph.dag().nodes()[node];
    if (what.step > step) continue;
    if (what.step < step) {
      now[node] = was[node];
      continue;
    }
    const core::Slice* slice = graph.sliceAt(node);
    Picoseconds length = std::max<Picoseconds>(0, was[node] - latestBefore(graph, node, was));
    if (slice != nullptr && isFree(*slice)) length -= std::min(length, slice->end - slice->begin);
    now[node] = latestBefore(graph, node, now) + length;
    if (slice != nullptr) end = std::max(end, now[node]);
  }
  return end;
}

void addSavings(const StepGraph& graph, std::size_t step, StepPath& path) {
  const Picoseconds end = endIfFree(graph, step, [](const core::Slice&) { return false; });
  const auto add = [&](std::string what, const std::function<bool(const core::Slice&)>& isFree) {
    const Picoseconds saved = end - endIfFree(graph, step, isFree);
    if (saved > 0) path.ifFree.push_back({std::move(what), saved});
  };
  add("all communication", [&](const core::Slice& slice) { return isCommunication(classOf(graph, slice)); });
  std::array<bool, kSliceClasses> occurs{};
  for (const core::Slice& slice : graph.ranks().slices)
    if (slice.step == step) occurs[static_cast<std::size_t>(classOf(graph, slice))] = true;
  for (std::size_t c = 0; c < kSliceClasses; ++c)
    if (occurs[c])
      add(std::string(kSliceClassNames[c]),
          [&](const core::Slice& slice) { return static_cast<std::size_t>(classOf(graph, slice)) == c; });
  std::stable_sort(path.ifFree.begin(), path.ifFree.end(),
                   [](const auto& a, const auto& b) { return a.saved > b.saved; });
}

}  // namespace

core::Result<StepPath> stepPath(const StepGraph& graph, std::size_t step) {
  const core::RankLog& ranks = graph.ranks();
  if (step >= std::min(ranks.stepBegin.size(), ranks.stepEnd.size()))
    return core::fail(fmt::format("step {} was not completed", step));
  StepPath path;
  path.step.end = ranks.stepEnd[step];
  path.step.begin = path.step.end - core::stepLength(ranks, step);
  Index last = kNone;
  for (Index node = 0; node < graph.dag().nodes().size(); ++node) {
    if (graph.dag().nodes()[node].step != step || graph.sliceAt(node) == nullptr) continue;
    if (last == kNone || graph.done(node) > graph.done(last)) last = node;
  }
  Walker(graph, path).walk(last);
  addSavings(graph, step, path);
  return path;
}

}  // namespace vsim::gui
