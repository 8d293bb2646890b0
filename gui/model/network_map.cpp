#include "gui/model/network_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/checked.h"
#include "core/report/report.h"
#include "gui/model/figure_text.h"
#include "sim/cluster/cluster_catalogue.h"
#include "sim/cluster/topology.h"
#include "sim/network/collective_model.h"
#include "sim/network/group_shape.h"
#include "traces/slice_text.h"

namespace vsim::gui {
namespace {

using core::CollectiveKind;
using core::CommGroup;

std::uint8_t partOf(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::allGather:
      return 0;
    case CollectiveKind::reduceScatter:
      return 1;
    case CollectiveKind::allReduce:
    case CollectiveKind::broadcast:
      return 2;
    case CollectiveKind::allToAll:
      return 3;
  }
  return 2;
}

/// First rank of each group of this pattern among `ranks` ranks: visit(base).
template <class Visit>
void forEachGroup(const CommGroup& group, std::int64_t ranks, Visit&& visit) {
  const std::int64_t span = group.size * group.stride;
  for (std::int64_t block = 0; block + span <= ranks; block += span)
    for (std::int64_t base = block; base < block + group.stride; ++base) visit(base);
}

}  // namespace

double NetworkFlow::busBandwidth() const {
  return length() > 0 ? busBytes / core::secondsFromPicoseconds(length()) : 0;
}

std::size_t slowestClass(const core::ExecutionLog& log) {
  std::size_t slowest = 0;
  core::Picoseconds longest = -1;
  for (std::size_t i = 0; i < log.ranks.size(); ++i) {
    const core::RankLog& rank = log.ranks[i];
    if (rank.stepEnd.empty()) continue;
    const std::size_t last = rank.stepEnd.size() - 1;
    const core::Picoseconds length =
        rank.stepEnd[last] - (last > 0 ? rank.stepEnd[last - 1] : rank.stepBegin[last]);
    if (length > longest) {
      longest = length;
      slowest = i;
    }
  }
  return slowest;
}

NetworkMap::NetworkMap(std::shared_ptr<const core::ExecutionLog> log, std::size_t rankClass,
                       std::optional<core::ClusterHardware> cluster, std::int64_t gpus)
    : log_(std::move(log)), rankClass_(rankClass), cluster_(std::move(cluster)), gpus_(gpus) {
  if (gpus_ < 1)
    for (const core::RankLog& rank : log_->ranks) gpus_ += rank.ranks;
  if (cluster_) {
    gpusPerNode_ = std::max(1, sim::gpusPerDomain(*cluster_));
    describeCluster();
  }
  addFlows();
  if (cluster_) addLoads();
}

