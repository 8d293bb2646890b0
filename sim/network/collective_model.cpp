#include "sim/network/collective_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

namespace vsim::sim {
namespace {

using core::CollectiveKind;
using nccl::Hop;

/// One call while its candidates are compared.
struct Call {
  const core::ClusterHardware& cluster;
  const NetworkParameters& parameters;
  GroupShape shape;
  RingGraph graph;
  CollectiveKind kind;
  std::int64_t bytes;
  bool aligned16;

  [[nodiscard]] int cc() const { return cluster.gpu.computeCapability; }
  [[nodiscard]] double extraBase() const {
    return cc() >= 100 ? parameters.extraBaseBlackwell : cc() >= 90 ? 0 : parameters.extraBaseAmpere;
  }
  [[nodiscard]] Hop localHop() const { return shape.nvlink ? Hop::nvlink : Hop::pcie; }
  /// Extra time of large-message kernels below 8 GiB.
  [[nodiscard]] double ramp() const {
    const double halvings = std::log2(8.0 * (1LL << 30) / static_cast<double>(bytes));
    return 1 + std::clamp(parameters.rampPerHalving * halvings, 0.0, parameters.rampCeiling);
  }
  [[nodiscard]] double networkHop(Algorithm algorithm, Protocol protocol) const {
    // The plug-in's latency counts once, and once more for Simple's flush of the received data.
    const double times = protocol == Protocol::ll       ? parameters.reportedLatencyLl
                         : protocol == Protocol::simple ? 2.0
                                                        : 1.0;
    return nccl::hopLatency(Hop::network, algorithm, protocol) + cluster.nicLatencySeconds * times;
  }
  [[nodiscard]] double byGeneration(double ampere, double hopper, double blackwell) const {
    return cc() >= 100 ? blackwell : cc() >= 90 ? hopper : ampere;
  }
};

/// Rate at which a ring inside a domain copies.
double localRingRate(const Call& call) {
  const NetworkParameters& p = call.parameters;
  return call.graph.localBytesPerSecond *
         (call.shape.acrossDomains()
              ? p.ringEfficiencyAcrossNodes
              : call.byGeneration(p.ringEfficiencyAmpere, p.ringEfficiencyHopper, p.ringEfficiencyBlackwell));
}

/// Bus bandwidth of a ring with plain copies: the slower of the local links and the NICs.
double ringRate(const Call& call) {
  const double local = localRingRate(call);
  if (!call.shape.acrossDomains()) return local;
  const double nic = call.shape.nicBytesPerSecond * call.parameters.nicEfficiency;
  return local > 0 ? std::min(local, nic) : nic;
}

double misalignment(const Call& call, Protocol protocol) {
  if (call.aligned16 || protocol == Protocol::ll) return 1;  // LL moves 8-byte words with flags anyway
  const bool reduces = call.kind == CollectiveKind::reduceScatter || call.kind == CollectiveKind::allReduce;
  return reduces ? call.parameters.misalignedReduce : call.parameters.misalignedCopy;
}

bool available(const Call& call, Protocol protocol) {
  return protocol != Protocol::ll128 || call.shape.nvlink;
}

/// Times every choice shares: `rate` is the bus bandwidth in bytes/s.
Choice finish(const Call& call, Algorithm algorithm, Protocol protocol, double latency, double rate) {
  Choice choice;
  choice.algorithm = algorithm;
  choice.protocol = protocol;
  choice.latency = latency + call.extraBase();
  const double payload = busBytes(call.kind, call.bytes, call.shape.ranks);
  choice.bandwidthTime = payload / rate;
  const double penalty = misalignment(call, protocol);
  if (penalty > 1) {
    // Copies slow down; the wire does not: what the slower of both allows.
    const double copies = localRingRate(call) > 0 ? localRingRate(call) : rate;
    choice.bandwidthTime = std::max(choice.bandwidthTime, payload / copies * penalty);
  }
  choice.channels = channelsForSize(call.graph.channels, call.shape.ranks, algorithm, protocol, call.bytes);
  return choice;
}

/// Ring latency of all steps. Passes: 2 for all-reduce.
double ringLatency(const Call& call, Protocol protocol) {
  const double passes = call.kind == CollectiveKind::allReduce ? 2 : 1;
  const double local = nccl::hopLatency(call.localHop(), Algorithm::ring, protocol);
  const double n = call.shape.ranks, domains = call.shape.domains;
  if (!call.shape.acrossDomains()) return passes * (n - 1) * local;
  const double slowLocal = std::max(local, nccl::networkOverhead(call.cluster.amdHost, protocol));
  const Algorithm hop = call.shape.ranksPerDomain == 1 ? Algorithm::tree : Algorithm::ring;
  const double constants = (n - domains) * slowLocal + (domains - 1) * call.networkHop(hop, protocol);
  if (protocol == Protocol::ll) return passes * constants;
  // Two nodes show about half of the latency per rank that ten and more show.
  const double measured = call.parameters.ringRankLatency * n * (domains - 1) / domains;
  return passes * std::max(constants, measured);
}

Choice ring(const Call& call, Protocol protocol) {
  double rate = ringRate(call);
  if (protocol == Protocol::ll) {
    rate = std::min(nccl::llBandwidthCap(call.cc(), call.shape.domains, call.cluster.amdHost), rate * 0.5);
  } else if (protocol == Protocol::ll128) {
    rate = std::min(rate * 0.92, call.graph.channels * nccl::ringLl128PerChannel(call.cc()));
  } else {
    rate /= call.ramp();
  }
  const double latency = nccl::baseLatency(Algorithm::ring, protocol) + ringLatency(call, protocol);
  return finish(call, Algorithm::ring, protocol, latency, rate);
}

Choice tree(const Call& call, Protocol protocol) {
  const double domains = call.shape.domains, n = call.shape.ranks;
  double rate = ringRate(call) * 0.92;
  if (protocol != Protocol::ll) {
    rate =
        std::min(rate, call.graph.channels * nccl::treePerChannel(call.cc(), call.shape.domains, protocol));
  }
  if (protocol == Protocol::ll) {
    rate = std::min(ringRate(call) / 3.8,
                    nccl::llBandwidthCap(call.cc(), call.shape.domains, call.cluster.amdHost));
  } else if (protocol == Protocol::ll128) {
    rate = std::min(rate, ringRate(call) * (call.shape.acrossDomains() ? 120.0 / 128 : 7.0 / 9));
  }
  rate *= nccl::treeCorrection(protocol, call.bytes);
  rate *= 0.5 * 2 * (n - 1) / n;  // the tree's algorithm bandwidth is half: as bus bandwidth
  const double levels = std::bit_width(static_cast<unsigned>(domains)) - 1;
  const double hops =
      (call.shape.ranksPerDomain - 1) * nccl::hopLatency(call.localHop(), Algorithm::tree, protocol) +
      levels * call.networkHop(Algorithm::tree, protocol);
  return finish(call, Algorithm::tree, protocol, nccl::baseLatency(Algorithm::tree, protocol) + 2 * hops,
                rate);
}

/// All-reduce added in the NVLink switch, across domains by a tree over the NICs.
std::optional<Choice> nvls(const Call& call) {
  if (call.cc() < 90 || !call.cluster.nvSwitch || !call.shape.nvlink || call.shape.ranksPerDomain < 3)
    return {};
  const NetworkParameters& p = call.parameters;
  const double local = call.shape.localBytesPerSecond *
                       (call.cc() >= 100 ? p.nvlsEfficiencyBlackwell : p.nvlsEfficiencyHopper);
  if (!call.shape.acrossDomains()) {
    Choice choice = finish(call, Algorithm::nvls, Protocol::simple, p.nvlsLatency, local / call.ramp());
    choice.channels = call.cc() >= 100 ? 24 : 16;
    return choice;
  }
  const double levels = std::bit_width(static_cast<unsigned>(call.shape.domains)) - 1;
  const double latency = nccl::hopLatency(Hop::nvlink, Algorithm::nvlsTree, Protocol::simple) +
                         2 * levels *
                             (nccl::hopLatency(Hop::network, Algorithm::nvlsTree, Protocol::simple) +
                              call.cluster.nicLatencySeconds);
  // Two domains exchange halves in both directions at once; more relay up and down.
  const double nic = call.shape.nicBytesPerSecond *
                     (call.shape.domains == 2 ? 2 * p.nicEfficiency : p.nvlsTreeNicEfficiency);
  Choice choice =
      finish(call, Algorithm::nvlsTree, Protocol::simple, latency, std::min(local, nic) / call.ramp());
  choice.channels = call.cc() >= 100 ? 32 : 16;
  return choice;
}

/// All-gather or reduce-scatter by parallel trees: only where every domain holds one rank of the group.
std::optional<Choice> pat(const Call& call) {
  if (call.shape.ranksPerDomain != 1 || !call.shape.acrossDomains()) return {};
  const double levels = std::bit_width(static_cast<unsigned>(call.shape.domains)) - 1;
  const double latency = nccl::baseLatency(Algorithm::pat, Protocol::simple) +
                         levels * call.networkHop(Algorithm::pat, Protocol::simple) / 3.5 +
                         2.8e-6 * call.shape.ranks;
  return finish(call, Algorithm::pat, Protocol::simple, latency, ringRate(call) * 0.75 / call.ramp());
}

/// All-to-all: grouped sends and receives. Local and network traffic run side by side.
Choice allToAll(const Call& call) {
  const NetworkParameters& p = call.parameters;
  const double size = static_cast<double>(call.bytes);
  const double n = call.shape.ranks, perDomain = call.shape.ranksPerDomain;
  // 16 KiB per channel and peer still go as LL; above, the Simple protocol's handshake shows.
  constexpr double kLlPerPeer = 16 * 1024;
  const Protocol protocol = size / n <= kLlPerPeer ? Protocol::ll : Protocol::simple;
  double latency = 7.5e-6 + (protocol == Protocol::simple ? 6e-6 : 0);
  double local = 0;
  if (perDomain > 1) {
    local = call.shape.localBytesPerSecond *
            (call.shape.nvlink ? call.byGeneration(p.allToAllEfficiencyAmpere, p.allToAllEfficiencyHopper,
                                                   p.allToAllEfficiencyBlackwell)
                               : 0.8);
  }
  double seconds = local > 0 ? size * (perDomain - 1) / n / local * call.ramp() : 0;
  if (call.shape.acrossDomains()) {
    const double nic = call.shape.nicBytesPerSecond / perDomain * p.allToAllNicEfficiency;
    seconds = std::max(seconds, size * (n - perDomain) / n / nic);
    latency += (protocol == Protocol::ll ? p.allToAllRankLatencyLl : p.allToAllRankLatency) * n;
  }
  Choice choice = finish(call, Algorithm::pairwise, protocol, latency, 1e300);
  const double penalty = misalignment(call, protocol);
  choice.bandwidthTime = seconds;
  if (penalty > 1) {
    const double copies = local > 0 ? local : call.shape.nicBytesPerSecond;
    choice.bandwidthTime = std::max(seconds, size * (n - 1) / n / copies * penalty);
  }
  return choice;
}

/// What NCCL compares, in its order of enumeration: the first of equals wins.
std::vector<Choice> allCandidates(const Call& call) {
  if (call.kind == CollectiveKind::allToAll) return {allToAll(call)};
  const bool reduces = call.kind == CollectiveKind::allReduce;
  std::vector<Choice> candidates;
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128, Protocol::simple}) {
    if (!available(call, protocol)) continue;
    if (reduces) candidates.push_back(tree(call, protocol));
    candidates.push_back(ring(call, protocol));
  }
  if (const auto choice = reduces ? nvls(call) : std::nullopt) candidates.push_back(*choice);
  if (call.kind == CollectiveKind::allGather || call.kind == CollectiveKind::reduceScatter) {
    if (const auto choice = pat(call)) candidates.push_back(*choice);
  }
  return candidates;
}

}  // namespace

