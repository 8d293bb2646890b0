#pragma once

#include <array>
#include <optional>

#include "core/profile/collective_fit.h"
#include "core/profile/profile.h"
#include "sim/network/collective_model.h"

namespace vsim::sim {

/// Cost of a collective from the best source there is: the profile's own point of that size and group shape
/// (measured or published), else terms fitted to the profile's points (fitted), else the model (modelled).
/// Whatever the source, never faster than the links allow. Immutable and thread-safe.
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

 private:
  CollectiveModel model_;
  core::Profile profile_;
  std::array<std::optional<core::FittedCollective>, std::size(core::kCollectiveNames)> fits_;
};

}  // namespace vsim::sim
