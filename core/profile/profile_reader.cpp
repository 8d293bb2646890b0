#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "core/profile/profile.h"
#include "core/profile/quantity.h"

namespace vsim::core {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // a profile has hundreds of lines, not millions
constexpr std::size_t kMostEntries = 100'000;
constexpr std::size_t kMostErrors = 100;
constexpr std::int64_t kMostRanks = std::int64_t{1} << 24;

using Keys = std::vector<std::string>;

/// Reads one YAML file; collects what is wrong with it.
class Reader {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {}

  void add(const YAML::Mark& mark, std::string message, std::string hint = {}) {
    if (errors.size() >= kMostErrors) return;
    const bool known = mark.line >= 0;
    errors.push_back({.message = std::move(message),
                      .file = path_,
                      .line = known ? mark.line + 1 : 0,
                      .column = known ? mark.column + 1 : 0,
                      .hint = std::move(hint)});
  }

  /// `node` is a map with no other keys than `known`, none twice.
  bool checkMap(const YAML::Node& node, const std::string& what, const Keys& known) {
    if (!node.IsMap()) {
      add(node.Mark(), fmt::format("{} must be a map of keys and values", what));
      return false;
    }
    std::set<std::string> seen;
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) {
        add(pair.first.Mark(), fmt::format("a key of {} must be a plain word", what));
        continue;
      }
      const std::string key = pair.first.Scalar();
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        const std::string near = nearest(key, known);
        add(pair.first.Mark(), fmt::format("unknown key '{}' in {}", clip(key), what),
            near.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                         : fmt::format("did you mean '{}'?", near));
      } else if (!seen.insert(key).second) {
        add(pair.first.Mark(), fmt::format("key '{}' appears twice in {}", key, what));
      }
    }
    return true;
  }

  /// The value of `key`, undefined when absent.
  static YAML::Node find(const YAML::Node& map, const std::string& key) {
    for (const auto& pair : map) {
      if (pair.first.IsScalar() && pair.first.Scalar() == key) return pair.second;
    }
    return YAML::Node(YAML::NodeType::Undefined);
  }

  std::optional<std::string> text(const YAML::Node& map, const std::string& key) {
    const YAML::Node node = find(map, key);
    if (!node.IsDefined()) return std::nullopt;
    if (!node.IsScalar() || node.Scalar().empty()) {
      add(node.Mark(), fmt::format("'{}' must be a text", key));
      return std::nullopt;
    }
    return node.Scalar();
  }

  /// A whole number of at least `least` and at most `most`.
  std::optional<std::int64_t> whole(const YAML::Node& map, const std::string& key, std::int64_t least,
                                    std::int64_t most) {
    const YAML::Node node = find(map, key);
    if (!node.IsDefined()) return std::nullopt;
    const auto value = node.IsScalar() ? bytesFromText(node.Scalar()) : std::nullopt;
    if (!value || *value != std::floor(*value)) {
      add(node.Mark(), fmt::format("'{}' must be a whole number, not {}", key, shown(node)));
      return std::nullopt;
    }
    if (*value < static_cast<double>(least) || *value > static_cast<double>(most)) {
      add(node.Mark(), fmt::format("'{}' must be between {} and {}, not {}", key, least, most, shown(node)));
      return std::nullopt;
    }
    return static_cast<std::int64_t>(*value);
  }

  /// A positive quantity by `parse`.
  template <class Parse>
  std::optional<double> quantity(const YAML::Node& map, const std::string& key, Parse parse,
                                 const char* example) {
    const YAML::Node node = find(map, key);
    if (!node.IsDefined()) return std::nullopt;
    const std::optional<double> value = node.IsScalar() ? parse(node.Scalar()) : std::nullopt;
    if (!value) {
      add(node.Mark(), fmt::format("'{}' must be a number with a unit, not {}", key, shown(node)),
          fmt::format("for example {}", example));
      return std::nullopt;
    }
    if (!(*value > 0) || *value > 1e18) {
      add(node.Mark(), fmt::format("'{}' must be positive, not {}", key, shown(node)));
      return std::nullopt;
    }
    return value;
  }

  /// One of `names`; the index.
  template <class Names>
  std::optional<std::size_t> choice(const YAML::Node& map, const std::string& key, const Names& names) {
    const YAML::Node node = find(map, key);
    if (!node.IsDefined()) return std::nullopt;
    const Keys known(std::begin(names), std::end(names));
    if (node.IsScalar()) {
      const auto place = std::find(known.begin(), known.end(), node.Scalar());
      if (place != known.end()) return static_cast<std::size_t>(place - known.begin());
    }
    const std::string near = node.IsScalar() ? nearest(clip(node.Scalar()), known) : std::string();
    add(node.Mark(), fmt::format("unknown {} {}", key, shown(node)),
        near.empty() ? fmt::format("known: {}", fmt::join(known, ", "))
                     : fmt::format("did you mean '{}'?", near));
    return std::nullopt;
  }

  void require(const YAML::Node& map, const std::string& what, const Keys& keys) {
    for (const std::string& key : keys) {
      if (!find(map, key).IsDefined()) add(map.Mark(), fmt::format("{} needs '{}'", what, key));
    }
  }

  std::optional<DType> dtype(const YAML::Node& map) {
    const auto name = text(map, "dtype");
    if (!name) return std::nullopt;
    const auto type = dtypeFromName(*name);
    if (!type)
      add(find(map, "dtype").Mark(), fmt::format("unknown dtype '{}'", clip(*name)), "fp32, bf16, fp16, fp8");
    return type;
  }

  Origin origin(const YAML::Node& map, const Origin& defaults, const std::string& what) {
    Origin result = defaults;
    result.line = map.Mark().line + 1;
    if (const auto p = choice(map, "provenance", kProvenanceNames))
      result.provenance = static_cast<Provenance>(*p);
    if (const auto source = text(map, "source")) result.source = *source;
    if (result.source.empty())
      add(map.Mark(), fmt::format("{} needs 'source' (or a source for the whole file)", what));
    if (const YAML::Node node = find(map, "error"); node.IsDefined()) {
      double value = -1;
      if (!node.IsScalar() || !YAML::convert<double>::decode(node, value) || !(value >= 0 && value <= 1)) {
        add(node.Mark(), fmt::format("'error' must be a fraction between 0 and 1, not {}", shown(node)));
      } else {
        result.relativeError = value;
      }
    }
    return result;
  }

  /// The entries of list `key`; empty when absent.
  std::vector<YAML::Node> list(const YAML::Node& map, const std::string& key) {
    std::vector<YAML::Node> entries;
    const YAML::Node node = find(map, key);
    if (!node.IsDefined() || node.IsNull()) return entries;
    if (!node.IsSequence()) {
      add(node.Mark(), fmt::format("'{}' must be a list", key));
      return entries;
    }
    if (node.size() > kMostEntries) {
      add(node.Mark(),
          fmt::format("'{}' has {} entries; at most {} are read", key, node.size(), kMostEntries));
      return entries;
    }
    for (const auto& entry : node) entries.push_back(entry);
    return entries;
  }

  static std::string clip(const std::string& text) {
    return text.size() <= 40 ? text : text.substr(0, 37) + "...";
  }
  static std::string shown(const YAML::Node& node) {
    if (node.IsScalar()) return "'" + clip(node.Scalar()) + "'";
    return node.IsSequence() ? "a list" : node.IsMap() ? "a map" : "nothing";
  }

  Errors errors;

 private:
  std::string path_;
};