CollectiveModel::CollectiveModel(core::ClusterHardware cluster, NetworkParameters parameters)
    : cluster_(std::move(cluster)), parameters_(parameters) {}

Choice CollectiveModel::explain(CollectiveKind kind, std::int64_t bytes, const core::CommGroup& group,
                                bool aligned16, core::DType) const {
  const GroupShape shape = groupShape(cluster_, group);
  if (shape.ranks <= 1 || bytes <= 0) return {};
  Call call{cluster_,
            parameters_,
            shape,
            ringGraph(cluster_.gpu.computeCapability, shape.localBytesPerSecond, shape.nvlink, shape.domains,
                      shape.ranksPerDomain, shape.nicBytesPerSecond),
            kind,
            bytes,
            true};
  // NCCL's tuner knows nothing of alignment: it picks as if all were aligned.
  const std::vector<Choice> candidates = allCandidates(call);
  const auto best =
      std::min_element(candidates.begin(), candidates.end(),
                       [](const Choice& a, const Choice& b) { return a.seconds() < b.seconds(); });
  Choice choice = *best;
  if (!aligned16) {
    call.aligned16 = false;
    choice = allCandidates(call)[static_cast<std::size_t>(best - candidates.begin())];
  }
  choice.bound = lowerBoundSeconds(cluster_, shape, kind, bytes);
  return choice;
}

