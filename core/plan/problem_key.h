#pragma once

#include <algorithm>
#include <tuple>

#include "core/plan/layout.h"

namespace vsim::core {

/// Orders problems by what their layouts depend on: sizes, blocks, devices, unit and alignment, no names.
struct ProblemKey {
  const LayoutProblem* problem;
  bool operator<(const ProblemKey& other) const {
    const LayoutProblem &a = *problem, &b = *other.problem;
    const auto sizes = [](const LayoutProblem& p) {
      return std::tuple(p.devices, p.unit, p.align, p.tensors.size());
    };
    if (sizes(a) != sizes(b)) return sizes(a) < sizes(b);
    return std::lexicographical_compare(a.tensors.begin(), a.tensors.end(), b.tensors.begin(),
                                        b.tensors.end(), [](const PlanTensor& x, const PlanTensor& y) {
                                          return x.elements != y.elements ? x.elements < y.elements
                                                                          : x.block < y.block;
                                        });
  }
};

}  // namespace vsim::core
