#include "gpu/job/rack_name.h"

#include <catch2/catch.hpp>
#include <map>

using namespace vsim;

namespace {

std::string rackOf(const std::map<std::string, std::string>& environment) {
  return gpu::rackName([&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace

TEST_CASE("a host's rack is the switch that Slurm names, or what the user says") {
  CHECK(rackOf({}) == "");
  CHECK(rackOf({{"VSIM_RACK", "r7"}}) == "r7");
  const std::map<std::string, std::string> slurm{{"SLURM_TOPOLOGY_ADDR", "spine.leaf3.node17"},
                                                 {"SLURM_TOPOLOGY_ADDR_PATTERN", "switch.switch.node"}};
  CHECK(rackOf(slurm) == "spine.leaf3");
  auto both = slurm;
  both["VSIM_RACK"] = "r7";
  CHECK(rackOf(both) == "r7");
  both["VSIM_RACK"] = "";
  CHECK(rackOf(both) == "spine.leaf3");
}

TEST_CASE("a cluster without switches has no racks") {
  CHECK(rackOf({{"SLURM_TOPOLOGY_ADDR", "node17"}, {"SLURM_TOPOLOGY_ADDR_PATTERN", "node"}}) == "");
  CHECK(rackOf({{"SLURM_TOPOLOGY_ADDR", "leaf3.node17"}}) == "");
  CHECK(rackOf({{"SLURM_TOPOLOGY_ADDR", "node17"}, {"SLURM_TOPOLOGY_ADDR_PATTERN", "switch.node"}}) == "");
}
