#include <catch2/catch.hpp>

#include <random>

#include "app/run.h"
#include "sim/cluster/cluster_catalogue.h"

// Random scenarios that are right: whatever the sizes, the figures of a report must agree with each other.

using namespace vsim;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Picks the same on every platform: the standard's distributions would not.
class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  template <class T>
  T of(std::initializer_list<T> values) {
    return *(values.begin() + engine_() % values.size());
  }
  const std::string& of(const std::vector<std::string>& values) { return values[engine_() % values.size()]; }
  bool oneIn(unsigned n) { return engine_() % n == 0; }

 private:
  std::mt19937 engine_;
};

struct Sizes {
  std::string model;
  int experts = 0;
  bool cuttable = true;  // heads and widths divide by 8
};

Sizes randomModel(Dice& dice) {
  if (dice.oneIn(4))
    return dice.of<Sizes>({{"{preset: gpt2}", 0, false},
                           {"{preset: mpt-1b}", 0, true},
                           {"{preset: llama-3-8b}", 0, true},
                           {"{preset: qwen2.5-7b}", 0, false},
                           {"{preset: gemma-2-9b}", 0, true},
                           {"{preset: falcon-7b}", 0, false},
                           {"{preset: mixtral-8x7b}", 8, true},
                           {"{preset: gpt-oss-20b}", 32, true},
                           {"{preset: qwen3-30b-a3b}", 128, false},
                           {"{preset: deepseek-v2-lite}", 64, true}});
  const int experts = dice.of({0, 0, 8, 64});
  std::string keys = fmt::format(
      "layers: {}, hidden: {}, heads: 16, kv_heads: {}, intermediate: 1536, vocabulary: {}, "
      "tied_embeddings: {}, qkv_bias: {}, mlp: {}, norm: {}",
      dice.of({1, 2, 5}), dice.of({512, 1280, 4096}), dice.of({8, 16}), dice.of({1000, 32008, 131072}),
      dice.oneIn(2), dice.oneIn(2), dice.of({"gated", "plain"}), dice.of({"rms", "layer"}));
  if (experts > 0)
    keys += fmt::format(", experts: {}, experts_per_token: {}, expert_intermediate: {}", experts,
                        dice.of({1, 2, 8}), dice.of({48, 768}));
  return {"{" + keys + "}", experts, true};
}

std::string randomSystem(Dice& dice, const char* name) {
  std::string keys = fmt::format("name: {}", name);
  const auto add = [&](const std::string& text) {
    if (dice.oneIn(3)) keys += ", " + text;
  };
  add(fmt::format("reshard_after_forward: {}", dice.of({"always", "never"})));
  add(fmt::format("forward_prefetch: {}", dice.of({0, 1, 3})));
  add(fmt::format("backward_prefetch: {}", dice.of({0, 2, 5})));
  add(fmt::format("reduce_scatter_inputs: {}", dice.of({2, 4})));
  add("separate_roots: true");
  add("separate_reduce_communicator: true");
  if (std::string_view(name) == "fsdp2") {
    add("async_unshard: true");
    add("accumulate_unsharded: true");
    add("defer_final_wait: true");
  }
  return "{" + keys + "}";
}

Pairs randomScenario(Dice& dice, const std::vector<std::string>& clusters) {
  const Sizes model = randomModel(dice);
  const int fsdp = dice.of({1, 2, 3, 8, 48, 64, 1024}), replicate = dice.of({1, 1, 2, 5});
  const int tensor = model.cuttable ? dice.of({1, 1, 2, 8}) : 1;
  int expert = std::min(model.experts, dice.of({1, 1, 2, 8, 64}));
  while (expert > 1 && (fsdp * tensor % expert != 0 || model.experts % expert != 0)) expert /= 2;
  return {
      {"model", model.model},
      {"cluster", fmt::format("{{preset: {}, gpus: {}}}", dice.of(clusters), fsdp * replicate * tensor)},
      {"parallel", fmt::format("{{fsdp: {}, replicate: {}, tensor: {}, expert: {}}}", fsdp, replicate, tensor,
                               std::max(1, expert))},
      {"systems", fmt::format("[{}, {}]", randomSystem(dice, "vescale"), randomSystem(dice, "fsdp2"))},
      {"batch", fmt::format("{{sequence: {}, micro_batch: {}, accumulation: {}}}",
                            dice.of({1, 17, 128, 1000, 1024}), dice.of({1, 2, 7}), dice.of({1, 1, 3}))},
      {"precision",
       fmt::format("{{params: {}, compute: {}, reduce: {}}}", dice.of({"fp32", "fp32", "bf16", "fp16"}),
                   dice.of({"bf16", "bf16", "fp16", "fp32"}), dice.of({"fp32", "bf16"}))},
      {"optimizer", dice.of<std::string>({"adamw", "sgd", "adam8bit", "{name: adam8bit, block: [16, 32]}"})},
      {"activation_checkpointing", dice.of<std::string>({"none", "selective", "full"})},
      {"software", fmt::format("{{attention: {}, loss: {}, optimizer_kernel: {}, compile: {}}}",
                               dice.of({"flash2", "eager"}), dice.of({"fused", "eager", "unfused_fp32"}),
                               dice.of({"fused", "foreach", "loop"}), dice.oneIn(2))},
  };
}

