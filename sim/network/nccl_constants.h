#pragma once

#include <cstdint>
#include <string_view>

namespace vsim::sim {

enum class Algorithm : std::uint8_t { tree, ring, nvls, nvlsTree, pat, pairwise };
enum class Protocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::string_view kAlgorithmNames[] = {"Tree", "Ring", "NVLS", "NVLSTree", "PAT", "P2P"};
inline constexpr std::string_view kProtocolNames[] = {"LL", "LL128", "Simple"};

/// Facts of NCCL 2.30.7 (src/graph/tuning.cc and search.cc). Latencies in seconds, rates in bytes/s.
namespace nccl {

/// What a collective costs before its first hop.
double baseLatency(Algorithm, Protocol);
enum class Hop : std::uint8_t { nvlink, pcie, network };
double hopLatency(Hop, Algorithm, Protocol);
/// CPU proxy's cost of posting one network send (ring only), three times that for Simple.
double networkOverhead(bool amdHost, Protocol);

/// Cap of a whole LL collective; `domains` > 1: by host vendor instead of GPU.
double llBandwidthCap(int computeCapability, int domains, bool amdHost);
/// Caps per channel.
double ringLl128PerChannel(int computeCapability);
double treePerChannel(int computeCapability, int domains, Protocol);
/// Factor on the tree's bandwidth by message size, from 64 bytes in steps of two.
double treeCorrection(Protocol, std::int64_t bytes);

/// Rate of one NVLink of a GPU that the datasheet gives `datasheet` one-way bytes/s in all.
double effectiveNvlink(int computeCapability, double datasheet);

}  // namespace nccl

/// Channels and ring rate that NCCL's graph search finds.
struct RingGraph {
  int searchChannels = 1;
  int channels = 1;                // thread blocks of a large collective: each takes one SM
  double localBytesPerSecond = 0;  // sum over channels inside a domain; 0 when the group has no local hop
};
RingGraph ringGraph(int computeCapability, double localBytesPerSecond, bool nvlink, int domains,
                    int ranksPerDomain, double nicBytesPerSecond);

/// Channels one call uses: NCCL drops channels while each thread would move too little.
int channelsForSize(int channels, int ranks, Algorithm, Protocol, std::int64_t bytes);

}  // namespace vsim::sim
