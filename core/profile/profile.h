#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/collective.h"
#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/base/operation.h"
#include "core/base/provenance.h"
#include "core/base/units.h"
#include "core/profile/cost.h"
#include "core/profile/hardware.h"

namespace vsim::core {

/// Where a figure of a profile comes from, and how sure it is.
struct Origin {
  Provenance provenance = Provenance::measured;
  std::string source;
  double relativeError = 0.05;  // one standard error as a fraction
  int line = 0;                 // in the profile file; no part of what the figure is
  bool operator==(const Origin& other) const {
    return provenance == other.provenance && source == other.source && relativeError == other.relativeError;
  }
};

/// One timed collective. Bytes follow NCCL's convention: the full gathered tensor; all-to-all: what one rank
/// sends.
struct ProfiledCollective {
  CollectiveKind kind = CollectiveKind::allGather;
  Bytes bytes = 0;
  std::int64_t ranks = 1, ranksPerNode = 1;
  std::optional<DType> dtype;
  double seconds = 0;
  Origin origin;
  bool aligned = true;      // every rank's slice starts at a multiple of 16 bytes
  std::int64_t stride = 1;  // ranks apart in the job: groups across nodes share the network differently
  /// The file does not say whether the data was aligned (published figures): the point serves either way.
  bool anyAlignment = false;
  [[nodiscard]] std::int64_t nodes() const { return (ranks + ranksPerNode - 1) / ranksPerNode; }
  bool operator==(const ProfiledCollective&) const = default;
};

/// One timed kernel launch. Sizes that are 0 were not given and match anything.
struct ProfiledOperation {
  std::string name;
  std::optional<OpKind> kind;  // nullopt: by the sizes and the name, see kindOf()
  std::optional<DType> dtype;
  std::int64_t m = 0, n = 0, k = 0, groups = 0;
  std::int64_t batch = 0, sequence = 0, heads = 0, kvHeads = 0, headDim = 0;
  Bytes bytes = 0;  // read and written by one launch
  double seconds = 0;
  Origin origin;
  bool operator==(const ProfiledOperation&) const = default;
};
inline constexpr std::string_view kOpKindNames[] = {"gemm", "grouped_gemm", "attention", "attention_backward",
                                                    "memory"};
/// What kind of kernel the point is: as stated, else a product where m, n and k are given (grouped with more
/// than one group), attention where sequence and head_dim are (backward: the name ends with ".bwd"), else
/// memory-bound.
[[nodiscard]] OpKind kindOf(const ProfiledOperation& point);

/// A parameter of the cost of a collective: t = hops * latency + payload / bandwidth.
enum class LinkTerm : std::uint8_t {
  intraNodeLatency,
  interNodeLatency,
  intraNodeBandwidth,
  interNodeBandwidth
};
inline constexpr std::string_view kLinkTermNames[] = {"intra_node_latency", "inter_node_latency",
                                                      "intra_node_bandwidth", "inter_node_bandwidth"};
inline constexpr std::size_t kLinkTerms = 4;

/// A term that is known from elsewhere: taken as it is where the points cannot determine it.
struct ProfiledTerm {
  std::optional<CollectiveKind> kind;  // nullopt: every kind that has no term of its own
  LinkTerm term = LinkTerm::interNodeLatency;
  double value = 0;  // seconds per hop, or bytes per second (inter-node: of one rank's share of the NICs)
  Origin origin;
  bool operator==(const ProfiledTerm&) const = default;
};

/// What a collective and compute kernels do to each other while both run.
struct ProfiledInterference {
  CollectiveKind kind = CollectiveKind::allGather;
  Bytes bytes = 0;
  std::int64_t ranks = 1, ranksPerNode = 1;
  double computeSlowdown = 0;  // compute kernels take (1 + this) times as long
  double stretch = 0;          // the collective takes (1 + this) times as long
  Origin origin;
  bool operator==(const ProfiledInterference&) const = default;
};

/// Host time of what a program's host thread does. Seconds; 0: not measured.
struct ProfiledHost {
  double launch = 0;          // one kernel or collective launch
  double call = 0;            // one event, wait, or allocation served from the cache
  double driverAllocate = 0;  // one allocation that goes to the driver
  Origin origin;
  bool operator==(const ProfiledHost&) const = default;
};

/// A boundary that a collective's data may cross, and whether the profile has measured across it.
enum class Locality : std::uint8_t { node, nodes, racks };  // within a node, across nodes, across racks
inline constexpr std::string_view kLocalityNames[] = {"node", "nodes", "racks"};

/// What the devices ran at while they were measured. 0: not known.
struct ProfiledClocks {
  double ratedHertz = 0;                         // of the processors: what they are made for
  double processorHertz = 0, lowestHertz = 0;    // median, and the lowest that was seen
  double memoryHertz = 0;                        // median
  double powerWatts = 0, highestPowerWatts = 0;  // of one device: median, and the highest
  double celsius = 0;                            // the highest
  bool operator==(const ProfiledClocks&) const = default;
};

/// The hardware that a profile was measured on.
struct ProfiledHardware {
  std::string executor;  // "cuda", "host"
  std::string device;    // "NVIDIA H200"
  /// As `cluster:` of the file states it. Facts of the board that are 0 were not found; the simulator takes
  /// them from its catalogue.
  ClusterHardware cluster;
  /// Share of every kernel's work that the machine did (host executor): costs hold for that share alone.
  double scale = 1;
  std::vector<Locality> measured, missing;  // levels of the job that collectives crossed, and that none did
  std::vector<std::pair<std::string, std::string>> versions;  // {"driver", "580.65"}
  std::string started, remark;  // "2026-11-30T12:00:00Z"; "clocks throttled: ..."
  ProfiledClocks clocks;
  bool operator==(const ProfiledHardware&) const = default;
};

/// Measured costs of a small run.
struct Profile {
  std::string name, path, source;
  std::string gpu;                         // with `hardware`: its cluster's board
  std::int64_t gpus = 0, gpusPerNode = 0;  // with `hardware`: gpusPerNode is its cluster's
  std::vector<ProfiledOperation> operations;
  std::vector<ProfiledCollective> collectives;
  std::vector<ProfiledTerm> terms;
  std::vector<ProfiledInterference> interference;
  std::optional<ProfiledHost> host;
  std::optional<ProfiledHardware> hardware;  // of profiles that vsim measured
};

/// `profile` with its entries in the order of a written file: by kind or name, then group, then size.
[[nodiscard]] Profile sortedProfile(Profile profile);

/// The profile as a file that readProfile reads back as sortedProfile() of the same, to the last bit. Left
/// out is what no reader takes: entries without a positive time (or value of a term). Errors are kept within
/// 0 and 1, interference within 0 and 1,000. Entries without a source take the file's.
[[nodiscard]] std::string profileText(const Profile& profile);

/// Reads and checks a profile. Every problem is reported with file:line:column; nothing is kept of a bad
/// file.
ResultAll<Profile> readProfile(const std::string& path);
ResultAll<Profile> parseProfile(std::string_view text, const std::string& path);

/// A collective that a cost is looked up for. Bytes as in ProfiledCollective.
struct CollectiveQuery {
  CollectiveKind kind = CollectiveKind::allGather;
  Bytes bytes = 0;
  std::int64_t ranks = 1, ranksPerNode = 1, stride = 1;
  DType dtype = DType::bf16;
  bool aligned = true;
};

/// The point of the same kind, group shape, alignment and (where both state one) data type whose size is
/// within `tolerance` of the query's, the nearest; of equally near ones that with the same stride first, then
/// the first. Inside a node the stride does not count. Null when there is none.
const ProfiledCollective* findCollective(const Profile&, const CollectiveQuery&, double tolerance = 0.02);

/// Time of a collective that the profile has: the point itself (with its provenance, scaled by the few
/// percent the sizes differ), or between two points of the same shape at most a factor of four apart
/// (fitted). Points of another stride serve where none of the same does: fitted. nullopt: none.
std::optional<Cost> matchCollective(const Profile&, const CollectiveQuery&);

/// The measured interference that is nearest to the query: same kind, same ranks and ranks per node, nearest
/// size by ratio. Where the group was not measured, one of the kind that crosses nodes like the query's (or
/// stays in one like it), with the nearest number of ranks. Null: none.
const ProfiledInterference* nearestInterference(const Profile&, const CollectiveQuery&);

/// Time of all launches of `operation`, when the profile has one of that name whose stated sizes agree (bytes
/// within 2 %). A memory-bound kernel of the same name with other bytes, within a factor of 16, is scaled by
/// bytes: fitted.
std::optional<Cost> matchOperation(const Profile&, const Operation& operation);

}  // namespace vsim::core