void NetworkMap::describeCluster() {
  const core::ClusterHardware& c = *cluster_;
  const bool nvlink = c.nvlinkDomain > 1 && c.gpu.nvlinkBytesPerSecond > 0;
  const bool rack = c.nvlinkDomain > c.gpusPerNode;
  const auto perDomain = static_cast<double>(gpusPerNode_);
  // Any two ranks of a domain tell its local rate.
  const sim::GroupShape pair = sim::groupShape(c, {.name = "", .size = gpusPerNode_, .stride = 1});
  NetworkTier& local = tiers_[0];
  local.name = nvlink ? "NVLink" : "PCIe";
  local.between = nvlink ? (c.nvSwitch ? "GPU to NVSwitch" : "GPU to GPU") : "GPU to host";
  local.present = gpusPerNode_ > 1 && pair.localBytesPerSecond > 0;
  local.perGpu = local.perLink = pair.localBytesPerSecond;
  local.linksPerNode = perDomain;
  NetworkTier& nic = tiers_[1];
  nic.name = "NICs";
  nic.between = rack ? "rack to leaf switches" : "node to leaf switches";
  nic.linksPerNode = sim::nicsPerDomain(c);
  nic.perLink = c.nicBytesPerSecond;
  nic.perGpu = nic.linksPerNode * nic.perLink / perDomain;
  nic.present = gpus_ > gpusPerNode_ && nic.perGpu > 0;
  const auto summary = sim::summarizeTopology(c, gpus_);
  if (!summary) return;
  oversubscription_ = summary->oversubscription;
  NetworkTier& spine = tiers_[2];
  spine.name = "spine";
  spine.between = "leaf to spine switches";
  spine.present = summary->pods > 1;
  spine.upperBound = true;
  spine.perLink = c.nicBytesPerSecond;
  spine.perGpu = nic.perGpu / std::max(1.0, oversubscription_);
  spine.linksPerNode = nic.linksPerNode / std::max(1.0, oversubscription_);
  for (const sim::TopologyTier& tier : summary->tiers)
    layers_.push_back({.name = tier.name,
                       .count = tier.count,
                       .linksDown = tier.linksDown,
                       .linksUp = tier.linksUp,
                       .linkRate = tier.linkBytesPerSecond,
                       .note = tier.note.substr(0, tier.note.find(" by "))});  // the link beside it says how
  summary_ =
      fmt::format("{}: {} GPUs in {} nodes, {}{}", c.preset.empty() ? c.gpu.name : c.preset,
                  core::formatCount(gpus_), core::formatCount(summary->nodes),
                  c.fabric == core::FabricKind::railOptimized ? "rail-optimized" : "two-level Clos",
                  summary->nodes > 1
                      ? fmt::format("; bisection {}, oversubscription {:g}:1",
                                    largeBandwidthText(summary->bisectionBytesPerSecond), oversubscription_)
                      : std::string());
}

void NetworkMap::addFlows() {
  const core::StepProgram& program = *log_->program;
  const core::RankLog& log = rank();
  if (!log.stepEnd.empty()) {
    const std::size_t last = log.stepEnd.size() - 1;
    lastStepNumber_ = static_cast<std::uint8_t>(last);
    const core::Picoseconds before = last > 0 ? log.stepEnd[last - 1] : 0;
    lastStep_ = {std::max(log.stepBegin[last], before), log.stepEnd[last]};
    whole_ = {0, log.stepEnd.back()};
  }
  for (std::size_t i = 0; i < log.slices.size(); ++i) {
    const core::Slice& slice = log.slices[i];
    whole_.end = std::max(whole_.end, slice.end);
    const core::Instruction& what = program.step[slice.instruction];
    if (what.kind != core::InstructionKind::collective) continue;
    const core::Collective& collective = program.collectives[what.operand];
    NetworkFlow flow{.begin = slice.begin,
                     .end = slice.end,
                     .slice = static_cast<std::uint32_t>(i),
                     .instruction = slice.instruction,
                     .group = collective.group,
                     .step = slice.step,
                     .part = partOf(collective.kind)};
    const auto bytes = traces::sliceBytes(program, slice.instruction);
    flow.bytes = static_cast<double>(bytes);
    const std::int64_t ranks = program.groups[collective.group].size;
    if (ranks > 1) flow.busBytes = sim::busBytes(collective.kind, bytes, static_cast<int>(ranks));
    if (cluster_) carry(flow, collective);
    longest_ = std::max(longest_, flow.length());
    flows_.push_back(flow);
  }
  std::ranges::stable_sort(flows_, std::ranges::less{}, &NetworkFlow::begin);
}

