#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <tuple>

#include "core/profile/profile.h"
#include "core/profile/quantity.h"

namespace vsim::core {
namespace {

/// A scalar that a YAML reader takes as this text: in quotes unless it is a plain word.
std::string scalar(const std::string& text) {
  static const std::array<std::string_view, 9> kReserved{"true", "false", "null", "yes", "no",
                                                         "on",   "off",   "y",    "n"};
  std::string lower;
  bool plain = !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    plain = plain && byte < 0x80 && (std::isalnum(byte) || c == '_' || c == '.' || c == '-');
    lower += static_cast<char>(std::tolower(byte));
  }
  if (plain && std::find(kReserved.begin(), kReserved.end(), lower) == kReserved.end()) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

/// "key: value, key: value" of one flow map.
class Entry {
 public:
  void add(std::string_view key, std::string_view value) {
    text_ += fmt::format("{}{}: {}", text_.empty() ? "" : ", ", key, value);
  }
  void count(std::string_view key, std::int64_t value) {
    if (value > 0) add(key, fmt::format("{}", value));
  }
  void text(std::string_view key, const std::string& value) {
    if (!value.empty()) add(key, scalar(value));
  }
  void dtype(const std::optional<DType>& type) {
    if (type) add("dtype", name(*type));
  }
  /// A quantity that is left out when it is not known.
  void quantity(std::string_view key, double value, std::string (*write)(double)) {
    if (value > 0 && std::isfinite(value)) add(key, write(value));
  }
  void factor(std::string_view key, double value) {
    add(key, fmt::format("{}", std::isfinite(value) ? std::clamp(value, 0.0, 1000.0) : 0.0));
  }
  void origin(const Origin& origin, const std::string& fileSource) {
    add("error",
        fmt::format("{}",
                    std::isfinite(origin.relativeError) ? std::clamp(origin.relativeError, 0.0, 1.0) : 1.0));
    if (origin.provenance != Provenance::measured) add("provenance", name(origin.provenance));
    if (origin.source != fileSource) text("source", origin.source);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

bool usable(double value) { return value > 0 && value <= 1e18 && std::isfinite(value); }

std::string clusterText(const Profile& profile) {
  Entry entry;
  const GpuSpec gpu = profile.hardware ? profile.hardware->cluster.gpu : GpuSpec{};
  entry.text("gpu", profile.hardware ? gpu.name : profile.gpu);
  entry.count("gpus", profile.gpus);
  if (!profile.hardware) {
    entry.count("gpus_per_node", profile.gpusPerNode);
    return entry.text();
  }
  const ClusterHardware& cluster = profile.hardware->cluster;
  entry.count("gpus_per_node", cluster.gpusPerNode);
  entry.text("preset", cluster.preset);
  entry.text("family", gpu.family);
  entry.count("compute_capability", gpu.computeCapability);
  entry.count("sms", gpu.sms);
  entry.count("memory", gpu.memory);
  entry.quantity("bf16_peak", gpu.peakBf16, flopsPerSecondText);
  entry.quantity("fp8_peak", gpu.peakFp8, flopsPerSecondText);
  entry.quantity("fp32_peak", gpu.peakFp32, flopsPerSecondText);
  entry.quantity("hbm", gpu.hbmBytesPerSecond, bytesPerSecondText);
  entry.quantity("nvlink", gpu.nvlinkBytesPerSecond, bytesPerSecondText);
  entry.quantity("power", gpu.powerWatts, wattsText);
  entry.count("nvlink_domain", cluster.nvlinkDomain);
  entry.add("nvswitch", cluster.nvSwitch ? "true" : "false");
  entry.add("nics_per_node", fmt::format("{}", std::max(0, cluster.nicsPerNode)));
  entry.quantity("nic", cluster.nicBytesPerSecond, bytesPerSecondText);
  entry.quantity("nic_latency", cluster.nicLatencySeconds, secondsText);
  if (cluster.amdHost) entry.add("amd_host", "true");
  entry.add("fabric", cluster.fabric == FabricKind::clos ? "clos" : "rail_optimized");
  if (cluster.oversubscription > 1)
    entry.add("oversubscription", fmt::format("{}", cluster.oversubscription));
  entry.count("nodes_per_pod", cluster.nodesPerPod);
  return entry.text();
}

std::string levelsText(const std::vector<Locality>& levels) {
  std::string text;
  for (const Locality level : levels)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", kLocalityNames[static_cast<std::size_t>(level)]);
  return "[" + text + "]";
}

std::string clocksText(const ProfiledClocks& clocks) {
  Entry entry;
  entry.quantity("rated", clocks.ratedHertz, hertzText);
  entry.quantity("processors", clocks.processorHertz, hertzText);
  entry.quantity("lowest", clocks.lowestHertz, hertzText);
  entry.quantity("memory", clocks.memoryHertz, hertzText);
  entry.quantity("power", clocks.powerWatts, wattsText);
  entry.quantity("highest_power", clocks.highestPowerWatts, wattsText);
  entry.quantity("celsius", clocks.celsius, [](double value) { return fmt::format("{}", value); });
  return entry.text();
}

std::string hardwareText(const ProfiledHardware& hardware) {
  std::string out = "hardware:\n";
  const auto line = [&](std::string_view key, const std::string& value) {
    out += fmt::format("  {}: {}\n", key, value);
  };
  for (const auto& [key, value] :
       {std::pair{"executor", &hardware.executor}, std::pair{"device", &hardware.device},
        std::pair{"started", &hardware.started}, std::pair{"remark", &hardware.remark}})
    if (!value->empty()) line(key, scalar(*value));
  if (hardware.scale < 1 && hardware.scale > 0) line("scale", fmt::format("{}", hardware.scale));
  Entry versions;
  for (const auto& [key, value] : hardware.versions) versions.add(scalar(key), scalar(value));
  if (!hardware.versions.empty()) line("versions", "{" + versions.text() + "}");
  if (const std::string clocks = clocksText(hardware.clocks); !clocks.empty())
    line("clocks", "{" + clocks + "}");
  line("measured", levelsText(hardware.measured));
  line("missing", levelsText(hardware.missing));
  return out;
}

std::string collectiveText(const ProfiledCollective& c, const std::string& source) {
  Entry entry;
  entry.add("kind", kCollectiveNames[static_cast<std::size_t>(c.kind)]);
  entry.count("bytes", c.bytes);
  entry.count("ranks", c.ranks);
  entry.count("ranks_per_node", c.ranksPerNode);
  if (c.stride != 1) entry.count("stride", c.stride);
  if (!c.anyAlignment) entry.add("aligned", c.aligned ? "true" : "false");
  entry.dtype(c.dtype);
  entry.quantity("time", c.seconds, secondsText);
  entry.origin(c.origin, source);
  return entry.text();
}

std::string operationText(const ProfiledOperation& o, const std::string& source) {
  Entry entry;
  entry.text("name", o.name);
  if (o.kind) entry.add("kind", kOpKindNames[static_cast<std::size_t>(*o.kind)]);
  entry.dtype(o.dtype);
  for (const auto& [key, value] :
       {std::pair{"m", o.m}, std::pair{"n", o.n}, std::pair{"k", o.k}, std::pair{"groups", o.groups},
        std::pair{"batch", o.batch}, std::pair{"sequence", o.sequence}, std::pair{"heads", o.heads},
        std::pair{"kv_heads", o.kvHeads}, std::pair{"head_dim", o.headDim}, std::pair{"bytes", o.bytes}})
    entry.count(key, value);
  entry.quantity("time", o.seconds, secondsText);
  entry.origin(o.origin, source);
  return entry.text();
}

std::string termText(const ProfiledTerm& t, const std::string& source) {
  Entry entry;
  if (t.kind) entry.add("kind", kCollectiveNames[static_cast<std::size_t>(*t.kind)]);
  entry.add("term", kLinkTermNames[static_cast<std::size_t>(t.term)]);
  const bool latency = t.term == LinkTerm::intraNodeLatency || t.term == LinkTerm::interNodeLatency;
  entry.quantity("value", t.value, latency ? secondsText : bytesPerSecondText);
  entry.origin(t.origin, source);
  return entry.text();
}

std::string interferenceText(const ProfiledInterference& i, const std::string& source) {
  Entry entry;
  entry.add("kind", kCollectiveNames[static_cast<std::size_t>(i.kind)]);
  entry.count("bytes", i.bytes);
  entry.count("ranks", i.ranks);
  entry.count("ranks_per_node", i.ranksPerNode);
  entry.factor("compute_slowdown", i.computeSlowdown);
  entry.factor("stretch", i.stretch);
  entry.origin(i.origin, source);
  return entry.text();
}

std::string hostText(const ProfiledHost& host, const std::string& source) {
  Entry entry;
  entry.quantity("launch", host.launch, secondsText);
  entry.quantity("call", host.call, secondsText);
  entry.quantity("driver_allocate", host.driverAllocate, secondsText);
  entry.origin(host.origin, source);
  return entry.text();
}

template <class T, class Write>
void section(std::string& out, std::string_view key, const std::vector<T>& entries, Write write) {
  if (entries.empty()) return;
  out += fmt::format("\n{}:\n", key);
  for (const T& entry : entries) out += fmt::format("  - {{{}}}\n", write(entry));
}

auto orderOf(const ProfiledCollective& c) {
  return std::tuple(c.kind, c.ranks, c.ranksPerNode, c.stride, c.dtype, c.anyAlignment, !c.aligned, c.bytes);
}
auto orderOf(const ProfiledOperation& o) {
  return std::tuple(o.name, o.kind, o.dtype, o.groups, o.m, o.n, o.k, o.batch, o.sequence, o.heads, o.kvHeads,
                    o.headDim, o.bytes);
}
auto orderOf(const ProfiledTerm& t) { return std::tuple(t.kind, t.term); }
auto orderOf(const ProfiledInterference& i) { return std::tuple(i.kind, i.ranks, i.ranksPerNode, i.bytes); }

template <class T>
void sortEntries(std::vector<T>& entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const T& a, const T& b) { return orderOf(a) < orderOf(b); });
}

}  // namespace

Profile sortedProfile(Profile profile) {
  sortEntries(profile.collectives);
  sortEntries(profile.operations);
  sortEntries(profile.terms);
  sortEntries(profile.interference);
  return profile;
}

std::string profileText(const Profile& unsorted) {
  Profile profile = sortedProfile(unsorted);
  const std::string& source = profile.source;
  std::erase_if(profile.collectives, [](const auto& c) { return !usable(c.seconds); });
  std::erase_if(profile.operations, [](const auto& o) { return !usable(o.seconds); });
  std::erase_if(profile.terms, [](const auto& t) { return !usable(t.value); });
  std::string out = "vsim_profile: 1\n";
  if (!profile.name.empty()) out += fmt::format("name: {}\n", scalar(profile.name));
  if (!source.empty()) out += fmt::format("source: {}\n", scalar(source));
  if (const std::string cluster = clusterText(profile); !cluster.empty())
    out += fmt::format("cluster: {{{}}}\n", cluster);
  if (profile.hardware) out += hardwareText(*profile.hardware);
  if (profile.host) out += fmt::format("\nhost: {{{}}}\n", hostText(*profile.host, source));
  section(out, "collectives", profile.collectives,
          [&](const ProfiledCollective& c) { return collectiveText(c, source); });
  section(out, "interference", profile.interference,
          [&](const ProfiledInterference& i) { return interferenceText(i, source); });
  section(out, "operations", profile.operations,
          [&](const ProfiledOperation& o) { return operationText(o, source); });
  section(out, "terms", profile.terms, [&](const ProfiledTerm& t) { return termText(t, source); });
  return out;
}

}  // namespace vsim::core
