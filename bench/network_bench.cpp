#include <benchmark/benchmark.h>

#include "sim/cluster/cluster_catalogue.h"
#include "sim/cluster/topology.h"
#include "sim/network/profiled_collectives.h"

namespace {

using namespace vsim;

void networkCollectiveCost(benchmark::State& state) {
  const sim::ProfiledCollectives network(
      sim::CollectiveModel(sim::clusterPreset("h800-rail-optimized").value()));
  const core::CommGroup group{"dp_shard", state.range(0), 1};
  std::int64_t bytes = 1 << 20;
  for (auto _ : state) {
    benchmark::DoNotOptimize(network.cost(core::CollectiveKind::allGather, bytes, group));
    bytes = bytes % (std::int64_t{1} << 33) + 12'345;
  }
}
BENCHMARK(networkCollectiveCost)->Arg(64)->Arg(10'240);

void networkDescribeTopology(benchmark::State& state) {
  const auto cluster = sim::clusterPreset("h800-rail-optimized").value();
  for (auto _ : state) benchmark::DoNotOptimize(sim::describeTopology(cluster, state.range(0)));
}
BENCHMARK(networkDescribeTopology)->Arg(64)->Arg(10'240);

}  // namespace