/// Where the bytes go: NCCL's rings pass a group's data from rank to rank, so that each domain takes in what
/// a GPU takes in, once, over its ranks' share of the NICs; all-to-all sends each pair's part directly.
void NetworkMap::carry(NetworkFlow& flow, const core::Collective& collective) const {
  const CommGroup& group = log_->program->groups[collective.group];
  if (group.size < 2) return;
  const sim::GroupShape shape = sim::groupShape(*cluster_, group);
  const double inDomain = shape.ranksPerDomain, ranks = shape.ranks;
  const bool direct = collective.kind == CollectiveKind::allToAll;
  double& local = flow.carried[0];
  double& nic = flow.carried[1];
  if (!shape.acrossDomains()) {
    local = flow.busBytes;
  } else if (direct) {
    local = flow.bytes * (inDomain - 1) / ranks;
    nic = flow.bytes * (ranks - inDomain) / ranks;
  } else {
    local = flow.busBytes * (inDomain - 1) / inDomain;
    nic = flow.busBytes / inDomain;
  }
  if (shape.crossesSpine) flow.carried[2] = nic;
  const double seconds = core::secondsFromPicoseconds(flow.length());
  // Peers without a switch have their own links: the shape's rate, not the whole board's.
  const double rates[] = {shape.localBytesPerSecond, tiers_[1].perGpu, tiers_[2].perGpu};
  for (std::size_t t = 0; t < kLinkTiers; ++t) {
    if (flow.carried[t] <= 0 || rates[t] <= 0 || seconds <= 0) continue;
    const double share = flow.carried[t] / seconds / rates[t];
    if (share <= flow.share) continue;
    flow.share = share;
    flow.limit = static_cast<LinkTier>(t);
  }
}

void NetworkMap::addLoads() {
  for (std::size_t t = 0; t < kLinkTiers; ++t) {
    if (tiers_[t].perGpu <= 0) continue;
    std::vector<LoadInterval> intervals;
    for (const NetworkFlow& flow : flows_) {
      const double seconds = core::secondsFromPicoseconds(flow.length());
      if (flow.carried[t] <= 0 || seconds <= 0) continue;
      intervals.push_back({flow.begin, flow.end, flow.part, flow.carried[t] / seconds / tiers_[t].perGpu});
    }
    tiers_[t].load = LoadCurve(intervals);
  }
}

std::string NetworkMap::nameOf(const NetworkFlow& flow) const {
  return traces::sliceName(*log_->program, flow.instruction);
}

bool NetworkMap::counts(const NetworkFlow& flow, const std::optional<TimeRange>& range) const {
  if (range) return flow.begin >= range->begin && flow.begin < range->end;
  return lastStepNumber_ && flow.step == *lastStepNumber_;
}

std::vector<std::size_t> NetworkMap::runningAt(core::Picoseconds time, std::optional<LinkTier> tier) const {
  // None that began earlier than the longest one lasts can still run.
  const auto first =
      std::ranges::lower_bound(flows_, time - longest_, std::ranges::less{}, &NetworkFlow::begin);
  std::vector<std::size_t> running;
  for (auto flow = first; flow != flows_.end() && flow->begin <= time; ++flow)
    if (flow->end > time && (!tier || flow->carried[static_cast<std::size_t>(*tier)] > 0))
      running.push_back(static_cast<std::size_t>(flow - flows_.begin()));
  return running;
}

std::vector<std::size_t> NetworkMap::mostLost(std::optional<TimeRange> range, std::size_t most) const {
  std::vector<std::size_t> lost;
  for (std::size_t i = 0; i < flows_.size(); ++i)
    if (counts(flows_[i], range) && group(flows_[i]).size > 1) lost.push_back(i);
  const auto more = [&](std::size_t a, std::size_t b) {
    const double x = flows_[a].lost(), y = flows_[b].lost();
    return x != y ? x > y : a < b;
  };
  std::ranges::sort(lost, more);
  lost.resize(std::min(lost.size(), most));
  return lost;
}

std::string NetworkMap::placeOf(const CommGroup& group) const {
  if (!cluster_) return fmt::format("{} GPUs, stride {}", group.size, group.stride);
  const sim::GroupShape shape = sim::groupShape(*cluster_, group);
  const char* node = cluster_->nvlinkDomain > cluster_->gpusPerNode ? "rack" : "node";
  if (!shape.acrossDomains()) return fmt::format("{} GPUs of one {}", shape.ranks, node);
  return fmt::format("{} {}s x {} GPU{}{}", shape.domains, node, shape.ranksPerDomain,
                     shape.ranksPerDomain > 1 ? "s" : "", shape.railOnly ? ", one rail" : "");
}

