#include "core/scenario/reader.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/core/scenario/base_scenario.h"

using namespace vsim;
using namespace vsim::core;
using test::changed;

namespace {

Scenario right(const ResultAll<Scenario>& result) {
  if (!result) FAIL(text(result.error()));
  return *result;
}

ReadOptions with(std::vector<std::pair<std::string, std::string>> overrides) {
  ReadOptions options = test::baseOptions();
  options.overrides = std::move(overrides);
  return options;
}

Scenario overridden(std::vector<std::pair<std::string, std::string>> overrides) {
  return right(parseScenario(test::kBase, "base.yaml", with(std::move(overrides))));
}

std::string problem(std::vector<std::pair<std::string, std::string>> overrides) {
  const auto result = parseScenario(test::kBase, "base.yaml", with(std::move(overrides)));
  REQUIRE_FALSE(result.has_value());
  return text(result.error());
}

ResultAll<std::vector<Scenario>> sweepOf(const std::string& text,
                                         const ReadOptions& options = test::baseOptions()) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("vsim_sweep_{}.yaml", getpid());
  std::ofstream(path) << text;
  auto result = readSweep(path.string(), options);
  std::filesystem::remove(path);
  return result;
}

}  // namespace

TEST_CASE("every value arrives in its field") {
  const Scenario s = right(test::read(test::kBase));
  CHECK(s.name == "base");
  CHECK(s.path == "base.yaml");
  CHECK(s.model.layers == 3);
  CHECK(s.model.headDim == 16);
  CHECK(s.model.moe == std::vector<bool>(3, true));
  CHECK(s.cluster.preset == "h100-rail-optimized");
  CHECK(s.cluster.gpus == 16);
  CHECK(s.parallel.expert == 4);
  REQUIRE(s.systems.size() == 2);
  CHECK(s.systems[0].name == "vescale");
  CHECK(s.systems[1].forwardPrefetch == 2);
  CHECK(s.systems[1].backwardPrefetch == 1);
  CHECK(s.batch.sequence == 128);
  CHECK(s.precision.compute == DType::bf16);
  CHECK(s.granularity.at(0).elements == 1);
  CHECK(s.software.attention == "flash2");
  CHECK(s.software.loss == LossKernel::fused);
  CHECK(s.software.optimizerKernel == "foreach");
  CHECK(s.simulate.steps == 2);
}

TEST_CASE("how the step runs on hardware") {
  const auto plain = test::read(test::kBase);
  REQUIRE(plain);
  CHECK(plain->real.scale == 1);
  CHECK(plain->real.steps == 10);
  CHECK(plain->real.warmup == 2);
  const auto small = test::read(test::kBase + "real: {scale: 0.01, steps: 20, warmup: 0}\n");
  if (!small) FAIL(core::text(small.error()));
  CHECK(small->real.scale == 0.01);
  CHECK(small->real.steps == 20);
  CHECK(small->real.warmup == 0);
  auto options = test::baseOptions();
  options.overrides = {{"real.scale", "2.5e-3"}};
  const auto set = core::parseScenario(test::kBase, "base.yaml", options);
  if (!set) FAIL(core::text(set.error()));
  CHECK(set->real.scale == 0.0025);
}

TEST_CASE("what may be left out") {
  const Scenario s = right(
      test::read("vsim: 1\nmodel: {layers: 2, hidden: 64, heads: 4, intermediate: 128, vocabulary: 256}\n"
                 "cluster: {preset: h100-clos, gpus: 32}\n"));
  CHECK(s.name == "base");
  CHECK(s.parallel.fsdp == 32);
  CHECK(s.parallel.replicate == 1);
  REQUIRE(s.systems.size() == 1);
  CHECK(s.systems[0].name == "vescale");
  CHECK(s.optimizer.name == "adamw");
  CHECK(s.granularity.empty());
  CHECK(s.model.kvHeads == 4);
}

