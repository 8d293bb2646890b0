#include <catch2/catch.hpp>
#include <vector>

#include "tests/core/scenario/base_scenario.h"

using namespace vsim;
using test::Change;
using test::changed;

namespace {

/// One mistake: `text` with a ^ in front of the place that must be named, and a part of the message.
struct Mistake {
  std::string text;
  std::string message;
};

struct Marked {
  std::string text;
  int line = 1, column = 1;
};

Marked unmark(const std::string& text) {
  const std::size_t at = text.find('^');
  REQUIRE(at != std::string::npos);
  Marked result{text.substr(0, at) + text.substr(at + 1)};
  for (std::size_t i = 0; i < at; ++i) {
    result.column = text[i] == '\n' ? 1 : result.column + 1;
    result.line += text[i] == '\n' ? 1 : 0;
  }
  return result;
}

void check(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    const Marked marked = unmark(mistake.text);
    const auto result = test::read(marked.text);
    INFO("expected: " << mistake.message);
    REQUIRE_FALSE(result.has_value());
    INFO("got:\n" << core::text(result.error()));
    REQUIRE(result.error().size() == 1);
    const std::string text = result.error().front().text();
    CHECK_THAT(text, Catch::Contains(mistake.message));
    CHECK_THAT(text, Catch::StartsWith(fmt::format("base.yaml:{}:{}: ", marked.line, marked.column)));
  }
}

}  // namespace

TEST_CASE("the base scenario is right") {
  const auto result = test::read(test::kBase);
  if (!result) FAIL(core::text(result.error()));
  CHECK(result->parallel.fsdp == 8);
}

TEST_CASE("unknown, missing and repeated keys") {
  check({
      {changed("\nbatch:", "\n^bach:"), "unknown key 'bach' (did you mean 'batch'?)"},
      {changed("gpus: 16", "gpus: 16, ^nodes: 2"),
       "unknown key 'nodes' in cluster (known keys: preset, profile, gpus)"},
      {changed("micro_batch", "^microbatch"),
       "unknown key 'microbatch' in batch (did you mean 'micro_batch'?)"},
      {changed("prefetch: 2", "^prefech: 2"),
       "unknown key 'prefech' in systems.1 (did you mean 'prefetch'?)"},
      {changed("elements: 1", "elements: 1, ^element: 1"), "unknown key 'element' in granularity.0"},
      {changed("seed: 1", "^sed: 1"), "unknown key 'sed' in simulate (did you mean 'seed'?)"},
      {changed("loss: fused", "^los: fused"), "did you mean 'loss'?"},
      {changed("layers: 3", "layers: 3, ^depth: 3"), "unknown key 'depth' in model"},
      {changed("vsim: 1\nname", "^name"), "vsim is missing (the format's version: write 'vsim: 1')"},
      {changed("{layers: 3, hidden: 64,", "^{layers: 3,"), "model.hidden is missing"},
      {changed({{"model: {", "model: ^{"}, {", experts_per_token: 2", ""}}),
       "model.experts_per_token is missing"},
      {changed({{"model: {", "model: ^{"},
                {"intermediate: 128, ", ""},
                {", experts: 8, experts_per_token: 2, expert_intermediate: 32", ""},
                {"expert: 4, ", ""}}),
       "model.intermediate is missing (the MLP's width)"},
      {changed("{preset: h100-rail-optimized, gpus: 16}", "^{preset: h100-rail-optimized}"),
       "cluster.gpus is missing (the number of GPUs)"},
      {changed("{preset: h100-rail-optimized, gpus: 16}", "^{gpus: 16}"), "cluster.preset is missing"},
      {changed("preset: h100-rail-optimized", "preset: h100-rail-optimized, profile: ^x.yaml"),
       "cluster: either preset or profile, not both"},
      {changed("preset: h100-rail-optimized", "profile: ^x.yaml"),
       "cluster.profile: 'x.yaml' is not there (looked beside the scenario"},
      {changed("{name: fsdp2, prefetch: 2}", "^{prefetch: 2}"), "systems.1.name is missing"},
      {changed("fsdp: 8, ", "fsdp: 8, ^fsdp: 8, "), "duplicate key 'fsdp' (first on line 5)"},
      {test::kBase + "^name: again\n", "duplicate key 'name' (first on line 2)"},
      {changed("{name: adamw}", "{^<<: {name: sgd}}"), "merge keys (<<) are not read (write the keys out)"},
      {changed("{name: adamw}", "{^[a]: 1}"), "expected a key, found a list"},
      {changed("activation_checkpointing: none", "^activation_checkpointing:"),
       "activation_checkpointing has no value"},
      {changed("name: base", "^name: ~"), "name has no value"},
  });
}

