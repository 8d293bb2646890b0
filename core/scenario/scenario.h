#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/model/config.h"
#include "core/model/costs.h"

namespace vsim::core {

/// A scenario as plain values, defaults filled in, validated (see reader.h). Field names follow the YAML
/// keys.

/// Either a preset or a profile that describes its cluster.
struct ClusterSpec {
  std::string preset;
  std::int64_t gpus = 8;
  std::string profilePath;  // resolved
};

struct ParallelSpec {
  std::int64_t fsdp = 8, replicate = 1, expert = 1, tensor = 1;
};

enum class ReshardAfterForward : std::uint8_t { automatic, always, never };

/// A system and its options. `automatic` reshards all units but the root.
struct SystemSpec {
  std::string name;  // "vescale", "fsdp2"
  ReshardAfterForward reshardAfterForward = ReshardAfterForward::automatic;
  std::int64_t forwardPrefetch = 0;  // units gathered ahead by explicit lists; 0: implicit only
  std::int64_t backwardPrefetch = 1;
  std::int64_t layersPerBucket = 1;      // neighbouring layers that are one unit
  std::int64_t reduceScatterInputs = 1;  // inputs that may be held at once
  bool asyncUnshard = false;
  bool separateRoots = false;        // embedding and head as units of their own
  bool accumulateUnsharded = false;  // no reduction before the last micro-batch: gradients are kept unsharded
  bool deferFinalWait = false;       // micro-batches but the last are marked as not the last backward
  bool separateReduceCommunicator = false;  // all-gather and reduce-scatter on two communicators
};

struct BatchSpec {
  std::int64_t sequence = 4096, microBatch = 1, accumulation = 1;
};

struct PrecisionSpec {
  DType params = DType::fp32, compute = DType::bf16, reduce = DType::fp32;
};

struct OptimizerSpec {
  std::string name = "adamw";       // "adamw", "adam8bit", "sgd"
  std::vector<std::int64_t> block;  // adam8bit: rows x columns of one quantisation block
};

/// Exactly one of the four is set. A row is the last dimension.
struct GranularityRule {
  std::string match = "*";
  std::int64_t elements = 0, rows = 0;
  std::vector<std::int64_t> tile;
  bool whole = false;
};

/// What the kernels are; decides their speed as much as the GPU does.
struct SoftwareSpec {
  std::string
      attention;  // "triton", "flash1", "flash2", "flash3", "flash4", "cudnn", "te", "eager"; empty: by GPU
  LossKernel loss = LossKernel::eager;
  std::string optimizerKernel = "foreach";  // "fused", "foreach", "loop"
  bool compile = false;
  bool fusedNorm = true;
  std::int64_t year = 0;  // age of the libraries; 0: current
};

enum class SimulationMode : std::uint8_t { representative };

struct SimulateSpec {
  SimulationMode mode = SimulationMode::representative;
  std::int64_t steps = 2;
  std::int64_t seed = 1;
};

/// How `--real` runs the step on hardware. Warm-up and measured steps together: at most 255.
struct RealSpec {
  /// Share of every kernel's work that the host executor does: of a product's multiplications, of a
  /// memory-bound kernel's bytes. Above 0, at most 1. GPUs do all of it.
  double scale = 1;
  std::int64_t steps = 10, warmup = 2;  // measured, and before them unmeasured
};

struct Scenario {
  std::string name, path;
  ModelConfig model;
  std::vector<std::string> ignoredModelFields;
  ClusterSpec cluster;
  ParallelSpec parallel;
  std::vector<SystemSpec> systems;
  BatchSpec batch;
  PrecisionSpec precision;
  OptimizerSpec optimizer;
  std::vector<GranularityRule> granularity;
  Checkpointing activationCheckpointing = Checkpointing::none;
  SoftwareSpec software;
  std::string profilePath;  // resolved; empty: that of the cluster, or none
  SimulateSpec simulate;
  RealSpec real;
  /// The key=value pairs that made this point (from --set and the sweep), in order.
  std::vector<std::pair<std::string, std::string>> overrides;
};

}  // namespace vsim::core
