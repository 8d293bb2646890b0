#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "app/cluster.h"
#include "app/cost_table.h"
#include "app/run.h"
#include "app/topology_text.h"
#include "core/scenario/reader.h"

using namespace vsim;
namespace fs = std::filesystem;

namespace {

/// A folder with a profile and a scenario that may name it.
class Folder {
 public:
  Folder() : root_(fs::temp_directory_path() / fmt::format("vsim profile use {}", getpid())) {
    fs::create_directories(root_);
  }
  ~Folder() { fs::remove_all(root_); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ / name) << text;
    return (root_ / name).string();
  }
  /// A small model on 16 GPUs, sharded over all of them; `cluster` and `more` as YAML.
  std::string scenario(const std::string& cluster, const std::string& more = "") const {
    return write("s.yaml", R"(vsim: 1
model: {layers: 2, hidden: 1024, heads: 8, intermediate: 2816, vocabulary: 1024}
cluster: )" + cluster + "\nbatch: {sequence: 512}\n" +
                               more);
  }

 private:
  fs::path root_;
};

const std::string kMeasured = R"(vsim_profile: 1
name: mine
source: test
cluster: {gpu: NVIDIA H200, gpus: 8, gpus_per_node: 8, nics_per_node: 8, nic: 400Gb/s, memory: 100GB}
hardware: {executor: cuda, device: NVIDIA H200, measured: [node], missing: [nodes]}
host: {launch: 7us, call: 2us}
collectives:
  - {kind: all_gather, bytes: 1MiB, ranks: 8, ranks_per_node: 8, time: 50us, aligned: true}
interference:
  - {kind: all_gather, bytes: 1MiB, ranks: 8, ranks_per_node: 8, compute_slowdown: 0.3, stretch: 0.7}
)";

std::vector<app::RunResult> run(const std::string& scenario) {
  auto results = app::run({.scenario = scenario}, {});
  if (!results) FAIL(core::text(results.error()));
  return *results;
}

std::string notes(const std::string& scenario) {
  std::string text;
  const auto results = run(scenario);
  for (const std::string& note : results.front().notes) text += note + "\n";
  return text;
}

std::string errorOf(const std::string& scenario) {
  const auto results = app::run({.scenario = scenario}, {});
  return results ? std::string() : core::text(results.error());
}

core::Scenario read(const std::string& path) {
  auto scenario = core::readScenario(path, {});
  if (!scenario) FAIL(core::text(scenario.error()));
  return *scenario;
}

}  // namespace

