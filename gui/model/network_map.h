#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/profile/hardware.h"
#include "core/program/execution_log.h"
#include "gui/model/data_table.h"
#include "gui/model/load_curve.h"
#include "gui/model/timeline_data.h"

namespace vsim::gui {

/// Links that all GPUs of a cluster have alike, by how far they reach.
enum class LinkTier : std::uint8_t {
  local,  // a GPU to the others of its NVLink domain or node
  nic,    // a node (or rack) to its leaf switches
  spine,  // leaf switches to spines
};
inline constexpr std::size_t kLinkTiers = 3;

/// One tier of the network. Rates are bytes/s, one direction.
struct NetworkTier {
  std::string name;         // "NVLink", "NICs"
  std::string between;      // "GPU to NVSwitch"
  bool present = false;     // the cluster has it
  bool upperBound = false;  // loads are at most what is shown
  double perGpu = 0;        // a GPU's share of the line rate
  double perLink = 0, linksPerNode = 0;
  LoadCurve load;
};

/// A box of the picture: all members of one tier of the cluster, folded.
struct NetworkLayer {
  std::string name;  // "leaf switches"
  std::int64_t count = 0, linksDown = 0, linksUp = 0;
  double linkRate = 0;  // bytes/s, one direction; 0: none
  std::string note;
};

/// One collective as it ran on a class of ranks.
struct NetworkFlow {
  core::Picoseconds begin = 0, end = 0;
  std::uint32_t slice = 0;  // in the rank's log
  core::Index instruction = 0, group = 0;
  std::uint8_t step = 0, part = 0;           // part: of LoadParts
  LinkTier limit = LinkTier::local;          // the tier of which it takes the largest share
  double bytes = 0;                          // size as nccl-tests counts it
  double busBytes = 0;                       // what a GPU takes in
  std::array<double, kLinkTiers> carried{};  // bytes over a GPU's share of each tier
  double share = 0;                          // of the line rate of `limit`; 0: rate unknown
  [[nodiscard]] core::Picoseconds length() const { return end - begin; }
  /// Bytes/s, as nccl-tests defines it.
  [[nodiscard]] double busBandwidth() const;
  /// Time beyond what the line rate would take, picoseconds.
  [[nodiscard]] double lost() const { return (1.0 - share) * static_cast<double>(length()); }
};

/// Collectives of one kind on one communicator, in a range of time.
struct NetworkGroupRow {
  core::CollectiveKind kind = core::CollectiveKind::allGather;
  core::Index group = 0;
  std::string place;  // "16 nodes x 8 GPUs"
  LinkTier limit = LinkTier::local;
  std::int64_t count = 0;
  double bytes = 0, seconds = 0, busBandwidth = 0, share = 0, lostSeconds = 0;
};

/// Bytes that nodes send to nodes in one step, folded to at most kMostBins blocks of neighbouring nodes.
struct TrafficMatrix {
  static constexpr std::int64_t kMostBins = 64;
  std::int64_t nodes = 0, nodesPerBin = 1, bins = 0;
  std::vector<double> bytes;  // [from * bins + to]
  [[nodiscard]] double at(std::int64_t from, std::int64_t to) const {
    return bytes[static_cast<std::size_t>(from * bins + to)];
  }
};

/// What the collectives of a log do to the network of a cluster: from the log's data and the cluster's rates
/// alone. Immutable.
class NetworkMap {
 public:
  /// O(n log n) in the slices of the class. Without `cluster`, rates are unknown and there are no loads.
  NetworkMap(std::shared_ptr<const core::ExecutionLog> log, std::size_t rankClass,
             std::optional<core::ClusterHardware> cluster, std::int64_t gpus);