std::string written(const Pairs& scenario) {
  std::string text;
  for (const auto& [key, value] : scenario) text += key + ": " + value + "\n";
  return text;
}

std::vector<core::RunReport> reportsOf(const Pairs& scenario) {
  const auto results = app::run({.scenario = "tiny", .overrides = scenario}, {});
  if (!results) FAIL(core::text(results.error()));
  std::vector<core::RunReport> reports;
  for (const app::RunResult& result : *results) reports.push_back(result.report);
  return reports;
}

void checkTimes(const core::RunReport& run) {
  REQUIRE(run.completed);
  CHECK(run.stepSeconds > 0);
  CHECK(run.computeSeconds > 0);
  CHECK(run.computeSeconds + run.exposedCommSeconds + run.bubbleSeconds == Approx(run.stepSeconds));
  CHECK(run.exposedCommSeconds <= run.commSeconds);
  CHECK(run.commSeconds <= run.stepSeconds);
  CHECK(run.bubbleCopiesSeconds <= run.bubbleSeconds);
  double phases = 0, compute = 0, idle = 0;
  for (const core::PhaseRow& row : run.phases) {
    phases += row.seconds;
    compute += row.computeSeconds;
    idle += row.idleSeconds;
    CHECK(row.computeSeconds + row.exposedSeconds + row.idleSeconds == Approx(row.seconds));
  }
  CHECK(phases == Approx(run.stepSeconds));
  CHECK(compute == Approx(run.computeSeconds));
  CHECK(idle == Approx(run.bubbleSeconds).margin(1e-12));
  double shares = 0;
  for (const double share : run.provenance) shares += share;
  CHECK(shares == Approx(1.0));
  CHECK(run.mfu > 0);
  CHECK(run.mfu <= run.hfu);
  // MFU counts embeddings and full attention, of which kernels do little and half: never twice the peak.
  CHECK(run.hfu < 2);
  CHECK(run.tokensPerSecond == Approx(static_cast<double>(run.facts.tokensPerStep) / run.stepSeconds));
}

void checkMemory(const core::RunReport& run) {
  constexpr auto kOutside = static_cast<std::size_t>(core::MemoryCategory::ncclContext);
  core::Bytes inside = 0;
  for (std::size_t i = 0; i < run.memoryByCategory.size(); ++i) {
    CHECK(run.memoryByCategory[i] >= 0);
    if (i != kOutside) inside += run.memoryByCategory[i];
  }
  CHECK(inside == run.peakAllocated);
  CHECK(run.memoryByCategory[static_cast<std::size_t>(core::MemoryCategory::parameters)] > 0);
  CHECK(run.peakReserved >= run.peakAllocated);
  CHECK(run.marginBytes == run.hardware.capacityBytes - run.peakReserved - run.memoryByCategory[kOutside]);
  CHECK(run.fits == (run.marginBytes >= 0));
  CHECK(run.facts.paddingRatio >= 0);
}

}  // namespace

TEST_CASE("Figures of random scenarios agree with each other", "[app]") {
  const std::vector<std::string> clusters = sim::clusterPresetNames();
  Dice dice(20260215);
  for (int i = 0; i < 200; ++i) {
    const Pairs scenario = randomScenario(dice, clusters);
    INFO("scenario " << i << ":\n" << written(scenario));
    const auto reports = reportsOf(scenario);
    REQUIRE(reports.size() == 2);
    for (const core::RunReport& run : reports) {
      INFO(run.facts.system);
      checkTimes(run);
      checkMemory(run);
    }
    CHECK(reports[0].facts.tokensPerStep == reports[1].facts.tokensPerStep);
    CHECK(reports[0].facts.parameters == reports[1].facts.parameters);
  }
}

TEST_CASE("Faster links and faster boards never make a step slower", "[app]") {
  // Two per cent for orders that luck out on the slower machine.
  constexpr double kAnomaly = 1.02;
  Dice dice(7);
  for (int i = 0; i < 20; ++i) {
    Pairs scenario = randomScenario(dice, {"h800-rail-optimized"});
    const auto gpus = scenario[1].second.substr(scenario[1].second.find(','));
    const auto on = [&](const char* cluster) {
      scenario[1].second = std::string("{preset: ") + cluster + gpus;
      return reportsOf(scenario);
    };
    const auto slow = on("h800-rail-optimized"), links = on("h800-rail-optimized-400g");
    const auto boards = on("b200-rail-optimized");
    INFO(written(scenario));
    for (std::size_t system = 0; system < slow.size(); ++system) {
      CHECK(links[system].stepSeconds <= slow[system].stepSeconds * kAnomaly);
      CHECK(boards[system].stepSeconds <= slow[system].stepSeconds * kAnomaly);
    }
  }
}
