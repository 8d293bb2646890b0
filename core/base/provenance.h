#pragma once

#include <array>
#include <string_view>

namespace vsim::core {

/// Where a cost comes from. Measured: a point of a profile, taken as it is. Fitted: a model whose parameters
/// were fitted to the profile's points. Published: a figure from a paper or vendor. Modelled: vsim's own
/// models.
enum class Provenance : unsigned char { measured, fitted, published, modelled };
inline constexpr std::array<std::string_view, 4> kProvenanceNames{"measured", "fitted", "published",
                                                                  "modelled"};
constexpr std::string_view name(Provenance p) { return kProvenanceNames[static_cast<std::size_t>(p)]; }

}  // namespace vsim::core
