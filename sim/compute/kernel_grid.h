#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/operation.h"
#include "core/profile/profile.h"

namespace vsim::sim {

/// Products and attention that a profile has measured, of any name, as a correction of a kernel model: how
/// many times longer than modelled the kernels near a shape took. Immutable and thread-safe.
class KernelGrid {
 public:
  /// Seconds of one launch by the model that is corrected.
  using Model = std::function<double(const core::Operation&)>;

  KernelGrid() = default;
  /// Takes the measured points of a known data type. As much of their correction is used as predicts the
  /// points of a kind and data type best from each other; none where the model alone does it best, or where
  /// they are fewer than three.
  KernelGrid(const core::Profile& profile, const Model& model);

  struct Correction {
    double factor = 1;         // measured over modelled
    double relativeError = 0;  // mean of predicting every point from the others; more far from all points
  };
  /// Weighted mean of the logarithms of the nearest points' factors, weights by inverse squared distance in
  /// the logarithms of the sizes. nullopt where nothing corrects the operation's kind and data type.
  [[nodiscard]] std::optional<Correction> correction(const core::Operation& operation) const;

 private:
  using Place = std::array<double, 4>;  // log2 of sizes
  struct Point {
    Place place{};
    double logFactor = 0;
  };
  struct Group {
    std::vector<Point> points;
    double error = 0, strength = 1;
  };
  struct Neighbours {
    double logFactor = 0, distance = 0;
  };
  static Place placeOf(const core::Operation& operation);
  static Neighbours nearest(const std::vector<Point>& points, const Place& place, const Point* without);
  static bool worthwhile(Group& group);

  std::map<std::pair<core::OpKind, core::DType>, Group> groups_;
};

/// The launch that a point timed: sizes that it does not give count as one, key heads as heads; its
/// arithmetic and least traffic follow from the sizes.
core::Operation operationOf(const core::ProfiledOperation& point);

}  // namespace vsim::sim
