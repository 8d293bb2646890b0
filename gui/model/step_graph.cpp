#include "gui/model/step_graph.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace vsim::gui {

using core::Index;
using core::kNone;
using core::Picoseconds;

core::Result<StepGraph> StepGraph::build(std::shared_ptr<const TimelineData> data, std::int64_t rankClass) {
  if (!data->log || !data->log->program)
    return core::fail("a trace of another program says nothing of what waited for what");
  if (rankClass < 0 || static_cast<std::size_t>(rankClass) >= data->log->ranks.size())
    return core::fail("there is no such class of ranks");
  StepGraph graph;
  graph.ranks_ = &data->log->ranks[static_cast<std::size_t>(rankClass)];
  graph.rankClass_ = rankClass;
  graph.data_ = std::move(data);
  int steps = 1;
  for (const core::Slice& slice : graph.ranks_->slices) steps = std::max(steps, slice.step + 1);
  auto dag = core::ProgramDag::build(*graph.data_->log->program, std::min(steps, 255));
  if (!dag) return tl::unexpected(dag.error());
  graph.dag_ = std::move(*dag);
  graph.order_ = graph.dag_.topologicalOrder();
  if (graph.order_.size() != graph.dag_.nodes().size())
    return core::fail("the program's dependencies run in a circle");
  graph.link();
  graph.findSlices();
  graph.time();
  return graph;
}

void StepGraph::link() {
  const std::size_t nodes = dag_.nodes().size();
  const auto make = [&](auto keyOf, auto valueOf) {
    Links links{std::vector<Index>(nodes + 1), std::vector<Index>(dag_.edges().size())};
    for (const auto& edge : dag_.edges()) ++links.start[keyOf(edge) + 1];
    std::partial_sum(links.start.begin(), links.start.end(), links.start.begin());
    std::vector<Index> next(links.start.begin(), links.start.end() - 1);
    for (const auto& edge : dag_.edges()) links.nodes[next[keyOf(edge)]++] = valueOf(edge);
    return links;
  };
  const auto from = [](const auto& edge) { return edge.first; };
  const auto to = [](const auto& edge) { return edge.second; };
  before_ = make(to, from);
  after_ = make(from, to);
}

void StepGraph::findSlices() {
  const auto& slices = ranks_->slices;
  slices_.assign(dag_.nodes().size(), kNone);
  references_.resize(slices.size());
  for (Index i = 0; i < slices.size(); ++i) {
    const Index node = dag_.deviceNode(slices[i].step, slices[i].instruction);
    if (node != kNone) slices_[node] = i;
  }
  logIndex_.resize(data_->lanes.size());
  std::vector<std::vector<Index>> byStream(data_->log->program->streams.size());
  for (Index i = 0; i < slices.size(); ++i) byStream[slices[i].stream].push_back(i);
  for (const Track& track : data_->tracks) {
    if (track.kind != Track::Kind::stream || track.rankClass != rankClass_ || track.lane < 0) continue;
    auto& order = byStream[track.stream];
    // As the lane's columns were made.
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return slices[a].begin < slices[b].begin; });
    for (std::size_t k = 0; k < order.size(); ++k)
      references_[order[k]] = {track.lane, static_cast<std::int64_t>(k)};
    logIndex_[static_cast<std::size_t>(track.lane)] = std::move(order);
  }
}

void StepGraph::time() {
  done_.assign(dag_.nodes().size(), 0);
  for (const Index node : order_) {
    Picoseconds latest = 0;
    for (const Index earlier : before(node)) latest = std::max(latest, done_[earlier]);
    const core::DagNode& what = dag_.nodes()[node];
    const Index device = what.device ? node : dag_.deviceNode(what.step, what.instruction);
    const core::Slice* slice = device == kNone ? nullptr : sliceAt(device);
    if (slice != nullptr)
      latest = what.device ? slice->end : std::max(latest, slice->issued);
    else if (!what.device && what.instruction == 0 && what.step < ranks_->stepBegin.size())
      latest = std::max(latest, ranks_->stepBegin[what.step]);
    done_[node] = latest;
  }
}

const core::Slice* StepGraph::logSlice(SliceRef slice) const {
  if (slice.lane < 0 || static_cast<std::size_t>(slice.lane) >= logIndex_.size()) return nullptr;
  const auto& lane = logIndex_[static_cast<std::size_t>(slice.lane)];
  if (slice.slice < 0 || static_cast<std::size_t>(slice.slice) >= lane.size()) return nullptr;
  return &ranks_->slices[lane[static_cast<std::size_t>(slice.slice)]];
}

SliceRef StepGraph::reference(const core::Slice& slice) const {
  return references_[static_cast<std::size_t>(&slice - ranks_->slices.data())];
}

Index StepGraph::nodeOf(SliceRef slice) const {
  const core::Slice* found = logSlice(slice);
  return found == nullptr ? kNone : dag_.deviceNode(found->step, found->instruction);
}

const core::Slice* StepGraph::sliceAt(Index node) const {
  return slices_[node] == kNone ? nullptr : &ranks_->slices[slices_[node]];
}

Index StepGraph::lastBefore(Index node) const {
  Index best = kNone;
  for (const Index earlier : before(node)) {
    if (best == kNone || done_[earlier] > done_[best] ||
        (done_[earlier] == done_[best] && dag_.nodes()[earlier].device && !dag_.nodes()[best].device))
      best = earlier;
  }
  return best;
}

std::vector<SliceRef> StepGraph::neighbours(SliceRef slice, const Links& links) const {
  const Index start = nodeOf(slice);
  if (start == kNone) return {};
  std::vector<SliceRef> found;
  std::vector<Index> open{start};
  std::set<Index> seen{start};
  while (!open.empty()) {
    const Index node = open.back();
    open.pop_back();
    for (const Index next : list(links, node)) {
      if (!dag_.nodes()[next].device || !seen.insert(next).second) continue;
      if (const core::Slice* other = sliceAt(next))
        found.push_back(reference(*other));
      else
        open.push_back(next);
    }
  }
  // What decided comes first: the latest end before, the earliest begin after.
  const auto& lanes = data_->lanes;
  const auto at = [&](const std::vector<Picoseconds> LaneColumns::*column, SliceRef ref) {
    return (lanes[static_cast<std::size_t>(ref.lane)].*column)[static_cast<std::size_t>(ref.slice)];
  };
  std::erase_if(found, [](const SliceRef& ref) { return !ref.valid(); });
  std::sort(found.begin(), found.end(), [&](const SliceRef& a, const SliceRef& b) {
    return &links == &before_ ? at(&LaneColumns::end, a) > at(&LaneColumns::end, b)
                              : at(&LaneColumns::begin, a) < at(&LaneColumns::begin, b);
  });
  return found;
}

std::vector<SliceRef> StepGraph::predecessors(SliceRef slice) const { return neighbours(slice, before_); }
std::vector<SliceRef> StepGraph::successors(SliceRef slice) const { return neighbours(slice, after_); }

}  // namespace vsim::gui
