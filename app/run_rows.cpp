#include "app/run_rows.h"

#include <charconv>
#include <optional>
#include <regex>

#include "core/model/zoo.h"
#include "sim/cluster/cluster_catalogue.h"
#include "sim/cluster/gpu_catalogue.h"

namespace vsim::app {
namespace {

using namespace core;

std::optional<double> number(const RunRow& row, const std::string& column) {
  const auto at = row.find(column);
  if (at == row.end() || at->second.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(at->second.data(), at->second.data() + at->second.size(), value);
  if (error != std::errc() || end != at->second.data() + at->second.size()) return std::nullopt;
  return value;
}

std::string textOf(const RunRow& row, const std::string& column) {
  const auto at = row.find(column);
  return at == row.end() ? std::string() : at->second;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A board that a table names more loosely than the catalogue does is taken as the SXM board.
Result<ClusterHardware> clusterOf(const RunRow& row) {
  const std::string gpu = textOf(row, "gpu");
  std::string preset;
  if (gpu.starts_with("H100"))
    preset = "h100-rail-optimized";
  else if (gpu.starts_with("A100") && contains(gpu, "40GB"))
    preset = "a100-40gb-rail-optimized";
  else if (gpu.starts_with("A100"))
    preset = "a100-80gb-rail-optimized";
  else if (gpu.starts_with("H200"))
    preset = "h200-rail-optimized";
  else if (gpu.starts_with("B200"))
    preset = "b200-rail-optimized";
  else
    return fail("no cluster preset for " + gpu);
  auto cluster = sim::clusterPreset(preset);
  if (!cluster) return cluster;
  if (contains(gpu, "500W"))
    if (const GpuSpec* board = sim::findGpu("H100-SXM-500W")) cluster->gpu = *board;
  // "800 Gbps inter-node", "3.2 Tbps RoCE": the rate of a node.
  std::smatch match;
  const std::string interconnect = textOf(row, "interconnect");
  if (std::regex_search(interconnect, match, std::regex(R"(([0-9.]+) ?(G|T)(bps|b/s))"))) {
    const double bits = std::stod(match[1]) * (match[2] == "T" ? 1e12 : 1e9);
    cluster->nicBytesPerSecond = bits / 8.0 / cluster->nicsPerNode;
  }
  if (const auto perNode = number(row, "gpus_per_node"); perNode && *perNode != cluster->gpusPerNode)
    return fail("nodes of another size than the preset's");
  return cluster;
}

/// What is known of a framework's kernels at the time of the run; see docs/accuracy.md for the sources.
SoftwareSpec softwareOf(const RunRow& row) {
  const std::string framework = textOf(row, "framework");
  SoftwareSpec software;
  if (contains(framework, "Composer")) {
    // llm-foundry's throughput script: Triton attention, low-precision LayerNorm (a fused kernel), losses and
    // loss metrics in fp32 unfused, an optimizer that loops over parameters.
    software.attention = "triton";
    software.loss = LossKernel::unfusedFp32;
    software.optimizerKernel = "loop";
    software.year = contains(framework, "1.13") ? 2022 : 2023;
  } else {
    software.attention = "flash2";
    software.optimizerKernel = contains(framework, "torchtitan") ? "fused" : "foreach";
    software.year = 2024;
  }
  software.compile = contains(framework, "compile") && !contains(framework, "no compile");
  // Llama's RMSNorm is written out in fp32 in these codebases; only a compiler fuses it.
  if (!contains(framework, "Composer") && !software.compile) software.fusedNorm = false;
  return software;
}

Result<ModelConfig> modelOf(const RunRow& row) {
  const std::string name = textOf(row, "model");
  const bool mpt = name.starts_with("MPT");
  const bool llama = name.starts_with("Llama") || name.starts_with("llama");
  if (!mpt && !llama) return fail("architecture of " + name + " is not stated");
  auto config = preset(mpt ? "mpt-7b" : "llama-2-7b");
  if (!config) return config;
  const auto get = [&](const char* column) {
    return static_cast<std::int64_t>(number(row, column).value_or(0));
  };
  for (const char* column : {"n_layers", "d_model", "n_heads", "vocab", "seq_len"})
    if (get(column) <= 0) return fail(std::string(column) + " is not stated");
  config->name = name;
  config->layers = get("n_layers");
  config->hidden = get("d_model");
  config->heads = get("n_heads");
  config->kvHeads = get("n_kv_heads") > 0 ? get("n_kv_heads") : config->heads;
  config->headDim = config->headDimValue = config->hidden / config->heads;
  config->intermediate = get("d_ff") > 0 ? get("d_ff") : 4 * config->hidden;
  config->vocabulary = get("vocab");
  if (config->position == PositionKind::learned) config->maxPositions = get("seq_len");
  return config;
}

Result<void> parallelOf(const RunRow& row, Scenario& scenario) {
  const std::string parallelism = textOf(row, "parallelism");
  const auto gpus = static_cast<std::int64_t>(number(row, "n_gpus").value_or(0));
  if (gpus <= 0) return fail("n_gpus is not stated");
  scenario.cluster.gpus = gpus;
  scenario.parallel = {.fsdp = gpus, .replicate = 1, .expert = 1, .tensor = 1};
  SystemSpec system{.name = "fsdp2"};
  if (parallelism == "FSDP FULL_SHARD") {
  } else if (parallelism == "FSDP SHARD_GRAD_OP") {
    system.reshardAfterForward = ReshardAfterForward::never;
  } else if (parallelism.starts_with("HYBRID")) {
    scenario.parallel.fsdp = std::min<std::int64_t>(gpus, 8);
    scenario.parallel.replicate = gpus / scenario.parallel.fsdp;
  } else {
    return fail("parallelism is not simulated: " + parallelism);
  }
  scenario.systems = {system};
  return {};
}

}  // namespace

Result<PublishedRun> publishedRun(const RunRow& row) {
  PublishedRun run;
  const auto measured = number(row, "tokens_per_s_per_gpu");
  if (!measured || *measured <= 0) return fail("tokens_per_s_per_gpu is not stated");
  run.tokensPerSecondPerGpu = *measured;
  Scenario& s = run.scenario;
  s.name = textOf(row, "row_id");
  if (textOf(row, "precision") != "bf16") return fail("precision is not bf16");
  if (auto ok = parallelOf(row, s); !ok) return tl::unexpected(ok.error());
  auto cluster = clusterOf(row);
  if (!cluster) return tl::unexpected(cluster.error());
  run.cluster = *cluster;
  auto model = modelOf(row);
  if (!model) return tl::unexpected(model.error());
  s.model = std::move(*model);
  const auto microBatch = number(row, "micro_batch_per_gpu");
  if (!microBatch || *microBatch < 1) return fail("micro_batch_per_gpu is not stated");
  s.batch = {.sequence = static_cast<std::int64_t>(*number(row, "seq_len")),
             .microBatch = static_cast<std::int64_t>(*microBatch),
             .accumulation = static_cast<std::int64_t>(number(row, "grad_accum").value_or(1))};
  const std::string checkpointing = textOf(row, "activation_checkpointing");
  if (checkpointing == "full")
    s.activationCheckpointing = Checkpointing::full;
  else if (checkpointing != "none")
    return fail("activation_checkpointing is not stated, or partial");
  s.software = softwareOf(row);
  if (contains(textOf(row, "note"), "PURE")) s.precision.reduce = DType::bf16;
  s.simulate.steps = 2;
  return run;
}

}  // namespace vsim::app