TEST_CASE("sizes of the mesh follow from each other") {
  CHECK(right(test::read(changed("replicate: 2, ", ""))).parallel.replicate == 2);
  CHECK(right(test::read(changed("fsdp: 8, ", ""))).parallel.fsdp == 8);
  CHECK(right(test::read(changed({{"fsdp: 8, ", ""}, {"replicate: 2, ", ""}}))).parallel.fsdp == 16);
  CHECK(right(test::read(changed({{"fsdp: 8, ", ""}, {"tensor: 1", "tensor: 2"}}))).parallel.fsdp == 4);
  CHECK(right(test::read(changed("accumulation: 1", "global_tokens: 8Ki"))).batch.accumulation == 4);
}

TEST_CASE("systems and their options") {
  const auto one = [](const std::string& value) {
    return right(test::read(changed("[vescale, {name: fsdp2, prefetch: 2}]", value))).systems.at(0);
  };
  CHECK(one("fsdp2").name == "fsdp2");
  CHECK(one("{name: fsdp2, forward_prefetch: 3}").forwardPrefetch == 3);
  CHECK(one("[{name: fsdp2, reshard_after_forward: auto}]").reshardAfterForward ==
        ReshardAfterForward::automatic);
  CHECK(one("[{name: fsdp2, reshard_after_forward: true}]").reshardAfterForward ==
        ReshardAfterForward::always);
  CHECK(one("[{name: fsdp2, reshard_after_forward: false}]").reshardAfterForward ==
        ReshardAfterForward::never);
  const SystemSpec all =
      one("[{name: vescale, backward_prefetch: 0, reduce_scatter_inputs: 2, async_unshard: true, "
          "separate_roots: true, "
          "separate_reduce_communicator: true, accumulate_unsharded: true, defer_final_wait: true}]");
  CHECK(all.backwardPrefetch == 0);
  CHECK(all.reduceScatterInputs == 2);
  CHECK((all.accumulateUnsharded && all.deferFinalWait));
  CHECK((all.asyncUnshard && all.separateRoots && all.separateReduceCommunicator));
}

TEST_CASE("the optimizer's block is a granularity unless a rule says more") {
  const auto eightBit = [](const std::string& rules) {
    return right(test::read(changed({{"{name: adamw}", "{name: adam8bit, block: [16, 64]}"},
                                     {"granularity: [{match: \"*\", elements: 1}]\n", rules}})));
  };
  const Scenario alone = eightBit("");
  REQUIRE(alone.granularity.size() == 1);
  CHECK(alone.granularity[0].match == "*");
  CHECK(alone.granularity[0].tile == std::vector<std::int64_t>{16, 64});
  const Scenario some = eightBit("granularity: [{match: \"*experts*\", rows: 8}]\n");
  REQUIRE(some.granularity.size() == 2);
  CHECK(some.granularity[0].rows == 8);
  CHECK(eightBit("granularity: [{match: \"*\", whole: true}]\n").granularity.size() == 1);
  CHECK(right(test::read(changed("{name: adamw}", "adam8bit"))).optimizer.block ==
        std::vector<std::int64_t>{32, 32});
}

TEST_CASE("explicit models") {
  const auto model = [](const std::string& value) {
    return right(test::read("vsim: 1\nmodel: " + value + "\ncluster: {preset: h100-clos, gpus: 8}\n")).model;
  };
  const ModelConfig moe = model(
      "{name: small, layers: 4, hidden: 64, heads: 8, kv_heads: 2, head_dim: 32, intermediate: 256, "
      "vocabulary: 1k, "
      "experts: 16, experts_per_token: 2, expert_intermediate: 32, shared_experts: 1, dense_layers: 1, "
      "tied_embeddings: true, qk_norm: true, norm: layer, mlp: plain, dtype: fp32, sliding_window: 128}");
  CHECK(moe.name == "small");
  CHECK(moe.headDim == 32);
  CHECK(moe.vocabulary == 1000);
  CHECK(moe.moe == std::vector<bool>{false, true, true, true});
  CHECK(moe.sharedIntermediate == 32);
  CHECK(moe.tiedEmbeddings);
  CHECK(moe.norm == NormKind::layer);
  CHECK(moe.mlp == MlpKind::plain);
  CHECK(moe.dtype == DType::fp32);
  CHECK(moe.windowed.size() == 4);
}

