#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/mesh/sharding.h"

namespace vsim::core {

/// A p-norm of a distributed tensor, over everything or over one dimension. Every rank takes the norm of what
/// it holds (localNorm); over the mesh dimensions in which `result` is Partial the contributions are combined
/// by combineNorms, everywhere else they are final.
struct NormPlan {
  Sharding tensor;
  /// Shape and placement of the result, one element without dimensions for the whole tensor. Partial here
  /// means "to be combined as p-norms". What stays ragged has its interval from its units and its own size.
  Sharding result;
  std::optional<int> dim;  // nullopt: over everything
  double p = 2;            // any number but NaN; 0 counts the non-zeros, infinities are maximum and minimum
};

/// Over everything: Partial over each mesh dimension that cuts the tensor, also where one rank owns it all.
/// Over dimension d: Partial where that cuts d (a Shard of d, or a ragged placement whose dims hold d),
/// placements of other dimensions stay. Errors: a tensor with a Partial placement (sums come before norms), a
/// dimension that it lacks, p NaN.
/// Source of the rules: volcengine/veScale (vescale/dtensor, revision 20cf5c71).
[[nodiscard]] Result<NormPlan> planNorm(const Sharding& tensor, std::optional<int> dim, double p);

/// One rank's contribution, as many elements as `plan.result` gives it. A rank that holds nothing of an
/// element contributes the neutral value: 0 for p >= 0, infinity for p < 0.
[[nodiscard]] std::vector<double> localNorm(const NormPlan& plan, std::int64_t rank,
                                            std::span<const double> local);
/// (sum of x^p)^(1/p) of non-negative contributions, their sum for p = 0, maximum or minimum for the
/// infinities. Does not overflow where the result does not; NaN if one is.
[[nodiscard]] double combineNorms(std::span<const double> contributions, double p);
/// The final result of each rank, from all ranks' contributions in rank order.
[[nodiscard]] std::vector<std::vector<double>> combineNorms(
    const NormPlan& plan, const std::vector<std::vector<double>>& contributions);

/// Count, mean and sum of squared deviations from it: what a mean and a variance are merged from. An average
/// of local means would be wrong for unequal parts.
struct Moments {
  std::int64_t count = 0;
  double mean = 0;
  double squares = 0;
  /// squares / (count - correction); NaN when that is not positive.
  [[nodiscard]] double variance(double correction = 1) const;
};
[[nodiscard]] Moments momentsOf(std::span<const double> values);
/// Source: Chan, Golub, LeVeque, "Algorithms for computing the sample variance", The American Statistician 37
/// (1983). Empty parts change nothing.
[[nodiscard]] Moments merge(const Moments& a, const Moments& b);

}  // namespace vsim::core
