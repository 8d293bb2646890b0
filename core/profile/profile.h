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
  int line = 0;                 // in the profile file
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
  [[nodiscard]] std::int64_t nodes() const { return (ranks + ranksPerNode - 1) / ranksPerNode; }
};

/// One timed kernel launch. Sizes that are 0 were not given and match anything.
struct ProfiledOperation {
  std::string name;
  std::optional<DType> dtype;
  std::int64_t m = 0, n = 0, k = 0, groups = 0;
  std::int64_t batch = 0, sequence = 0, heads = 0, kvHeads = 0, headDim = 0;
  Bytes bytes = 0;  // read and written by one launch
  double seconds = 0;
  Origin origin;
};

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
};

/// What a collective and compute kernels do to each other while both run.
struct ProfiledInterference {
  CollectiveKind kind = CollectiveKind::allGather;
  Bytes bytes = 0;
  std::int64_t ranks = 1, ranksPerNode = 1;
  double computeSlowdown = 0;  // compute kernels take (1 + this) times as long
  double stretch = 0;          // the collective takes (1 + this) times as long
  Origin origin;
};

/// Host time of what a program's host thread does. Seconds.
struct ProfiledHost {
  double launch = 0;          // one kernel or collective launch
  double call = 0;            // one event, wait, or allocation served from the cache
  double driverAllocate = 0;  // one allocation that goes to the driver
  Origin origin;
};

/// A boundary that a collective's data may cross, and whether the profile has measured across it.
enum class Locality : std::uint8_t { node, nodes, racks };  // within a node, across nodes, across racks
inline constexpr std::string_view kLocalityNames[] = {"node", "nodes", "racks"};

/// The hardware that a profile was measured on.
struct ProfiledHardware {
  std::string executor;  // "cuda", "host"
  std::string device;    // "NVIDIA H200"
  ClusterHardware cluster;
  std::vector<Locality> measured, missing;  // levels of the job that collectives crossed, and that none did
  std::vector<std::pair<std::string, std::string>> versions;  // {"driver", "580.65"}
  std::string started, remark;  // "2026-11-30T12:00:00Z"; "clocks throttled: ..."
};

/// Measured costs of a small run.
struct Profile {
  std::string name, path, source;
  std::string gpu;
  std::int64_t gpus = 0, gpusPerNode = 0;
  std::vector<ProfiledOperation> operations;
  std::vector<ProfiledCollective> collectives;
  std::vector<ProfiledTerm> terms;
  std::vector<ProfiledInterference> interference;
  std::optional<ProfiledHost> host;
  std::optional<ProfiledHardware> hardware;  // of profiles that vsim measured
};

/// The profile as a file that readProfile reads back as the same profile, figures with four digits at least.
[[nodiscard]] std::string profileText(const Profile& profile);

/// Reads and checks a profile. Every problem is reported with file:line:column; nothing is kept of a bad
/// file.
ResultAll<Profile> readProfile(const std::string& path);
ResultAll<Profile> parseProfile(std::string_view text, const std::string& path);

/// The point of the same kind, group shape and (where both state one) data type whose size is within
/// `tolerance` of `bytes`, the nearest; null when there is none.
const ProfiledCollective* findCollective(const Profile&, CollectiveKind, Bytes bytes, std::int64_t ranks,
                                         std::int64_t ranksPerNode, DType, double tolerance = 0.02);

/// Time of a collective that the profile has: the point itself (with its provenance, scaled by the few
/// percent the sizes differ), or between two points of the same shape at most a factor of four apart
/// (fitted). nullopt: none.
std::optional<Cost> matchCollective(const Profile&, CollectiveKind, Bytes bytes, std::int64_t ranks,
                                    std::int64_t ranksPerNode, DType);

/// Time of all launches of `operation`, when the profile has one of that name whose stated sizes agree (bytes
/// within 2 %). A memory-bound kernel of the same name with other bytes, within a factor of 16, is scaled by
/// bytes: fitted.
std::optional<Cost> matchOperation(const Profile&, const Operation& operation);

}  // namespace vsim::core