std::vector<NetworkGroupRow> NetworkMap::groupRows(std::optional<TimeRange> range) const {
  const core::StepProgram& program = *log_->program;
  struct Sum {
    NetworkGroupRow row;
    core::Picoseconds time = 0;
    double busBytes = 0, fullRate = 0;
  };
  std::map<std::pair<CollectiveKind, core::Index>, Sum> sums;
  for (const NetworkFlow& flow : flows_) {
    if (!counts(flow, range)) continue;
    const CollectiveKind kind = program.collectives[program.step[flow.instruction].operand].kind;
    Sum& sum = sums[{kind, flow.group}];
    ++sum.row.count;
    sum.row.kind = kind;
    sum.row.group = flow.group;
    sum.row.limit = flow.limit;
    sum.row.bytes += flow.bytes;
    sum.time += flow.length();
    sum.busBytes += flow.busBytes;
    sum.fullRate += flow.share * static_cast<double>(flow.length());
  }
  std::vector<NetworkGroupRow> rows;
  for (auto& [key, sum] : sums) {
    NetworkGroupRow row = sum.row;
    row.place = placeOf(program.groups[row.group]);
    row.seconds = core::secondsFromPicoseconds(sum.time);
    if (sum.time > 0) {
      row.busBandwidth = sum.busBytes / row.seconds;
      row.share = sum.fullRate / static_cast<double>(sum.time);
      row.lostSeconds = (static_cast<double>(sum.time) - sum.fullRate) * 1e-12;
    }
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &NetworkGroupRow::seconds);
  return rows;
}

double NetworkMap::carried(LinkTier tier, std::optional<TimeRange> range) const {
  double sum = 0;
  for (const NetworkFlow& flow : flows_)
    if (counts(flow, range)) sum += flow.carried[static_cast<std::size_t>(tier)];
  return sum;
}

TrafficMatrix NetworkMap::matrix(std::optional<TimeRange> range) const {
  TrafficMatrix matrix;
  matrix.nodes = core::ceilDivide(gpus_, gpusPerNode_);
  matrix.nodesPerBin = core::ceilDivide(matrix.nodes, TrafficMatrix::kMostBins);
  matrix.bins = core::ceilDivide(matrix.nodes, matrix.nodesPerBin);
  matrix.bytes.assign(static_cast<std::size_t>(matrix.bins * matrix.bins), 0);
  // By communicator: what goes over each hop of a ring, and what each pair of an all-to-all exchanges.
  std::map<core::Index, std::pair<double, double>> traffic;
  for (const NetworkFlow& flow : flows_) {
    if (!counts(flow, range)) continue;
    auto& [hop, pair] = traffic[flow.group];
    if (classOfPart(flow.part) == SliceClass::allToAll)
      pair += flow.bytes / static_cast<double>(group(flow).size);
    else
      hop += flow.busBytes;
  }
  for (const auto& [index, bytes] : traffic) {
    const CommGroup& group = log_->program->groups[index];
    if (group.size < 2) continue;
    const auto binOf = [&](std::int64_t rank) { return rank / gpusPerNode_ / matrix.nodesPerBin; };
    const auto add = [&](std::int64_t from, std::int64_t to, double value) {
      matrix.bytes[static_cast<std::size_t>(from * matrix.bins + to)] += value;
    };
    forEachGroup(group, gpus_, [&](std::int64_t base) {
      const auto member = [&](std::int64_t i) { return base + i % group.size * group.stride; };
      std::map<std::int64_t, std::int64_t> members;  // by bin
      for (std::int64_t i = 0; i < group.size; ++i) {
        if (bytes.first > 0) add(binOf(member(i)), binOf(member(i + 1)), bytes.first);
        ++members[binOf(member(i))];
      }
      if (bytes.second <= 0) return;
      for (const auto& [from, senders] : members)
        for (const auto& [to, receivers] : members) {
          const std::int64_t pairs = senders * receivers - (from == to ? senders : 0);
          add(from, to, bytes.second * static_cast<double>(pairs));
        }
    });
  }
  return matrix;
}

}  // namespace vsim::gui