TEST_CASE("wrong types") {
  check({
      {changed("gpus: 16", "gpus: ^many"), "cluster.gpus: expected a whole number, found 'many'"},
      {changed("gpus: 16", "gpus: ^[16]"), "cluster.gpus: expected a whole number, found a list"},
      {changed("sequence: 128", "sequence: ^{a: 1}"), "batch.sequence: expected a whole number, found a map"},
      {changed("sequence: 128", "sequence: ^1.5"), "batch.sequence: '1.5' is not a whole number"},
      {changed("sequence: 128", "sequence: ^4K"), "unknown unit 'K' in '4K' (did you mean 'k'?)"},
      {changed("sequence: 128", "sequence: ^4 tokens"), "unknown unit 'tokens' in '4 tokens'"},
      {changed("gpus: 16", "gpus: ^true"), "expected a whole number, found 'true'"},
      {changed("cluster: {preset: h100-rail-optimized, gpus: 16}", "cluster: ^h100-rail-optimized"),
       "cluster: expected a map of keys and values, found 'h100-rail-optimized'"},
      {changed("batch: {sequence: 128, micro_batch: 1, accumulation: 1}", "batch: ^[128, 1]"),
       "batch: expected a map of keys and values, found a list"},
      {changed("prefetch: 2}", "async_unshard: ^maybe}"), "expected true or false, found 'maybe'"},
      {changed("name: base", "name: ^[a, b]"), "name: expected a text, found a list"},
      {changed("mode: representative", "mode: ^[a]"), "simulate.mode: expected one word, found a list"},
      {changed("[{match: \"*\", elements: 1}]", "^all"), "granularity: expected a list"},
      {changed("{match: \"*\", elements: 1}", "^3"), "granularity.0: expected a map"},
      {changed("elements: 1", "tile: ^32"),
       "granularity.0.tile: expected two numbers such as [32, 32], found '32'"},
      {changed("elements: 1", "tile: ^[32]"), "expected two numbers"},
      {changed("elements: 1", "tile: [32, ^x]"), "expected a whole number, found 'x'"},
      {changed("vsim: 1", "vsim: ^one"), "vsim: expected a whole number, found 'one'"},
      {"^just text", "the scenario: expected a map of keys and values, found 'just text'"},
      {"^- vsim: 1\n- name: x\n", "the scenario: expected a map of keys and values, found a list"},
  });
}

TEST_CASE("impossible numbers") {
  check({
      {changed("gpus: 16", "gpus: ^1e30"), "cluster.gpus: '1e30' is too large"},
      {changed("gpus: 16", "gpus: ^1e30000000000"), "is too large"},
      {changed("gpus: 16", "gpus: ^9223372036854775808"), "'9223372036854775808' is too large"},
      {changed("gpus: 16", "gpus: ^17M"), "cluster.gpus: 17000000 is impossible: at most 16777216"},
      {changed("gpus: 16", "gpus: ^0"), "cluster.gpus: 0 is impossible: at least 1"},
      {changed("gpus: 16", "gpus: ^-8"), "cluster.gpus: -8 is impossible: at least 1"},
      {changed("tensor: 1", "tensor: ^0"), "parallel.tensor: 0 is impossible"},
      {changed("micro_batch: 1", "micro_batch: ^-1"), "batch.micro_batch: -1 is impossible"},
      {changed("accumulation: 1", "accumulation: ^0"), "batch.accumulation: 0 is impossible"},
      {changed("sequence: 128", "sequence: ^99999999999T"), "is too large"},
      {changed("layers: 3", "layers: ^0"), "model.layers: 0 is impossible"},
      {changed("layers: 3", "layers: ^1M"), "model.layers: 1000000 is impossible: at most 4096"},
      {changed("steps: 2", "steps: ^1"), "simulate.steps: 1 is impossible: at least 2"},
      {test::kBase + "real: {steps: ^0}\n", "real.steps: 0 is impossible: at least 1"},
      {test::kBase + "real: ^{steps: 200, warmup: 56}\n",
       "real: 200 steps and 56 of warm-up are more than 255"},
      {test::kBase + "real: {warmup: ^-1}\n", "real.warmup: -1 is impossible"},
      {test::kBase + "real: {scale: ^0}\n", "real.scale: '0' is impossible: above 0, at most 1"},
      {test::kBase + "real: {scale: ^1.5}\n", "real.scale: '1.5' is impossible: above 0, at most 1"},
      {test::kBase + "real: {scale: ^nan}\n", "real.scale: expected a number"},
      {test::kBase + "real: {scale: ^1%}\n", "real.scale: expected a number"},
      {test::kBase + "real: {scale: ^[1]}\n", "real.scale: expected a number"},
      {test::kBase + "real: {^scales: 1}\n", "unknown key 'scales' in real (did you mean 'scale'?)"},
      {test::kBase + "real: ^3\n", "real: expected a map"},
      {changed("seed: 1", "seed: ^-1"), "simulate.seed: -1 is impossible"},
      {changed("prefetch: 2", "prefetch: ^-1"), "systems.1.prefetch: -1 is impossible"},
      {changed("prefetch: 2", "reduce_scatter_inputs: ^0"),
       "systems.1.reduce_scatter_inputs: 0 is impossible"},
      {changed("elements: 1", "rows: ^0"), "granularity.0.rows: 0 is impossible"},
      {changed("vsim: 1", "vsim: ^2"),
       "vsim: 2 is a format that this program does not know (it reads 'vsim: 1')"},
      {changed("loss: fused", "year: ^1999"), "software.year: 1999 is impossible: at least 2016"},
      {changed("batch: {sequence: 128, micro_batch: 1, accumulation: 1}",
               "batch: ^{sequence: 1G, micro_batch: 1M, accumulation: 1M}"),
       "batch: more than 1152921504606846976 tokens in one step"},
  });
}