double CollectiveModel::slowdown(CollectiveKind kind, std::int64_t bytes, int ranks, int channels,
                                 double seconds) const {
  const double sms = cluster_.gpu.sms > 0 ? static_cast<double>(channels) / cluster_.gpu.sms : 0;
  const double traffic = parameters_.hbmBytesPerPayloadByte * busBytes(kind, bytes, ranks);
  const double hbm = seconds > 0 && cluster_.gpu.hbmBytesPerSecond > 0
                         ? traffic / seconds / cluster_.gpu.hbmBytesPerSecond
                         : 0;
  return std::min(1.0, sms + hbm);
}

core::Cost CollectiveModel::cost(CollectiveKind kind, std::int64_t bytes, const core::CommGroup& group,
                                 bool aligned16, core::DType dtype) const {
  const Choice choice = explain(kind, bytes, group, aligned16, dtype);
  core::Cost cost;
  cost.provenance = core::Provenance::modelled;
  const double seconds = choice.seconds();
  if (seconds <= 0) return cost;
  // Rounded up: never below the bound.
  cost.time = core::picosecondsFromSeconds(seconds + 1e-12);
  cost.slowdown = slowdown(kind, bytes, static_cast<int>(std::max<std::int64_t>(1, group.size)),
                           choice.channels, seconds);
  cost.relativeError = parameters_.relativeError;
  return cost;
}

}  // namespace vsim::sim
