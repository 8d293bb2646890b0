#pragma once

#include <array>
#include <optional>

#include "core/profile/collective_fit.h"
#include "core/profile/misalignment.h"
#include "core/profile/profile.h"
#include "sim/network/collective_model.h"

namespace vsim::sim {

/// Relative error that comes on top where a collective crosses a level of the machine that the profile has
/// not measured: what the model is off by in the mean over all published runs (24.7 %, docs/accuracy.md).
inline constexpr double kUnmeasuredLevelError = 0.25;

/// Cost of a collective from the best source there is: the profile's own point of that size, group shape and
/// alignment (measured or published), else one of the other alignment with the measured or modelled factor
/// between the two, else terms fitted to the profile's points (fitted), else the model (modelled). Whatever
/// the source, never faster than the links allow. Slowdown and stretch from measured interference where there
/// is any. Where the group crosses a level that the profile lists as missing, the cost counts as modelled.
///
/// On processors (compute capability 0) the model is another: what the ranks of a node move passes through
/// its memory, and nothing is known of the links' bounds.
///
/// Immutable and thread-safe.
class ProfiledCollectives {
 public:
  /// Without a profile everything is modelled.
  explicit ProfiledCollectives(CollectiveModel model, core::Profile profile = {});

  /// As CollectiveModel::cost.
  [[nodiscard]] core::Cost cost(core::CollectiveKind, std::int64_t bytes, const core::CommGroup&,
                                bool aligned16 = true, core::DType = core::DType::bf16) const;

  [[nodiscard]] const CollectiveModel& model() const { return model_; }
  [[nodiscard]] const core::Profile& profile() const { return profile_; }
  /// The terms in use for `kind`; null when the profile gives none.
  [[nodiscard]] const core::FittedCollective* fitted(core::CollectiveKind kind) const;
  /// The narrowest level that the group crosses and the profile lists as missing.
  [[nodiscard]] std::optional<core::Locality> missingLevel(const core::CommGroup& group) const;

 private:
  struct Estimate {
    double seconds = 0, relativeError = 0;
    core::Provenance provenance = core::Provenance::fitted;
    bool fromTerms = false;
  };
  [[nodiscard]] core::Cost modelled(core::CollectiveKind, std::int64_t bytes, const core::CommGroup&,
                                    bool aligned16, core::DType) const;
  [[nodiscard]] std::optional<Estimate> fromProfile(const core::CollectiveQuery&,
                                                    double modelledPenalty) const;
  [[nodiscard]] bool onProcessors() const { return model_.cluster().gpu.computeCapability == 0; }

  CollectiveModel model_;
  core::Profile profile_;
  core::Misalignment misalignment_;
  std::array<std::optional<core::FittedCollective>, std::size(core::kCollectiveNames)> fits_;
};

}  // namespace vsim::sim