TEST_CASE("names that are not known") {
  check({
      {changed("systems: [vescale,", "systems: [^vscale,"),
       "systems.0: 'vscale' is not known (known systems: "},
      {changed("systems: [vescale,", "systems: [^fsdp1,"),
       "systems.0: 'fsdp1' is not known (known systems: vescale, fsdp2)"},
      {changed("systems: [vescale,", "systems: [^deepspeed,"), "known systems: vescale, fsdp2"},
      {changed("name: fsdp2", "name: ^megatron"), "systems.1.name: 'megatron' is not known (known systems: "},
      {changed("prefetch: 2", "reshard_after_forward: ^sometimes"),
       "'sometimes' is not known (known values: auto, true, false"},
      {changed("name: adamw", "name: ^muon"), "'muon' cannot be simulated in this version"},
      {changed("name: adamw", "name: ^adam"), "optimizer.name: 'adam' is not known (did you mean 'adamw'?)"},
      {changed("compute: bf16", "compute: ^bf61"),
       "precision.compute: 'bf61' is not known (did you mean 'bf16'?)"},
      {changed("compute: bf16", "compute: ^int32"), "precision.compute: 'int32' is not known"},
      {changed("attention: flash2", "attention: ^flash"), "'flash' is not known (did you mean 'flash1'?)"},
      {changed("loss: fused", "loss: ^fussed"), "did you mean 'fused'?"},
      {changed("checkpointing: none", "checkpointing: ^some"),
       "activation_checkpointing: 'some' is not known"},
      {changed("mode: representative", "mode: ^exact"), "known modes: representative"},
      {changed("preset: h100-rail-optimized", "preset: ^h100-rail-optimised"),
       "did you mean 'h100-rail-optimized'?"},
      {changed("preset: h100-rail-optimized", "preset: ^tpu"), "cluster.preset: 'tpu' is not known"},
      {test::kBase + "profile: ^nowhere.yaml\n", "profile: 'nowhere.yaml' is not there"},
      {changed("layers: 3", "layers: 3, mlp: ^gate"),
       "model.mlp: 'gate' is not known (did you mean 'gated'?)"},
      {changed("layers: 3", "layers: 3, dtype: ^double"), "model.dtype: 'double' is not known"},
  });
}

