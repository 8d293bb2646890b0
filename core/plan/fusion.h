#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/plan/bucket_plans.h"

namespace vsim::core {

/// Neighbouring equal layers, and what their elements cost in memory and on the wire.
struct FusionProblem {
  std::vector<LayoutProblem> groups;  // of one layer: one, or dense tensors and routed experts apart
  std::int64_t layers = 1;
  double bytesPerShardElement = 16;  // held for good: parameter, optimizer states, gradient
  std::int64_t gatherBytes = 2;      // of an element in the gathered buffer
  std::int64_t reduceBytes = 4;      // of an element in the buffer that gradients are reduced from
  std::int64_t gatherBuffers = 2;    // alive at once: in use, and gathered ahead
  std::int64_t reduceBuffers = 2;    // alive at once: written, and being reduced
  std::int64_t gathersPerStep = 2;   // forward and backward
};

/// All layers in buckets of `layersPerBucket`; the last bucket takes what is left. Bytes are those of a rank.
struct FusionCandidate {
  std::int64_t layersPerBucket = 1;
  std::int64_t buckets = 0;
  std::int64_t shardElements = 0;     // of all buckets together, padding included
  std::int64_t gatheredElements = 0;  // of one full bucket
  double paddingRatio = 0;            // of all buckets together
  bool provenOptimal = false;         // in every group of a full bucket
  double shardBytes = 0;              // parameters, states, gradients
  double bufferBytes = 0;             // unsharded parameters and gradients alive at once
  double trafficBytes = 0;            // received in a step by gathers and reductions
  double exposedBytes = 0;            // of these: first gather and last reduction, which nothing hides
  [[nodiscard]] double memoryBytes() const { return shardBytes + bufferBytes; }
  [[nodiscard]] double communicationBytes() const { return trafficBytes + exposedBytes; }
};

struct FusionChoice {
  std::vector<FusionCandidate> candidates;  // by layersPerBucket
  std::size_t chosen = 0;
  std::string reason;  // one sentence with the numbers that decided
};

/// Plans buckets of 1, 2, 4, ... up to 32 layers and chooses among them. Longer buckets waste less on padding
/// (shards hold more blocks) but hold more unsharded and hide less: a percent of memory weighs as much as a
/// percent of communication, both relative to one layer a bucket, exposed bytes counting twice. Where two
/// candidates are equal the smaller bucket wins. `layersPerBucket` above zero is added to the candidates and
/// chosen. Errors: those of planBuckets(); layersPerBucket above `layers`.
[[nodiscard]] Result<FusionChoice> chooseFusion(const FusionProblem& problem,
                                                const BucketPlanOptions& options = {},
                                                std::int64_t layersPerBucket = 0);

/// The tensors of `layers` equal layers as one bucket, layer after layer; names get the layer's number.
[[nodiscard]] LayoutProblem fusedProblem(const LayoutProblem& layer, std::int64_t layers);

}  // namespace vsim::core
