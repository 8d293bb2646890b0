#include "gpu/job/rack_name.h"

#include <cstdlib>

namespace vsim::gpu {

std::string rackName(const Variables& variables) {
  constexpr std::string_view kOnSwitch = "switch.node";  // a cluster without switches has the pattern "node"
  if (const auto chosen = variables("VSIM_RACK"); chosen && !chosen->empty()) return *chosen;
  const auto address = variables("SLURM_TOPOLOGY_ADDR"), pattern = variables("SLURM_TOPOLOGY_ADDR_PATTERN");
  if (!address || !pattern || !pattern->ends_with(kOnSwitch)) return {};
  const std::size_t node = address->rfind('.');
  return node == std::string::npos ? std::string() : address->substr(0, node);
}

std::string rackName() {
  return rackName([](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

}  // namespace vsim::gpu
