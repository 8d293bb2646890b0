// FSDP composed with tensor and expert parallelism: which collectives, on which communicators, how often.

#include <catch2/catch.hpp>

#include <map>

#include "core/train/system.h"

using namespace vsim::core;

namespace {

ModelConfig smallModel(bool experts) {
  ModelConfig c;
  c.name = "small";
  c.modelType = experts ? "mixtral" : "llama";
  c.layers = 3, c.hidden = 256, c.heads = 8, c.kvHeads = 4, c.headDim = c.headDimValue = 32;
  c.intermediate = 512, c.vocabulary = 1024;
  if (experts) {
    c.experts = 8, c.expertsPerToken = 2, c.expertIntermediate = 128;
    c.moe.assign(3, true);
  }
  return c;
}

Scenario scenario(ParallelSpec parallel, bool experts) {
  Scenario s;
  s.model = smallModel(experts);
  s.parallel = parallel;
  s.cluster.gpus = parallel.fsdp * parallel.replicate * parallel.tensor;
  s.batch = {.sequence = 128, .microBatch = 1, .accumulation = 1};
  return s;
}

StepProgram program(const Scenario& s, const std::string& system) {
  const ModelGraph graph(s.model);
  SystemSpec spec;
  spec.name = system;
  auto built = buildProgram(graph, s, spec);
  if (!built) FAIL(built.error().text());
  return std::move(built->program);
}

/// Collectives of a step: "kind group phase" -> count.
std::map<std::string, int> collectives(const StepProgram& p) {
  std::map<std::string, int> counts;
  for (const Instruction& i : p.step) {
    if (i.kind != InstructionKind::collective) continue;
    const Collective& c = p.collectives[i.operand];
    ++counts[std::string(kCollectiveNames[static_cast<std::size_t>(c.kind)]) + " " + p.groups[c.group].name +
             " " + std::string(kPhaseNames[static_cast<std::size_t>(i.phase)])];
  }
  return counts;
}

}  // namespace

TEST_CASE("Tensor parallelism: two all-reduces a layer each way, one at each end, three in the loss",
          "[train]") {
  for (const auto& system : systems()) {
    auto counts = collectives(program(scenario({.fsdp = 4, .replicate = 1, .expert = 1, .tensor = 2}, false),
                                      std::string(system->name())));
    CHECK(counts["all_reduce tp forward"] == 2 * 3 + 1);
    CHECK(counts["all_reduce tp backward"] == 2 * 3 + 1);
    CHECK(counts["all_reduce tp loss"] == 3);
  }
}

TEST_CASE("Recomputation repeats a layer's tensor-parallel collectives", "[train]") {
  Scenario s = scenario({.fsdp = 4, .replicate = 1, .expert = 1, .tensor = 2}, false);
  s.activationCheckpointing = Checkpointing::full;
  CHECK(collectives(program(s, "fsdp2"))["all_reduce tp recompute"] == 2 * 3);
}

TEST_CASE("Expert parallelism: counts, dispatch, combine; two groups in a unit", "[train]") {
  for (const auto& system : systems()) {
    const StepProgram p = program(scenario({.fsdp = 8, .replicate = 2, .expert = 4, .tensor = 1}, true),
                                  std::string(system->name()));
    auto counts = collectives(p);
    CHECK(counts["all_to_all ep forward"] == 3 * 3);
    CHECK(counts["all_to_all ep backward"] == 2 * 3);
    CHECK(counts["reduce_scatter efsdp reduce"] == 3);
    CHECK(counts["all_reduce dp_replicate reduce"] == 3 * 2 + 1);
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> groups;
    for (const CommGroup& g : p.groups) groups[g.name] = {g.size, g.stride};
    CHECK(groups["dp_shard"] == std::pair<std::int64_t, std::int64_t>{8, 1});
    CHECK(groups["efsdp"] == std::pair<std::int64_t, std::int64_t>{2, 4});
    CHECK(groups["ep"] == std::pair<std::int64_t, std::int64_t>{4, 1});
    CHECK(groups["dp_replicate"] == std::pair<std::int64_t, std::int64_t>{2, 8});
    int hostWaits = 0;
    for (const Instruction& i : p.step) hostWaits += i.kind == InstructionKind::hostWait ? 1 : 0;
    CHECK(hostWaits == 3);  // the receive counts of every MoE layer go to the CPU
  }
}

TEST_CASE("Without expert parallelism experts are sharded with the rest of their layer", "[train]") {
  for (const auto& system : systems()) {
    const StepProgram p = program(scenario({.fsdp = 4, .replicate = 1, .expert = 1, .tensor = 1}, true),
                                  std::string(system->name()));
    CHECK(p.units.size() == 4);
    CHECK(collectives(p)["all_to_all ep forward"] == 0);
  }
}

TEST_CASE("Every parameter of the model is in exactly one unit", "[train]") {
  for (const auto& system : systems()) {
    for (const bool experts : {false, true}) {
      const Scenario s =
          scenario({.fsdp = 8, .replicate = 1, .expert = experts ? 4 : 1, .tensor = 1}, experts);
      const StepProgram p = program(s, std::string(system->name()));
      std::int64_t elements = 0;
      for (const Unit& unit : p.units) {
        std::int64_t sum = 0;
        for (const UnitTensor& tensor : p.tensorTables[unit.tensorTable]) sum += tensor.elements;
        elements += sum * (p.groups[unit.group].name == "efsdp" ? s.parallel.expert : 1);
        CHECK(unit.shardElements * unit.devices >= sum);
      }
      CHECK(elements == ModelGraph(s.model).parameterCount());
    }
  }
}

TEST_CASE("Fused layers are one unit: fewer collectives, the same parameters", "[train]") {
  for (const auto& system : systems()) {
    const Scenario s = scenario({.fsdp = 8, .replicate = 1, .expert = 4, .tensor = 1}, true);
    const ModelGraph graph(s.model);
    SystemSpec spec;
    spec.name = std::string(system->name());
    spec.layersPerBucket = 2;
    const auto built = buildProgram(graph, s, spec);
    REQUIRE(built);
    const StepProgram& p = built->program;
    // Three layers: one pair, one alone; two groups each, and the root.
    CHECK(p.units.size() == 5);
    auto counts = collectives(p);
    CHECK(counts["reduce_scatter efsdp reduce"] == 2);
    CHECK(counts["all_to_all ep forward"] == 3 * 3);
    std::int64_t elements = 0;
    for (const Unit& unit : p.units)
      for (const UnitTensor& tensor : p.tensorTables[unit.tensorTable])
        elements += tensor.elements * (p.groups[unit.group].name == "efsdp" ? s.parallel.expert : 1);
    CHECK(elements == graph.parameterCount());
  }
}