TEST_CASE("values that contradict each other") {
  const Change noReplicate{"replicate: 2, ", ""};
  check({
      {changed("replicate: 2", "replicate: ^3"),
       "parallel: fsdp 8 · replicate 3 · tensor 1 = 24, but cluster.gpus is 16 (replicate 2 fits; left out, "
       "it "
       "follows)"},
      {changed({{"gpus: 16", "gpus: 20"}, {"replicate: 2", "replicate: ^2"}}),
       "parallel: fsdp 8 · replicate 2 · tensor 1 = 16, but cluster.gpus is 20 (gpus nearest: 16 or 24)"},
      {changed("replicate: 2", "replicate: ^16M"), "replicate 16000000 · tensor 1 = 128000000, but"},
      {changed({noReplicate, {"fsdp: 8", "fsdp: ^16M"}, {"tensor: 1", "tensor: 4"}, {"kv_heads: 2, ", ""}}),
       "parallel: fsdp 16000000 · tensor 4 is more than 16777216 GPUs"},
      {changed({noReplicate, {"gpus: 16", "gpus: ^20"}}),
       "cluster.gpus: 20 is not a multiple of fsdp 8 · tensor 1 (nearest: 16 or 24)"},
      {changed({{"fsdp: 8, ", ""}, {"replicate: 2", "replicate: 3"}, {"gpus: 16", "gpus: ^16"}}),
       "cluster.gpus: 16 is not a multiple of replicate 3 · tensor 1 (nearest: 15 or 18)"},
      {changed("accumulation: 1", "global_tokens: ^3000"),
       "batch.global_tokens: 3000 is not a multiple of fsdp · replicate · sequence · micro_batch = 2048 "
       "(nearest: "
       "2048 (accumulation 1) or 4096 (accumulation 2))"},
      {changed("batch: {sequence: 128, micro_batch: 1, accumulation: 1}",
               "batch: ^{sequence: 128, micro_batch: 1, accumulation: 1M}"),
       "1000000 micro-batches of 3 layers are too many to simulate (at most 43690)"},
      {changed("accumulation: 1", "global_tokens: ^1k"), "(nearest: 2048 (accumulation 1))"},
      {changed("accumulation: 1", "accumulation: 1, global_tokens: ^2048"),
       "batch: either global_tokens or accumulation, not both"},
      {changed("accumulation: 1", "global_tokens: ^1000000T"), "needs more than 1048576 accumulation steps"},
      {changed("{name: adamw}", "{name: sgd, block: ^[32, 32]}"), "optimizer.block: sgd has no blocks"},
      {changed("prefetch: 2", "prefetch: ^2, forward_prefetch: 2"),
       "systems.1.prefetch and forward_prefetch are the same (leave one out)"},
      {changed("{match: \"*\", elements: 1}", "^{match: \"*\", elements: 1, rows: 2}"),
       "granularity.0: exactly one of elements, rows, tile and whole, not 2"},
      {changed("{match: \"*\", elements: 1}", "^{match: \"*\"}"),
       "exactly one of elements, rows, tile and whole, not 0"},
      {changed("[vescale, {name: fsdp2, prefetch: 2}]", "^[]"), "systems: the list is empty"},
  });
}

TEST_CASE("parallel groups that do not fit the model") {
  const std::string dense = ", experts: 8, experts_per_token: 2, expert_intermediate: 32";
  const Change noReplicate{"replicate: 2, ", ""};
  check({
      {changed("expert: 4", "expert: ^16"),
       "parallel.expert: 16 is more than the model's 8 experts (nearest: 8)"},
      {changed("expert: 4", "expert: ^3"),
       "parallel.expert: 3 does not divide the model's 8 experts (nearest: 2 or 4)"},
      {changed({{"fsdp: 8, replicate: 2", "fsdp: 4, replicate: 4"}, {"expert: 4", "expert: ^8"}}),
       "parallel.expert: 8 does not divide fsdp 4 · tensor 1 (nearest: 4)"},
      {changed({{dense, ""}, {"expert: 4", "expert: ^4"}}),
       "parallel.expert: 4, but explicit has no experts (leave it out)"},
      {changed({noReplicate, {"tensor: 1", "tensor: ^8"}, {"fsdp: 8", "fsdp: 2"}}),
       "parallel.tensor: 8 does not divide the model's 4 attention heads (nearest: 2)"},
      {changed({noReplicate, {"tensor: 1", "tensor: ^4"}, {"fsdp: 8", "fsdp: 4"}}),
       "parallel.tensor: 4 does not divide the model's 2 key/value heads (nearest: 2)"},
      {changed({noReplicate, {"tensor: 1", "tensor: ^2"}, {"intermediate: 128", "intermediate: 127"}}),
       "parallel.tensor: 2 does not divide the model's 127 columns of the MLP"},
  });
}

TEST_CASE("models that cannot be") {
  check({
      {changed("kv_heads: 2", "kv_heads: ^3"), "model.kv_heads: 3 does not divide heads 4"},
      {changed({{"hidden: 64", "hidden: 66"}, {" heads: 4", " heads: ^4"}}),
       "model.heads: 4 does not divide hidden 66 (or give head_dim)"},
      {changed("experts_per_token: 2", "experts_per_token: ^9"),
       "model.experts_per_token: 9 is more than the 8 experts"},
      {changed({{"experts: 8, ", ""}, {"experts_per_token: 2", "experts_per_token: ^2"}}),
       "model.experts_per_token without model.experts"},
      {changed("layers: 3", "layers: 3, dense_layers: ^4"), "model.dense_layers: 4 is impossible: at most 3"},
      {changed({{"layers: 3, hidden: 64", "layers: 4096, hidden: 1048576"},
                {"model: {", "model: ^{"},
                {"128, vocab", "1048576, vocab"},
                {"experts: 8", "experts: 256"},
                {"expert_intermediate: 32", "expert_intermediate: 1048576"}}),
       "parameters are more than 1e17"},
  });
}