  [[nodiscard]] const core::ExecutionLog& log() const { return *log_; }
  [[nodiscard]] const core::RankLog& rank() const { return log_->ranks[rankClass_]; }
  [[nodiscard]] bool known() const { return cluster_.has_value(); }
  [[nodiscard]] const std::optional<core::ClusterHardware>& cluster() const { return cluster_; }
  [[nodiscard]] const std::vector<NetworkLayer>& layers() const { return layers_; }
  [[nodiscard]] const NetworkTier& tier(LinkTier tier) const {
    return tiers_[static_cast<std::size_t>(tier)];
  }
  /// "10,240 GPUs in 1,280 nodes, rail-optimized; bisection 256.0 TB/s, 1:1".
  [[nodiscard]] const std::string& summary() const { return summary_; }
  [[nodiscard]] std::int64_t gpus() const { return gpus_; }
  [[nodiscard]] std::int64_t gpusPerNode() const { return gpusPerNode_; }
  [[nodiscard]] double oversubscription() const { return oversubscription_; }

  [[nodiscard]] const std::vector<NetworkFlow>& flows() const { return flows_; }  // by begin
  [[nodiscard]] TimeRange whole() const { return whole_; }
  [[nodiscard]] TimeRange lastStep() const { return lastStep_; }  // empty: none completed
  [[nodiscard]] std::string nameOf(const NetworkFlow& flow) const;
  [[nodiscard]] const core::CommGroup& group(const NetworkFlow& flow) const {
    return log_->program->groups[flow.group];
  }

  /// Indices of flows that run at `time`, on `tier` where one is given. O(log n + hits) for flows of like
  /// lengths.
  [[nodiscard]] std::vector<std::size_t> runningAt(core::Picoseconds time,
                                                   std::optional<LinkTier> tier) const;
  /// Flows of the last step, or those that begin in the range, most lost time first.
  [[nodiscard]] std::vector<std::size_t> mostLost(std::optional<TimeRange> range, std::size_t most) const;
  /// The same flows by kind and communicator, longest first: as the report lists the last step.
  [[nodiscard]] std::vector<NetworkGroupRow> groupRows(std::optional<TimeRange> range) const;
  /// Bytes over the tier in those flows, of one GPU.
  [[nodiscard]] double carried(LinkTier tier, std::optional<TimeRange> range) const;
  /// Of the last step, or of the flows that begin in the range; all ranks doing as this class did.
  [[nodiscard]] TrafficMatrix matrix(std::optional<TimeRange> range) const;

  [[nodiscard]] DataTable flowTable() const;
  [[nodiscard]] DataTable lostTable(std::optional<TimeRange> range, std::size_t most) const;
  [[nodiscard]] DataTable runningTable(core::Picoseconds time, std::optional<LinkTier> tier) const;
  [[nodiscard]] DataTable groupTable(std::optional<TimeRange> range) const;
  [[nodiscard]] DataTable tierTable(std::optional<TimeRange> range) const;
  [[nodiscard]] DataTable matrixTable(std::optional<TimeRange> range) const;

 private:
  void describeCluster();
  void addFlows();
  void addLoads();
  void carry(NetworkFlow& flow, const core::Collective& collective) const;
  [[nodiscard]] bool counts(const NetworkFlow& flow, const std::optional<TimeRange>& range) const;
  [[nodiscard]] std::string placeOf(const core::CommGroup& group) const;

  std::shared_ptr<const core::ExecutionLog> log_;  // shared with the run and other views
  std::size_t rankClass_;
  std::optional<core::ClusterHardware> cluster_;
  std::int64_t gpus_ = 0, gpusPerNode_ = 8;
  double oversubscription_ = 1;
  std::array<NetworkTier, kLinkTiers> tiers_;
  std::vector<NetworkLayer> layers_;
  std::string summary_;
  std::vector<NetworkFlow> flows_;
  core::Picoseconds longest_ = 0;
  TimeRange whole_, lastStep_;
  std::optional<std::uint8_t> lastStepNumber_;
};

/// The class of ranks whose last step took longest.
[[nodiscard]] std::size_t slowestClass(const core::ExecutionLog& log);

/// The cluster of a run's scenario. Errors: no scenario; one that cannot be read any more.
[[nodiscard]] core::Result<core::ClusterHardware> clusterOf(const OpenedRun& run, int report);

[[nodiscard]] constexpr SliceClass classOfPart(std::size_t part) {
  constexpr SliceClass kClasses[] = {SliceClass::allGather, SliceClass::reduceScatter, SliceClass::allReduce,
                                     SliceClass::allToAll};
  return kClasses[part];
}

}  // namespace vsim::gui