TEST_CASE("all problems are told at once, in the order of the lines") {
  const auto result = test::read(changed({{"vsim: 1", "vsim: 3"},
                                          {"gpus: 16", "gpus: 0"},
                                          {"vescale", "veskale"},
                                          {"sequence", "seqence"},
                                          {"compute: bf16", "compute: x"},
                                          {"seed: 1", "seed: -1"}}));
  REQUIRE_FALSE(result.has_value());
  REQUIRE(result.error().size() == 6);
  int line = 0;
  for (const Error& error : result.error()) {
    CHECK(error.line > line);
    line = error.line;
  }
}

TEST_CASE("places in block style, and after text that is not ASCII") {
  const auto result = test::read(
      "vsim: 1\n# \u00e4\u00f6\u00fc\nname: caf\u00e9\nmodel:\n  layers: 2\n  hidden: 64\n  heads: 0\n"
      "  intermediate: 128\n  vocabulary: 256\ncluster:\n  preset: h100-clos\n  gpus: eight\n");
  REQUIRE_FALSE(result.has_value());
  REQUIRE(result.error().size() == 2);
  CHECK_THAT(result.error()[0].text(), Catch::StartsWith("base.yaml:7:10: model.heads: 0 is impossible"));
  CHECK_THAT(result.error()[1].text(), Catch::StartsWith("base.yaml:12:9: cluster.gpus: expected"));
}

TEST_CASE("Overrides by --set") {
  CHECK(overridden({{"batch.micro_batch", "2"}}).batch.microBatch == 2);
  CHECK(overridden({{"batch", "{sequence: 256}"}}).batch.sequence == 256);
  CHECK(overridden({{"cluster.gpus", "32"}, {"parallel.replicate", "4"}}).parallel.replicate == 4);
  CHECK(overridden({{"software.year", "2024"}}).software.year == 2024);
  CHECK(overridden({{"systems", "[fsdp2]"}}).systems.size() == 1);
  CHECK(overridden({{"systems.1.prefetch", "1"}}).systems.at(1).forwardPrefetch == 1);
  CHECK(overridden({{"systems.0.async_unshard", "true"}}).systems.at(0).asyncUnshard);
  CHECK(overridden({{"systems.0", "fsdp2"}}).systems.at(0).name == "fsdp2");
  CHECK(overridden({{"granularity.0.elements", "4"}}).granularity.at(0).elements == 4);
  CHECK(overridden({{"model.layers", "5"}}).model.layers == 5);
  CHECK(overridden({{"name", "other"}, {"name", "last"}}).name == "last");
  const Scenario s = overridden({{"batch.micro_batch", "2"}});
  REQUIRE(s.overrides.size() == 1);
  CHECK(s.overrides[0] == std::pair<std::string, std::string>{"batch.micro_batch", "2"});
}

TEST_CASE("mistakes in --set name it") {
  using Catch::Contains;
  CHECK(problem({{"batch.micro_batch", "0"}}) ==
        "--set batch.micro_batch=0: batch.micro_batch: 0 is impossible: at least 1");
  CHECK_THAT(problem({{"batch.microbatch", "2"}}),
             Catch::StartsWith("--set batch.microbatch=2: unknown key 'microbatch' in batch (did you mean"));
  CHECK_THAT(problem({{"cluster.gpus", "17"}}),
             Catch::StartsWith("--set cluster.gpus=17: parallel: fsdp 8 · replicate 2 · tensor 1 = 16, but"));
  CHECK_THAT(problem({{"bach.sequence", "2"}}), Contains("unknown key 'bach' (did you mean 'batch'?)"));
  CHECK_THAT(problem({{"", "2"}}), Contains("--set =2: expected key=value with a dotted key"));
  CHECK_THAT(problem({{"batch..sequence", "2"}}), Contains("expected key=value with a dotted key"));
  CHECK_THAT(problem({{"a.b.c.d.e.f.g.h.i", "2"}}), Contains("more than 8 parts"));
  CHECK_THAT(problem({{"name.x", "2"}}),
             Contains("--set name.x=2: name has no keys of its own: it is 'base'"));
  CHECK_THAT(problem({{"systems.7.prefetch", "2"}}),
             Contains("systems is a list of 2: '7' is not one of its items"));
  CHECK_THAT(problem({{"systems.x", "2"}}), Contains("'x' is not one of its items"));
  CHECK_THAT(problem({{"batch.sequence", ""}}), Contains("batch.sequence has no value"));
  CHECK_THAT(problem({{"batch.sequence", "[1"}}), Contains("--set batch.sequence=[1: not valid YAML"));
  CHECK_THAT(problem({{"batch.sequence", "\xff"}}), Contains("is not UTF-8"));
}