ProfiledCollective readCollective(Reader& reader, const YAML::Node& node, const Origin& defaults) {
  ProfiledCollective point;
  const std::string what = "a collective";
  if (!reader.checkMap(node, what,
                       {"kind", "bytes", "ranks", "ranks_per_node", "dtype", "time", "bus_bandwidth", "error",
                        "provenance", "source"})) {
    return point;
  }
  reader.require(node, what, {"kind", "bytes", "ranks", "ranks_per_node"});
  if (const auto kind = reader.choice(node, "kind", kCollectiveNames))
    point.kind = static_cast<CollectiveKind>(*kind);
  point.bytes = reader.whole(node, "bytes", 1, std::int64_t{1} << 60).value_or(0);
  point.ranks = reader.whole(node, "ranks", 2, kMostRanks).value_or(0);
  point.ranksPerNode = reader.whole(node, "ranks_per_node", 1, kMostRanks).value_or(0);
  if (point.ranks > 0 && point.ranksPerNode > point.ranks) {
    reader.add(Reader::find(node, "ranks_per_node").Mark(), "'ranks_per_node' is larger than 'ranks'");
  }
  point.dtype = reader.dtype(node);
  const auto seconds = reader.quantity(node, "time", secondsFromText, "43.71ms");
  const auto bandwidth = reader.quantity(node, "bus_bandwidth", bytesPerSecondFromText, "145GB/s");
  const bool hasTime = Reader::find(node, "time").IsDefined();
  if (hasTime == Reader::find(node, "bus_bandwidth").IsDefined()) {
    reader.add(node.Mark(), "a collective needs either 'time' or 'bus_bandwidth'");
  } else if (seconds) {
    point.seconds = *seconds;
  } else if (bandwidth && point.ranks > 1) {
    const double share = static_cast<double>(point.ranks - 1) / static_cast<double>(point.ranks);
    const double factor = point.kind == CollectiveKind::allReduce   ? 2 * share
                          : point.kind == CollectiveKind::broadcast ? 1
                                                                    : share;
    point.seconds = static_cast<double>(point.bytes) * factor / *bandwidth;
  }
  point.origin = reader.origin(node, defaults, what);
  return point;
}

