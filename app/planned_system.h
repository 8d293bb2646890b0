#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/plan/layout.h"

namespace vsim::app {

/// One bucket's layout, as `vsim plan` prints it. Sizes in elements.
struct PlannedBucket {
  std::string name;            // of the first that has this layout
  std::int64_t copies = 1;     // how many buckets have it
  std::int64_t instances = 1;  // of each, side by side on the ranks: one per expert or tensor-parallel rank
  core::LayoutProblem problem;
  core::Layout layout;
  std::string order;  // where the order is from; empty where none was searched
  bool provenOptimal = false;
  double seconds = 0;           // 0: not measured for the bucket alone
  std::int64_t cutTensors = 0;  // tensors with a block that lies on two devices
  [[nodiscard]] std::int64_t count() const { return copies * instances; }
};

/// All buckets of one model under one system's layout rule.
struct PlannedSystem {
  std::string system, scenario, model;
  std::vector<std::pair<std::string, std::string>> overrides;  // that made this sweep point
  std::int64_t devices = 1;                                    // of the FSDP group
  std::int64_t parameterBytes = 4;                             // of a stored element
  double seconds = 0;                                          // planning and verifying
  std::vector<PlannedBucket> buckets;                          // distinct ones, in model order
  std::vector<std::pair<std::string, std::size_t>> units;  // every bucket of the model: name, which layout
  std::string refusal;  // why the rule lays this model out in no way; empty: it does

  [[nodiscard]] std::int64_t shardElements() const;     // a rank's, of all buckets, padding included
  [[nodiscard]] std::int64_t gatheredElements() const;  // of the largest bucket
  [[nodiscard]] std::int64_t totalElements() const;     // of all tensors on all ranks, without padding
  [[nodiscard]] double paddingRatio() const;            // of all buckets together
  [[nodiscard]] double gapRatio() const;          // sum of shards over the sum of their lower bounds, - 1
  [[nodiscard]] std::int64_t cutTensors() const;  // of all buckets
  [[nodiscard]] bool provenOptimal() const;       // every bucket
};

}  // namespace vsim::app