TEST_CASE("sweeps are the product of their lists, the first key slowest") {
  const std::string text =
      changed("replicate: 2, ", "") + "sweep: {cluster.gpus: [16, 32], batch.micro_batch: [1, 2, 4]}\n";
  const auto points = sweepOf(text);
  if (!points) FAIL(core::text(points.error()));
  REQUIRE(points->size() == 6);
  CHECK((*points)[0].cluster.gpus == 16);
  CHECK((*points)[2].batch.microBatch == 4);
  CHECK((*points)[3].cluster.gpus == 32);
  CHECK((*points)[3].parallel.replicate == 4);
  CHECK((*points)[5].overrides ==
        std::vector<std::pair<std::string, std::string>>{{"cluster.gpus", "32"}, {"batch.micro_batch", "4"}});
  CHECK(sweepOf(test::kBase)->size() == 1);
}

TEST_CASE("a key that only the sweep gives takes its first value") {
  const std::string text =
      changed({{", gpus: 16", ""}, {"replicate: 2, ", ""}}) + "sweep: {cluster.gpus: [32, 64]}\n";
  CHECK(right(test::read(text)).cluster.gpus == 32);
  CHECK(sweepOf(text)->size() == 2);
}

TEST_CASE("sweeps of lists and maps, and from the command line") {
  const auto systems = sweepOf(test::kBase + "sweep: {systems: [[vescale], [fsdp2]]}\n");
  if (!systems) FAIL(core::text(systems.error()));
  CHECK((*systems)[1].systems.at(0).name == "fsdp2");
  CHECK((*systems)[1].overrides.at(0).second == "[fsdp2]");
  const auto nested = sweepOf(test::kBase + "sweep: {batch: {micro_batch: [1, 2]}}\n");
  CHECK(nested->size() == 2);
  const auto typed = sweepOf(test::kBase, with({{"sweep.batch.micro_batch", "[1, 2, 3]"}}));
  REQUIRE(typed->size() == 3);
  CHECK((*typed)[1].overrides ==
        std::vector<std::pair<std::string, std::string>>{{"batch.micro_batch", "2"}});
}

TEST_CASE("mistakes in sweeps") {
  using Catch::Contains;
  const auto problem = [](const std::string& sweep) {
    const auto result = sweepOf(test::kBase + "sweep: " + sweep + "\n");
    REQUIRE_FALSE(result.has_value());
    return core::text(result.error());
  };
  CHECK_THAT(
      problem("{cluster.gpus: [16, 32]}"),
      Contains(":5:32: parallel: fsdp 8 · replicate 2 · tensor 1 = 16, but cluster.gpus is 32 (replicate 4 "
               "fits; left out, it follows)"));
  CHECK_THAT(problem("{batch.micro_batch: [1, 0]}"), Contains(":14:32: batch.micro_batch: 0 is impossible"));
  CHECK_THAT(problem("{batch.micro_batch: 2}"),
             Contains("sweep.batch.micro_batch: expected a list of values"));
  CHECK_THAT(problem("{batch.micro_batch: []}"), Contains("expected a list of values"));
  CHECK_THAT(problem("{batch.microbatch: [1]}"), Contains(":14:9: unknown key 'microbatch' in batch"));
  CHECK_THAT(problem("[cluster.gpus]"), Contains("sweep: expected a map such as"));
  CHECK_THAT(problem("{vsim: [1]}"), Contains("'vsim' cannot be swept"));
  CHECK_THAT(problem("{batch.micro_batch: [1], batch: {micro_batch: [2]}}"), Contains("swept twice"));
  std::string many = "[1";
  for (int i = 2; i <= 100; ++i) many += fmt::format(", {}", i);
  CHECK_THAT(problem(fmt::format("{{batch.micro_batch: {0}], batch.accumulation: {0}]}}", many)),
             Contains("more than 4096 points"));
}