ProfiledOperation readOperation(Reader& reader, const YAML::Node& node, const Origin& defaults) {
  ProfiledOperation point;
  const std::string what = "an operation";
  if (!reader.checkMap(node, what,
                       {"name", "dtype", "m", "n", "k", "groups", "batch", "sequence", "heads", "kv_heads",
                        "head_dim", "bytes", "time", "error", "provenance", "source"})) {
    return point;
  }
  reader.require(node, what, {"name", "time"});
  point.name = reader.text(node, "name").value_or("");
  point.dtype = reader.dtype(node);
  constexpr std::int64_t most = std::int64_t{1} << 48;
  for (const auto& [key, field] : {std::pair{"m", &point.m}, std::pair{"n", &point.n},
                                   std::pair{"k", &point.k}, std::pair{"groups", &point.groups},
                                   std::pair{"batch", &point.batch}, std::pair{"sequence", &point.sequence},
                                   std::pair{"heads", &point.heads}, std::pair{"kv_heads", &point.kvHeads},
                                   std::pair{"head_dim", &point.headDim}, std::pair{"bytes", &point.bytes}}) {
    *field = reader.whole(node, key, 1, most).value_or(0);
  }
  point.seconds = reader.quantity(node, "time", secondsFromText, "5.22ms").value_or(0);
  point.origin = reader.origin(node, defaults, what);
  return point;
}

ProfiledTerm readTerm(Reader& reader, const YAML::Node& node, const Origin& defaults) {
  ProfiledTerm term;
  const std::string what = "a term";
  if (!reader.checkMap(node, what, {"kind", "term", "value", "error", "provenance", "source"})) return term;
  reader.require(node, what, {"term", "value"});
  if (const auto kind = reader.choice(node, "kind", kCollectiveNames))
    term.kind = static_cast<CollectiveKind>(*kind);
  if (const auto which = reader.choice(node, "term", kLinkTermNames)) {
    term.term = static_cast<LinkTerm>(*which);
    const bool latency = term.term == LinkTerm::intraNodeLatency || term.term == LinkTerm::interNodeLatency;
    term.value = (latency ? reader.quantity(node, "value", secondsFromText, "8.5us")
                          : reader.quantity(node, "value", bytesPerSecondFromText, "40GB/s"))
                     .value_or(0);
  }
  term.origin = reader.origin(node, defaults, what);
  return term;
}

