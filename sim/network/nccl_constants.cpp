#include "sim/network/nccl_constants.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

namespace vsim::sim {
namespace nccl {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kGiga = 1e9;
constexpr std::size_t index(Protocol p) { return static_cast<std::size_t>(p); }

/// Rows: Volta, Ampere, Hopper, Blackwell.
std::size_t archRow(int computeCapability) {
  if (computeCapability >= 100) return 3;
  if (computeCapability >= 90) return 2;
  return computeCapability >= 80 ? 1 : 0;
}
/// Columns: 1, 2, more domains.
std::size_t domainColumn(int domains) { return domains <= 1 ? 0 : domains == 2 ? 1 : 2; }

}  // namespace

double baseLatency(Algorithm algorithm, Protocol protocol) {
  constexpr std::array<double, 3> tree{6.8, 14, 8.4}, ring{6.6, 14, 8.4};
  switch (algorithm) {
    case Algorithm::tree:
      return tree[index(protocol)] * kMicro;
    case Algorithm::ring:
      return ring[index(protocol)] * kMicro;
    case Algorithm::pat:
      return 8 * kMicro;
    default:
      return 0;
  }
}

double hopLatency(Hop hop, Algorithm algorithm, Protocol protocol) {
  constexpr std::array<std::array<double, 3>, 3> tree{{{.6, 1.25, 4.0}, {1.0, 1.9, 4.0}, {5.0, 8.5, 14}}};
  constexpr std::array<std::array<double, 3>, 3> ring{{{.6, 1.9, 3.4}, {1.0, 2.5, 5.7}, {2.7, 4.0, 14}}};
  const auto row = static_cast<std::size_t>(hop);
  switch (algorithm) {
    case Algorithm::tree:
      return tree[row][index(protocol)] * kMicro;
    case Algorithm::ring:
    case Algorithm::pairwise:
      return ring[row][index(protocol)] * kMicro;
    case Algorithm::nvls:
      return (hop == Hop::network ? 18 : 25) * kMicro;
    case Algorithm::nvlsTree:
      return (hop == Hop::network ? 20.9 : 25) * kMicro;
    case Algorithm::pat:
      return (hop == Hop::network ? 14 : 4) * kMicro;
  }
  return 0;
}

double networkOverhead(bool amdHost, Protocol protocol) {
  return (amdHost ? 2.0 : 1.0) * (protocol == Protocol::simple ? 3 : 1) * kMicro;
}

double llBandwidthCap(int computeCapability, int domains, bool amdHost) {
  constexpr std::array<std::array<double, 3>, 4> cap{
      {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141, 45, 35}, {282, 90, 70}}};
  const std::size_t row = domains <= 1 ? archRow(computeCapability) : (amdHost ? 1 : 0);
  return cap[row][domainColumn(domains)] * kGiga;
}

double ringLl128PerChannel(int computeCapability) {
  constexpr std::array<double, 4> cap{20, 20, 36.7, 40};
  return cap[archRow(computeCapability)] * kGiga;
}

double treePerChannel(int computeCapability, int domains, Protocol protocol) {
  constexpr std::array<std::array<double, 3>, 4> simple{
      {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
  constexpr std::array<std::array<double, 3>, 4> ll128{
      {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
  const auto& table = protocol == Protocol::ll128 ? ll128 : simple;
  return table[archRow(computeCapability)][domainColumn(domains)] * kGiga;
}

double treeCorrection(Protocol protocol, std::int64_t bytes) {
  constexpr std::array<std::array<double, 24>, 3> factor{
      {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
       {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
       {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};
  const auto sixtyFours = static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes)) / 64;
  if (sixtyFours == 0) return 1;
  const auto k = static_cast<int>(std::bit_width(sixtyFours)) - 1;
  return k >= 23 ? 1.0 : factor[index(protocol)][static_cast<std::size_t>(k)];
}

double effectiveNvlink(int computeCapability, double datasheet) {
  // Per link NCCL counts 20 GB/s of 25 (V100, A100), 20.6 of 25 (H100) and 40.1 of 50 (B200).
  constexpr std::array<double, 4> share{20.0 / 25, 20.0 / 25, 20.6 / 25, 40.1 / 50};
  return datasheet * share[archRow(computeCapability)];
}

}  // namespace nccl

namespace {

/// Per-channel speeds that the search tries inside a node, fastest first, in GB/s.
std::span<const double> searchSpeeds(int computeCapability) {
  static constexpr std::array<double, 13> old{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
  static constexpr std::array<double, 11> hopper{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
  static constexpr std::array<double, 12> blackwell{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
  if (computeCapability >= 100) return blackwell;
  if (computeCapability >= 90) return hopper;
  return old;
}

/// NCCL's logs show 12 rings on NVSwitch systems (12 x 20 GB/s on A100, 12 x 30 on H100).
constexpr int kMostSearchChannels = 12;
constexpr int kMostChannels = 32;

}  // namespace

RingGraph ringGraph(int computeCapability, double localBytesPerSecond, bool nvlink, int domains,
                    int ranksPerDomain, double nicBytesPerSecond) {
  RingGraph graph;
  const double local =
      nvlink ? nccl::effectiveNvlink(computeCapability, localBytesPerSecond) : localBytesPerSecond;
  int localChannels = 1;
  if (local > 0) {
    graph.localBytesPerSecond = local;
    double best = 0;
    for (const double speed : searchSpeeds(computeCapability)) {
      const int channels = std::min(kMostSearchChannels, static_cast<int>(local / (speed * 1e9)));
      const double total = channels * speed * 1e9;
      if (channels >= 1 && total >= best) {
        best = total;
        localChannels = channels;
      }
    }
    if (best > 0) graph.localBytesPerSecond = best;
  }
  if (domains <= 1) {
    graph.searchChannels = localChannels;
    graph.channels = std::min(kMostChannels, 2 * localChannels);
    return graph;
  }
  graph.searchChannels = std::min(ranksPerDomain, kMostSearchChannels);
  graph.channels = std::min(kMostChannels, 2 * graph.searchChannels);
  const double perChannel = nicBytesPerSecond / graph.searchChannels;
  if (computeCapability >= 90 && perChannel > 45e9 && graph.channels < 16) graph.channels *= 2;
  return graph;
}

int channelsForSize(int channels, int ranks, Algorithm algorithm, Protocol protocol, std::int64_t bytes) {
  if (algorithm == Algorithm::nvls || algorithm == Algorithm::nvlsTree || algorithm == Algorithm::pairwise) {
    return channels;
  }
  const double threads = protocol == Protocol::ll128 ? 640 : 512;
  double threshold = protocol == Protocol::simple ? 64 : 8;
  if (protocol == Protocol::ll && algorithm == Algorithm::ring) threshold *= ranks;
  const double used = std::floor(static_cast<double>(bytes) / (threads * threshold));
  return static_cast<int>(std::clamp<double>(used, 1, channels));
}

}  // namespace vsim::sim