TEST_CASE("a cluster may be a profile's: its board, its NICs, its costs", "[app]") {
  const Folder folder;
  folder.write("mine.yaml", kMeasured);
  const std::string path = folder.scenario("{profile: mine.yaml, gpus: 16}");
  const auto models = app::costModels(read(path));
  if (!models) FAIL(core::text(models.error()));
  CHECK(models->cluster.gpu.name == "H200-SXM");
  CHECK(models->cluster.gpu.memory == 100'000'000'000);
  CHECK(models->cluster.nicBytesPerSecond == 50e9);
  CHECK(models->nodes == 2);
  const core::CostTable table = app::costTable({}, *models);
  CHECK(table.launch == 7'000'000);
  CHECK(table.hostCall == 2'000'000);
  CHECK(table.driverAllocate == 300'000'000);  // not measured: the estimate
  const core::Cost gather = models->collectives.cost(core::CollectiveKind::allGather, 1 << 20, {"g", 8, 1});
  CHECK(gather.provenance == core::Provenance::measured);
  CHECK(gather.slowdown == 0.3);
  CHECK(gather.stretch == 0.7);
  const auto report = run(path).front().report;
  CHECK(report.hardware.gpu == "H200-SXM");
  CHECK(report.completed);
  CHECK(app::topologyText({.scenario = path}).has_value());
}

TEST_CASE("a profile of its own comes before that of the cluster", "[app]") {
  const Folder folder;
  folder.write("mine.yaml", kMeasured);
  folder.write("other.yaml", "vsim_profile: 1\nsource: s\nhost: {launch: 1us}\n");
  const auto models =
      app::costModels(read(folder.scenario("{profile: mine.yaml, gpus: 16}", "profile: other.yaml\n")));
  REQUIRE(models);
  CHECK(models->cluster.gpu.name == "H200-SXM");
  CHECK(app::costTable({}, *models).launch == 1'000'000);
}

TEST_CASE("notes on levels without a measurement and on other hardware", "[app]") {
  const Folder folder;
  folder.write("mine.yaml", kMeasured);
  const std::string across = notes(folder.scenario("{profile: mine.yaml, gpus: 16}"));
  CHECK_THAT(across, Catch::Contains("profile mine has no measurement across nodes: collectives that take "));
  CHECK_THAT(across, Catch::Contains(" % of the step rest on the model"));
  CHECK(across.find("was measured on") == std::string::npos);
  CHECK(notes(folder.scenario("{profile: mine.yaml, gpus: 8}")).empty());
  CHECK_THAT(
      notes(folder.scenario("{preset: h100-rail-optimized, gpus: 8}", "profile: mine.yaml\n")),
      Catch::Contains("profile mine was measured on H200-SXM, the scenario's cluster has H100-SXM: its costs "
                      "are used as they are"));
  CHECK(notes(folder.scenario("{preset: h200-rail-optimized, gpus: 8}", "profile: mine.yaml\n")).empty());
  CHECK(notes(folder.scenario("{preset: h200-rail-optimized, gpus: 16}")).empty());
}

TEST_CASE("descriptions that do not suffice are told with their file", "[app]") {
  const Folder folder;
  folder.write("bare.yaml", "vsim_profile: 1\nsource: s\nhost: {launch: 1us}\n");
  CHECK_THAT(errorOf(folder.scenario("{profile: bare.yaml, gpus: 16}")),
             Catch::Contains("bare.yaml:1: the profile does not describe a cluster"));
  folder.write("unknown.yaml", "vsim_profile: 1\ncluster: {gpu: Quantum, sms: 3}\n");
  CHECK_THAT(errorOf(folder.scenario("{profile: unknown.yaml, gpus: 16}")),
             Catch::Contains("'Quantum' is no board of the catalogue"));
  folder.write("one_node.yaml",
               "vsim_profile: 1\ncluster: {gpu: H100-SXM, gpus: 8, gpus_per_node: 8}\nsource: s\n"
               "host: {launch: 1us}\n");
  const std::string noNics = errorOf(folder.scenario("{profile: one_node.yaml, gpus: 16}"));
  CHECK_THAT(noNics, Catch::Contains("has no NICs, but 16 GPUs are more than one node's 8"));
  CHECK(errorOf(folder.scenario("{profile: one_node.yaml, gpus: 8}")).empty());
  folder.write("broken.yaml", "vsim_profile: 1\nhost: {launch: 1us}\n");
  CHECK_THAT(errorOf(folder.scenario("{profile: broken.yaml, gpus: 8}")), Catch::Contains("broken.yaml:2:7"));
}

TEST_CASE("processors have no CUDA context, no NCCL, and times of their own", "[app]") {
  const Folder folder;
  const auto profile = core::parseProfile(R"(vsim_profile: 1
source: s
cluster: {gpu: a processor, gpus: 8, gpus_per_node: 8, sms: 8, fp32_peak: 1TFLOP/s, hbm: 50GB/s, memory: 64GiB}
hardware: {executor: host, scale: 0.5, measured: [node], missing: [nodes, racks]}
collectives:
  - {kind: all_gather, bytes: 1MiB, ranks: 8, ranks_per_node: 8, time: 2ns, aligned: true}
)",
                                          "p.yaml");
  if (!profile) FAIL(core::text(profile.error()));
  const auto models =
      app::costModels(read(folder.scenario("{preset: h100-rail-optimized, gpus: 8}")), *profile);
  if (!models) FAIL(core::text(models.error()));
  CHECK(models->cluster.gpu.computeCapability == 0);
  CHECK(app::contextBytes(models->cluster.gpu) == 0);
  core::StepProgram program;
  program.groups = {{"g", 8, 1}};
  CHECK(app::ncclBytes(program, *models) == 0);
  const auto cost = [&](core::CollectiveKind kind, core::Bytes bytes) {
    return models->collectives.cost(kind, bytes, {"g", 8, 1});
  };
  // No bound of links: what was measured holds.
  CHECK(core::secondsFromPicoseconds(cost(core::CollectiveKind::allGather, 1 << 20).time) == Approx(2e-9).margin(2e-12));
  const core::Cost reduce = cost(core::CollectiveKind::allReduce, 1 << 30);
  CHECK(reduce.provenance == core::Provenance::modelled);
  CHECK(reduce.slowdown == 0);
  CHECK(core::secondsFromPicoseconds(reduce.time) > 1.0 * (1 << 30) / 50e9);
  CHECK(core::secondsFromPicoseconds(reduce.time) < 10.0);
  core::Operation product;
  product.kind = core::OpKind::gemm;
  product.m = product.n = product.k = 1000;
  product.flops = product.causalFlops = 2e9;
  CHECK(core::secondsFromPicoseconds(models->kernels.cost(product).time) == Approx(0.5 * 2e9 / 1e12));
}
