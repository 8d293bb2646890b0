#include "core/profile/read_costs.h"

#include <set>
#include <tuple>

#include "core/profile/quantity.h"

namespace vsim::core {
namespace {

using Keys = YamlFields::Keys;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

/// Kind, size and group of a collective or of its interference.
template <class Entry>
void readShape(YamlFields& fields, const YAML::Node& node, const std::string& what, Entry& entry) {
  fields.require(node, what, {"kind", "bytes", "ranks", "ranks_per_node"});
  if (const auto kind = fields.choice(node, "kind", kCollectiveNames))
    entry.kind = static_cast<CollectiveKind>(*kind);
  entry.bytes = fields.whole(node, "bytes", 1, kMostBytes).value_or(0);
  entry.ranks = fields.whole(node, "ranks", 2, kMostRanks).value_or(0);
  entry.ranksPerNode = fields.whole(node, "ranks_per_node", 1, kMostRanks).value_or(0);
  if (entry.ranks > 0 && entry.ranksPerNode > entry.ranks)
    fields.add(YamlFields::find(node, "ranks_per_node").Mark(), "'ranks_per_node' is larger than 'ranks'");
}

double secondsOfBusBandwidth(const ProfiledCollective& point, double bandwidth) {
  const double share = static_cast<double>(point.ranks - 1) / static_cast<double>(point.ranks);
  const double factor = point.kind == CollectiveKind::allReduce   ? 2 * share
                        : point.kind == CollectiveKind::broadcast ? 1
                                                                  : share;
  return static_cast<double>(point.bytes) * factor / bandwidth;
}

}  // namespace

ProfiledCollective readCollective(YamlFields& fields, const YAML::Node& node, const Origin& defaults) {
  ProfiledCollective point;
  const std::string what = "a collective";
  if (!fields.checkMap(node, what,
                       {"kind", "bytes", "ranks", "ranks_per_node", "stride", "aligned", "dtype", "time",
                        "bus_bandwidth", "error", "provenance", "source"})) {
    return point;
  }
  readShape(fields, node, what, point);
  point.stride = fields.whole(node, "stride", 1, kMostRanks).value_or(1);
  point.anyAlignment = !YamlFields::has(node, "aligned");
  point.aligned = fields.flag(node, "aligned").value_or(true);
  point.dtype = fields.dtype(node);
  const auto seconds = fields.quantity(node, "time", secondsFromText, "43.71ms");
  const auto bandwidth = fields.quantity(node, "bus_bandwidth", bytesPerSecondFromText, "145GB/s");
  if (YamlFields::has(node, "time") == YamlFields::has(node, "bus_bandwidth")) {
    fields.add(node.Mark(), "a collective needs either 'time' or 'bus_bandwidth'");
  } else if (seconds) {
    point.seconds = *seconds;
  } else if (bandwidth && point.ranks > 1) {
    point.seconds = secondsOfBusBandwidth(point, *bandwidth);
  }
  point.origin = fields.origin(node, defaults, what);
  return point;
}

ProfiledOperation readOperation(YamlFields& fields, const YAML::Node& node, const Origin& defaults) {
  ProfiledOperation point;
  const std::string what = "an operation";
  if (!fields.checkMap(node, what,
                       {"name", "kind", "dtype", "m", "n", "k", "groups", "batch", "sequence", "heads",
                        "kv_heads", "head_dim", "bytes", "time", "error", "provenance", "source"})) {
    return point;
  }
  fields.require(node, what, {"name", "time"});
  point.name = fields.text(node, "name").value_or("");
  if (const auto kind = fields.choice(node, "kind", kOpKindNames)) point.kind = static_cast<OpKind>(*kind);
  point.dtype = fields.dtype(node);
  constexpr std::int64_t most = std::int64_t{1} << 48;
  for (const auto& [key, field] : {std::pair{"m", &point.m}, std::pair{"n", &point.n},
                                   std::pair{"k", &point.k}, std::pair{"groups", &point.groups},
                                   std::pair{"batch", &point.batch}, std::pair{"sequence", &point.sequence},
                                   std::pair{"heads", &point.heads}, std::pair{"kv_heads", &point.kvHeads},
                                   std::pair{"head_dim", &point.headDim}, std::pair{"bytes", &point.bytes}}) {
    *field = fields.whole(node, key, 1, most).value_or(0);
  }
  point.seconds = fields.quantity(node, "time", secondsFromText, "5.22ms").value_or(0);
  point.origin = fields.origin(node, defaults, what);
  return point;
}

ProfiledTerm readTerm(YamlFields& fields, const YAML::Node& node, const Origin& defaults) {
  ProfiledTerm term;
  const std::string what = "a term";
  if (!fields.checkMap(node, what, {"kind", "term", "value", "error", "provenance", "source"})) return term;
  fields.require(node, what, {"term", "value"});
  if (const auto kind = fields.choice(node, "kind", kCollectiveNames))
    term.kind = static_cast<CollectiveKind>(*kind);
  if (const auto which = fields.choice(node, "term", kLinkTermNames)) {
    term.term = static_cast<LinkTerm>(*which);
    const bool latency = term.term == LinkTerm::intraNodeLatency || term.term == LinkTerm::interNodeLatency;
    term.value = (latency ? fields.quantity(node, "value", secondsFromText, "8.5us")
                          : fields.quantity(node, "value", bytesPerSecondFromText, "40GB/s"))
                     .value_or(0);
  }
  term.origin = fields.origin(node, defaults, what);
  return term;
}

ProfiledInterference readInterference(YamlFields& fields, const YAML::Node& node, const Origin& defaults) {
  ProfiledInterference entry;
  const std::string what = "an interference";
  if (!fields.checkMap(node, what,
                       {"kind", "bytes", "ranks", "ranks_per_node", "compute_slowdown", "stretch", "error",
                        "provenance", "source"})) {
    return entry;
  }
  readShape(fields, node, what, entry);
  fields.require(node, what, {"compute_slowdown", "stretch"});
  const std::string range = "a number between 0 and 1000";
  entry.computeSlowdown = fields.number(node, "compute_slowdown", 0, 1000, range).value_or(0);
  entry.stretch = fields.number(node, "stretch", 0, 1000, range).value_or(0);
  entry.origin = fields.origin(node, defaults, what);
  return entry;
}

ProfiledHost readHost(YamlFields& fields, const YAML::Node& node, const Origin& defaults) {
  ProfiledHost host;
  if (!fields.checkMap(node, "host", {"launch", "call", "driver_allocate", "error", "provenance", "source"}))
    return host;
  host.launch = fields.quantity(node, "launch", secondsFromText, "4.1us").value_or(0);
  host.call = fields.quantity(node, "call", secondsFromText, "0.8us").value_or(0);
  host.driverAllocate = fields.quantity(node, "driver_allocate", secondsFromText, "210us").value_or(0);
  // Longer than a minute is a unit mistaken, and would overflow where a program launches many kernels.
  for (const auto& [key, seconds] : {std::pair{"launch", host.launch}, std::pair{"call", host.call},
                                     std::pair{"driver_allocate", host.driverAllocate}})
    if (seconds > 60)
      fields.add(YamlFields::find(node, key).Mark(),
                 fmt::format("'{}' must be below a minute, not {}", key,
                             YamlFields::shown(YamlFields::find(node, key))));
  host.origin = fields.origin(node, defaults, "host");
  return host;
}

void checkDuplicates(YamlFields& fields, const Profile& profile) {
  std::set<std::tuple<int, Bytes, std::int64_t, std::int64_t, std::int64_t, int, int>> points;
  for (const ProfiledCollective& c : profile.collectives) {
    const int alignment = c.anyAlignment ? 2 : c.aligned ? 1 : 0;
    if (c.bytes > 0 && !points
                            .insert({static_cast<int>(c.kind), c.bytes, c.ranks, c.ranksPerNode, c.stride,
                                     c.dtype ? static_cast<int>(*c.dtype) : -1, alignment})
                            .second)
      fields.addAt(c.origin.line,
                   fmt::format("{} of {} bytes on {} ranks appears twice",
                               kCollectiveNames[static_cast<std::size_t>(c.kind)], c.bytes, c.ranks));
  }
  std::set<std::tuple<std::string, int, int, std::vector<std::int64_t>>> operations;
  for (const ProfiledOperation& o : profile.operations) {
    const std::vector<std::int64_t> sizes{o.m,        o.n,     o.k,       o.groups,  o.batch,
                                          o.sequence, o.heads, o.kvHeads, o.headDim, o.bytes};
    if (!o.name.empty() && !operations
                                .insert({o.name, o.kind ? static_cast<int>(*o.kind) : -1,
                                         o.dtype ? static_cast<int>(*o.dtype) : -1, sizes})
                                .second)
      fields.addAt(o.origin.line,
                   fmt::format("operation '{}' appears twice with the same sizes", YamlFields::clip(o.name)));
  }
  std::set<std::pair<int, int>> terms;
  for (const ProfiledTerm& t : profile.terms) {
    if (!terms.insert({t.kind ? static_cast<int>(*t.kind) : -1, static_cast<int>(t.term)}).second)
      fields.addAt(t.origin.line,
                   fmt::format("term {} appears twice", kLinkTermNames[static_cast<std::size_t>(t.term)]));
  }
  std::set<std::tuple<int, Bytes, std::int64_t, std::int64_t>> interference;
  for (const ProfiledInterference& i : profile.interference) {
    if (!interference.insert({static_cast<int>(i.kind), i.bytes, i.ranks, i.ranksPerNode}).second)
      fields.addAt(i.origin.line,
                   fmt::format("interference of {} of {} bytes on {} ranks appears twice",
                               kCollectiveNames[static_cast<std::size_t>(i.kind)], i.bytes, i.ranks));
  }
}

}  // namespace vsim::core