/// The same measurement twice is a mistake of the writer: which of the two holds?
void checkDuplicates(Reader& reader, const Profile& profile) {
  std::set<std::tuple<int, Bytes, std::int64_t, std::int64_t, int>> points;
  for (const ProfiledCollective& c : profile.collectives) {
    if (c.bytes > 0 && !points
                            .insert({static_cast<int>(c.kind), c.bytes, c.ranks, c.ranksPerNode,
                                     c.dtype ? static_cast<int>(*c.dtype) : -1})
                            .second) {
      reader.add(YAML::Mark{}, "");
      reader.errors.back() = {
          .message = fmt::format("{} of {} bytes on {} ranks appears twice",
                                 kCollectiveNames[static_cast<std::size_t>(c.kind)], c.bytes, c.ranks),
          .file = profile.path,
          .line = c.origin.line,
          .column = 1};
    }
  }
  std::set<std::tuple<std::string, int, std::vector<std::int64_t>>> operations;
  for (const ProfiledOperation& o : profile.operations) {
    const std::vector<std::int64_t> sizes{o.m,        o.n,     o.k,       o.groups,  o.batch,
                                          o.sequence, o.heads, o.kvHeads, o.headDim, o.bytes};
    if (!o.name.empty() &&
        !operations.insert({o.name, o.dtype ? static_cast<int>(*o.dtype) : -1, sizes}).second) {
      reader.add(YAML::Mark{}, "");
      reader.errors.back() = {
          .message = fmt::format("operation '{}' appears twice with the same sizes", Reader::clip(o.name)),
          .file = profile.path,
          .line = o.origin.line,
          .column = 1};
    }
  }
  std::set<std::pair<int, int>> terms;
  for (const ProfiledTerm& t : profile.terms) {
    if (!terms.insert({t.kind ? static_cast<int>(*t.kind) : -1, static_cast<int>(t.term)}).second) {
      reader.add(YAML::Mark{}, "");
      reader.errors.back() = {
          .message = fmt::format("term {} appears twice", kLinkTermNames[static_cast<std::size_t>(t.term)]),
          .file = profile.path,
          .line = t.origin.line,
          .column = 1};
    }
  }
}

Profile readDocument(Reader& reader, const YAML::Node& root, const std::string& path) {
  Profile profile;
  profile.path = path;
  if (!reader.checkMap(root, "the profile",
                       {"vsim_profile", "name", "cluster", "source", "provenance", "operations",
                        "collectives", "terms"})) {
    return profile;
  }
  reader.require(root, "the profile", {"vsim_profile"});
  reader.whole(root, "vsim_profile", 1, 1);
  profile.name = reader.text(root, "name").value_or("");
  profile.source = reader.text(root, "source").value_or("");
  Origin defaults;
  defaults.source = profile.source;
  if (const auto p = reader.choice(root, "provenance", kProvenanceNames))
    defaults.provenance = static_cast<Provenance>(*p);
  if (const YAML::Node cluster = Reader::find(root, "cluster");
      cluster.IsDefined() && reader.checkMap(cluster, "cluster", {"gpu", "gpus", "gpus_per_node"})) {
    profile.gpu = reader.text(cluster, "gpu").value_or("");
    profile.gpus = reader.whole(cluster, "gpus", 1, kMostRanks).value_or(0);
    profile.gpusPerNode = reader.whole(cluster, "gpus_per_node", 1, kMostRanks).value_or(0);
  }
  for (const YAML::Node& n : reader.list(root, "operations")) {
    profile.operations.push_back(readOperation(reader, n, defaults));
  }
  for (const YAML::Node& n : reader.list(root, "collectives")) {
    profile.collectives.push_back(readCollective(reader, n, defaults));
  }
  for (const YAML::Node& n : reader.list(root, "terms"))
    profile.terms.push_back(readTerm(reader, n, defaults));
  if (profile.operations.empty() && profile.collectives.empty() && profile.terms.empty() &&
      reader.errors.empty()) {
    reader.add(root.Mark(), "the profile holds no operation, collective or term");
  }
  if (reader.errors.empty()) checkDuplicates(reader, profile);
  return profile;
}

}  // namespace

ResultAll<Profile> parseProfile(std::string_view text, const std::string& path) {
  Reader reader(path);
  if (text.size() > kMostBytes) {
    return tl::unexpected<Errors>(Errors{{.message = fmt::format("the profile has {}; at most {} are read",
                                                                 formatBytes(static_cast<Bytes>(text.size())),
                                                                 formatBytes(static_cast<Bytes>(kMostBytes))),
                                          .file = path}});
  }
  Profile profile;
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (!root.IsDefined() || root.IsNull()) {
      return tl::unexpected<Errors>(
          Errors{{.message = "the profile is empty", .file = path, .line = 1, .column = 1}});
    }
    profile = readDocument(reader, root, path);
  } catch (const YAML::Exception& e) {
    reader.add(e.mark, fmt::format("not valid YAML: {}", e.msg));
  }
  if (!reader.errors.empty()) return tl::unexpected<Errors>(std::move(reader.errors));
  return profile;
}

ResultAll<Profile> readProfile(const std::string& path) {
  const auto problem = [&](std::string message) {
    return tl::unexpected<Errors>(Errors{{.message = std::move(message), .file = path}});
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) return problem(fmt::format("cannot read the profile: {}", std::strerror(errno)));
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return problem("cannot read the profile");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parseProfile(text, path);
}

}  // namespace vsim::core
