#pragma once

#include "core/profile/profile.h"
#include "core/profile/yaml_fields.h"

namespace vsim::core {

/// The entries of a profile's lists, and its host section. `defaults`: provenance and source of the file.
ProfiledCollective readCollective(YamlFields& fields, const YAML::Node& node, const Origin& defaults);
ProfiledOperation readOperation(YamlFields& fields, const YAML::Node& node, const Origin& defaults);
ProfiledTerm readTerm(YamlFields& fields, const YAML::Node& node, const Origin& defaults);
ProfiledInterference readInterference(YamlFields& fields, const YAML::Node& node, const Origin& defaults);
ProfiledHost readHost(YamlFields& fields, const YAML::Node& node, const Origin& defaults);

/// The same measurement twice is a mistake of the writer: which of the two holds?
void checkDuplicates(YamlFields& fields, const Profile& profile);

}  // namespace vsim::core
