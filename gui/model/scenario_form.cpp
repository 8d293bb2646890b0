#include "gui/model/scenario_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/dtype.h"
#include "core/model/zoo.h"
#include "sim/cluster/cluster_catalogue.h"

namespace vsim::gui {
namespace {

using Kind = FormField::Kind;

std::vector<FormGroup> makeGroups() {
  const std::vector<std::string> dtypes{"fp32", "bf16", "fp16"};
  return {
      {"Model",
       {{"model.preset", "model", "Bundled model; models by size are in the text", Kind::choice,
         core::presetNames()}}},
      {"Cluster",
       {{"cluster.gpus", "GPUs", "GPUs of the job", Kind::count},
        {"cluster.preset", "cluster", "GPU, node and fabric", Kind::choice, sim::clusterPresetNames()}}},
      {"Parallelism",
       {{"parallel.fsdp", "FSDP ranks", "Ranks that share one copy of the dense parameters", Kind::count},
        {"parallel.replicate", "replicas", "Copies (HSDP); gradients are all-reduced between them",
         Kind::count},
        {"parallel.expert", "expert ranks", "Ranks over which routed experts are spread", Kind::count},
        {"parallel.tensor", "tensor ranks", "Ranks of tensor parallelism", Kind::count}}},
      {"Batch",
       {{"batch.sequence", "sequence", "Tokens of a sequence", Kind::count},
        {"batch.micro_batch", "micro-batch", "Sequences per rank and micro-batch", Kind::count},
        {"batch.accumulation", "accumulation", "Micro-batches per step", Kind::count}}},
      {"Systems",
       {{"systems", "systems", "FSDP systems that are compared", Kind::systems, {"vescale", "fsdp2"}}}},
      {"Memory and precision",
       {{"activation_checkpointing",
         "checkpointing",
         "Activations that are computed again in backward",
         Kind::choice,
         {"none", "selective", "full"}},
        {"precision.params", "parameters", "Type of the stored shards", Kind::choice, dtypes},
        {"precision.compute", "compute", "Type of gathers and kernels", Kind::choice, dtypes},
        {"precision.reduce", "reduction", "Type in which gradients are reduced", Kind::choice, dtypes},
        {"optimizer.name",
         "optimizer",
         "Its state and traffic",
         Kind::choice,
         {"adamw", "adam8bit", "sgd"}}}},
      {"Kernels",
       {{"software.attention",
         "attention",
         "Attention kernel; by GPU when it is not set",
         Kind::choice,
         {"triton", "flash1", "flash2", "flash3", "flash4", "cudnn", "te", "eager"}},
        {"software.loss",
         "loss",
         "How the loss is computed",
         Kind::choice,
         {"eager", "fused", "unfused_fp32"}},
        {"software.optimizer_kernel",
         "optimizer kernel",
         "Launches of the optimizer",
         Kind::choice,
         {"foreach", "fused", "loop"}}}},
      {"Simulation", {{"simulate.steps", "steps", "Simulated steps; the last one counts", Kind::count}}},
  };
}

std::string nameOf(core::Checkpointing value) {
  switch (value) {
    case core::Checkpointing::none:
      return "none";
    case core::Checkpointing::selective:
      return "selective";
    case core::Checkpointing::full:
      return "full";
  }
  return {};
}

std::string nameOf(core::LossKernel value) {
  switch (value) {
    case core::LossKernel::fused:
      return "fused";
    case core::LossKernel::eager:
      return "eager";
    case core::LossKernel::unfusedFp32:
      return "unfused_fp32";
  }
  return {};
}

std::string systemsOf(const core::Scenario& scenario) {
  std::vector<std::string> names;
  for (const core::SystemSpec& system : scenario.systems) names.push_back(system.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string sizeValue(const core::Scenario& s, const std::string& key) {
  if (key == "cluster.gpus") return std::to_string(s.cluster.gpus);
  if (key == "parallel.fsdp") return std::to_string(s.parallel.fsdp);
  if (key == "parallel.replicate") return std::to_string(s.parallel.replicate);
  if (key == "parallel.expert") return std::to_string(s.parallel.expert);
  if (key == "parallel.tensor") return std::to_string(s.parallel.tensor);
  if (key == "batch.sequence") return std::to_string(s.batch.sequence);
  if (key == "batch.micro_batch") return std::to_string(s.batch.microBatch);
  if (key == "batch.accumulation") return std::to_string(s.batch.accumulation);
  if (key == "simulate.steps") return std::to_string(s.simulate.steps);
  return {};
}

}  // namespace

const std::vector<FormGroup>& formGroups() {
  static const std::vector<FormGroup> groups = makeGroups();
  return groups;
}

std::string fieldValue(const core::Scenario& s, const std::string& key) {
  if (key == "model.preset")
    return {};  // the scenario keeps the model, not its preset: what is written counts
  if (key == "cluster.preset") return s.cluster.preset;
  if (key == "systems") return systemsOf(s);
  if (key == "activation_checkpointing") return nameOf(s.activationCheckpointing);
  if (key == "precision.params") return std::string(core::name(s.precision.params));
  if (key == "precision.compute") return std::string(core::name(s.precision.compute));
  if (key == "precision.reduce") return std::string(core::name(s.precision.reduce));
  if (key == "optimizer.name") return s.optimizer.name;
  if (key == "software.attention") return s.software.attention;
  if (key == "software.loss") return nameOf(s.software.loss);
  if (key == "software.optimizer_kernel") return s.software.optimizerKernel;
  return sizeValue(s, key);
}

}  // namespace vsim::gui
