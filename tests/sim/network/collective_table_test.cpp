#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "sim/cluster/cluster_catalogue.h"
#include "sim/network/collective_table.h"

using namespace vsim;

TEST_CASE("the table has one row per size and nccl-tests' bandwidths", "[network]") {
  const sim::ProfiledCollectives network(
      sim::CollectiveModel(sim::clusterPreset("h100-rail-optimized").value()));
  sim::CollectiveTableRequest request;
  request.group = {"world", 8, 1};
  request.sizes = sim::sizesBetween(1 << 20, 1 << 30, 4);
  CHECK(request.sizes.size() == 6);
  const std::string table = sim::collectiveTable(network, request);
  CHECK(std::count(table.begin(), table.end(), '\n') == 9);
  CHECK(table.find("all_gather on 8 ranks") != std::string::npos);
  CHECK(table.find("modelled") != std::string::npos);
  CHECK(sim::sizesBetween(5, 4).empty());
  CHECK(sim::sizesBetween(1, std::numeric_limits<std::int64_t>::max()).size() == 63);
}
