#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/plan/layout.h"

namespace vsim::core {

/// How one system lays out the tensors of a communication bucket.
struct LayoutRule {
  std::string_view name;
  std::string_view description;
  Result<Layout> (*layout)(const LayoutProblem& problem);
  /// The problem that the rule's layouts solve: what verifyLayout() may ask of them, and the shapes that
  /// describe the slots of those that are not contiguous. Systems that know no blocks promise none.
  LayoutProblem (*promise)(const LayoutProblem& problem);
  /// How the system splits the tensors of one wrapped module, all of one dtype, into buckets: lists of
  /// indices.
  std::vector<std::vector<std::size_t>> (*buckets)(std::span<const PlanTensor> tensors);
};

/// All rules: veScale-FSDP's first, then those of the systems it is compared with.
[[nodiscard]] std::span<const LayoutRule> layoutRules();
/// nullptr when there is none of that name.
[[nodiscard]] const LayoutRule* layoutRule(std::string_view name);

}  // namespace vsim::core
