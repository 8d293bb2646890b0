#pragma once

#include <cstdint>
#include <string>

#include "core/base/collective.h"
#include "core/profile/cost.h"
#include "core/profile/hardware.h"
#include "sim/network/group_shape.h"
#include "sim/network/nccl_constants.h"
#include "sim/network/network_parameters.h"

namespace vsim::sim {

/// What NCCL would pick for one call, and what it takes. Seconds.
struct Choice {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  int channels = 0;
  double latency = 0;
  double bandwidthTime = 0;
  double bound = 0;  // bytes over the links' line rate: no choice is faster
  [[nodiscard]] double seconds() const {
    const double sum = latency + bandwidthTime;
    return sum > bound ? sum : bound;
  }
};

/// Bytes each GPU receives: the payload of "bus bandwidth" in nccl-tests (S (n-1)/n; all-reduce twice that;
/// broadcast S).
double busBytes(core::CollectiveKind, std::int64_t bytes, int ranks);

/// Least time that the links allow, whatever the algorithm, in seconds: what must enter a GPU over its own
/// links (NVLink or PCIe, and its share of NICs) and what must enter a domain over the group's NIC share, at
/// line rate. All-reduce inside one NVLink domain with a switch: the switch may add, so S and not 2 S
/// (n-1)/n.
double lowerBoundSeconds(const core::ClusterHardware&, const GroupShape&, core::CollectiveKind,
                         std::int64_t bytes);

/// Times of NCCL collectives from the hardware alone: NCCL's algorithms, protocols, channels and tuning
/// constants (2.30), with latencies and efficiencies of NetworkParameters where the constants are known to be
/// far off. Immutable and thread-safe.
class CollectiveModel {
 public:
  explicit CollectiveModel(core::ClusterHardware cluster, NetworkParameters parameters = {});

  /// `bytes` follow NCCL's size: the full gathered tensor of all-gather, reduce-scatter and all-reduce, the
  /// buffer of a broadcast, the bytes one rank sends to all (itself too) in an all-to-all. `aligned16`: every
  /// rank's slice starts at a multiple of 16 bytes. A group of one, or nothing to move: no time at all.
  /// Cost::slowdown is the share of SMs that the channels take plus the share of HBM bandwidth.
  [[nodiscard]] core::Cost cost(core::CollectiveKind, std::int64_t bytes, const core::CommGroup&,
                                bool aligned16 = true, core::DType = core::DType::bf16) const;

  [[nodiscard]] Choice explain(core::CollectiveKind, std::int64_t bytes, const core::CommGroup&,
                               bool aligned16 = true, core::DType = core::DType::bf16) const;

  /// The share of SMs and of HBM bandwidth that a collective of `seconds` takes from compute kernels.
  [[nodiscard]] double slowdown(core::CollectiveKind, std::int64_t bytes, int ranks, int channels,
                                double seconds) const;

  [[nodiscard]] const core::ClusterHardware& cluster() const { return cluster_; }
  [[nodiscard]] const NetworkParameters& parameters() const { return parameters_; }

 private:
  core::ClusterHardware cluster_;
  NetworkParameters parameters_;
};

}  // namespace vsim::sim
