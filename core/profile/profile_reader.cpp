#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/profile/profile.h"
#include "core/profile/read_costs.h"
#include "core/profile/read_hardware.h"
#include "core/profile/yaml_fields.h"

namespace vsim::core {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // a profile has hundreds of lines, not millions

Profile readDocument(YamlFields& fields, const YAML::Node& root, const std::string& path) {
  Profile profile;
  profile.path = path;
  if (!fields.checkMap(root, "the profile",
                       {"vsim_profile", "name", "cluster", "source", "provenance", "operations",
                        "collectives", "terms", "interference", "host", "hardware"})) {
    return profile;
  }
  fields.require(root, "the profile", {"vsim_profile"});
  fields.whole(root, "vsim_profile", 1, 1);
  profile.name = fields.text(root, "name").value_or("");
  profile.source = fields.text(root, "source").value_or("");
  Origin defaults;
  defaults.source = profile.source;
  if (const auto p = fields.choice(root, "provenance", kProvenanceNames))
    defaults.provenance = static_cast<Provenance>(*p);
  readHardware(fields, root, profile);
  if (const YAML::Node host = YamlFields::find(root, "host"); host.IsDefined())
    profile.host = readHost(fields, host, defaults);
  for (const YAML::Node& n : fields.list(root, "operations"))
    profile.operations.push_back(readOperation(fields, n, defaults));
  for (const YAML::Node& n : fields.list(root, "collectives"))
    profile.collectives.push_back(readCollective(fields, n, defaults));
  for (const YAML::Node& n : fields.list(root, "terms"))
    profile.terms.push_back(readTerm(fields, n, defaults));
  for (const YAML::Node& n : fields.list(root, "interference"))
    profile.interference.push_back(readInterference(fields, n, defaults));
  if (profile.operations.empty() && profile.collectives.empty() && profile.terms.empty() &&
      profile.interference.empty() && !profile.host && !profile.hardware && fields.errors().empty()) {
    fields.add(root.Mark(), "the profile holds no operation, collective or term");
  }
  if (fields.errors().empty()) checkDuplicates(fields, profile);
  return profile;
}

}  // namespace

ResultAll<Profile> parseProfile(std::string_view text, const std::string& path) {
  YamlFields fields(path);
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
    profile = readDocument(fields, root, path);
  } catch (const YAML::Exception& e) {
    fields.add(e.mark, fmt::format("not valid YAML: {}", e.msg));
  }
  if (!fields.errors().empty()) return tl::unexpected<Errors>(fields.takeErrors());
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
