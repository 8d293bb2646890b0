#pragma once

#include "core/profile/profile.h"
#include "core/profile/yaml_fields.h"

namespace vsim::core {

/// `cluster:` and `hardware:` of a profile. `profile.hardware` is set when there is a hardware section, or
/// when the cluster says more than its board and numbers of GPUs.
void readHardware(YamlFields& fields, const YAML::Node& root, Profile& profile);

}  // namespace vsim::core
