#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/collective.h"
#include "core/base/units.h"
#include "core/program/execution_log.h"

namespace vsim::core {

/// What the metrics need to know of one GPU.
struct HardwareFacts {
  std::string gpu;          // "H800-SXM"
  double peakFlops = 0;     // dense matrix peak in the compute dtype, FLOP/s
  Bytes capacityBytes = 0;  // what the driver reports as total
  Bytes contextBytes = 0;   // CUDA context, libraries' workspaces: outside the caching allocator
  Bytes ncclBytes = 0;      // communicators' buffers: outside the caching allocator
};

/// What the metrics need to know of the run besides its log.
struct RunFacts {
  std::string scenario, system;
  std::int64_t gpus = 0;
  std::int64_t tokensPerStep = 0;  // of all GPUs together, accumulation included
  std::int64_t parameters = 0;
  std::int64_t activeParameters = 0;  // with only the routed and shared experts that one token meets
  std::int64_t layers = 0, heads = 0, headDim = 0, sequence = 0;
  double recomputeFlopsPerToken = 0;  // forward work done again in backward; attention counted in full
  double paddingRatio = 0;            // sharded elements / parameters - 1, over all ranks, as a fraction
  std::int64_t simulatedRanks = 0;    // rank classes that were really executed
  std::vector<std::pair<std::string, std::string>> overrides;  // key=value pairs of this point, as written
  double wallSeconds = 0;  // what the prediction itself took; never part of a comparison
};

/// Relative standard errors of the costs that the executor used; same indices as StepProgram::operations and
/// StepProgram::collectives.
struct CostErrors {
  std::vector<double> operations, collectives;
};

/// Every instant of the step belongs to exactly one phase: that of the kernel on the default stream, else of
/// the collective that runs, else (idle) of the next kernel. So `seconds` of all rows sum to the step time.
struct PhaseRow {
  Phase phase = Phase::forward;
  double seconds = 0;         // compute + exposed + idle
  double computeSeconds = 0;  // kernels on the default stream
  double commSeconds = 0;     // union of this phase's collectives, hidden or not
  double exposedSeconds = 0;  // collectives while no kernel runs on the default stream
  double idleSeconds = 0;     // neither
};

/// All collectives of one kind on one communicator.
struct CollectiveRow {
  CollectiveKind kind = CollectiveKind::allGather;
  std::string group;
  std::int64_t groupSize = 1;
  std::int64_t count = 0;
  Bytes bytes = 0;  // summed, size as nccl-tests counts it: gathered output, reduce-scatter input, else input
  double seconds = 0;  // summed
  double busBandwidth =
      0;  // bytes/s; bytes / seconds * (n-1)/n, all-reduce 2(n-1)/n (nccl-tests' definition)
};

/// The metrics of one run of one system. Times are those of the last step (steady state) of the slowest class
/// of ranks. Plain data.
struct RunReport {
  RunFacts facts;
  HardwareFacts hardware;

  bool completed = false;  // false: no step ran to its end (out of memory); times are then 0
  double stepSeconds = 0;
  double tokensPerSecond = 0, tokensPerSecondPerGpu = 0;
  double mfu = 0, hfu = 0;                 // fractions
  double computeSeconds = 0;               // a kernel runs on the default stream
  double commSeconds = 0;                  // a collective runs on any communicator
  double exposedCommSeconds = 0;           // a collective runs, no kernel on the default stream
  double bubbleSeconds = 0;                // neither
  double bubbleCopiesSeconds = 0;          // part of the bubble in which a kernel runs on another stream
  std::vector<PhaseRow> phases;            // those that occur, in the order of Phase
  std::vector<CollectiveRow> collectives;  // longest first

  Bytes peakAllocated = 0, peakReserved = 0;  // worst class of ranks
  std::array<Bytes, 9> memoryByCategory{};    // at the allocated peak; ncclContext: context + NCCL besides
  Bytes marginBytes = 0;                      // capacity - (reserved + context + NCCL); negative: lacking
  bool fits = true;
  bool outOfMemory = false;  // the executor met it
  std::string outOfMemoryBuffer;
  std::int64_t allocationRetries = 0;

  std::string slowestRanks, worstMemoryRanks;  // names of the classes the times and the memory are of
  std::array<double, 4> provenance{};          // shares of the step time by Provenance; sum to 1
  std::optional<double> relativeError;         // standard error of the step time as a fraction
};

/// Size of a collective as nccl-tests counts it: what an all-gather gathers, what the others take in.
[[nodiscard]] Bytes ncclTestsBytes(const Collective& collective);

/// FLOPs per token that MFU counts: 6 N_active + 12 layers heads head_dim sequence (Chowdhery et al., PaLM,
/// 2022, appendix B: full, non-causal attention).
[[nodiscard]] Flops modelFlopsPerToken(const RunFacts& facts);

/// Metrics of a log whose program is set. O(n log n) in the slices of the last step. Idle time counts as
/// modelled. With `errors`, relativeError is that of the step: errors of kernels add up (one model made them
/// all), so do errors of exposed collectives, and the two sums are taken as independent.
[[nodiscard]] RunReport makeReport(const ExecutionLog& log, const RunFacts& facts,
                                   const HardwareFacts& hardware, const CostErrors* errors = nullptr);

}  // namespace vsim::core
