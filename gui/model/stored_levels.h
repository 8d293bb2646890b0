#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "gui/model/timeline_scene.h"

namespace vsim::gui {

/// Logs with fewer slices are read and indexed in less time than it takes to see that they were not.
inline constexpr std::size_t kSlicesWorthLevels = 200'000;

/// The coarse level of a scene as bytes for the run store: tracks, steps and figures in full, and of every
/// lane how busy it is in a few thousand cells of time, in steps of 1/255. A few hundred kilobytes for
/// millions of slices. A cell that anything touches does not become empty.
[[nodiscard]] std::string encodeLevels(const TimelineScene& scene);

/// Null: damaged, cut, of another version, or something else altogether. Nothing in the bytes is trusted.
[[nodiscard]] std::shared_ptr<const TimelineScene> decodeLevels(std::string_view bytes);

/// Keeps the levels of a stored run's report beside its log, for the next time it is opened. False: not kept,
/// which is of no harm: the store cannot be written, or the run is gone. For background threads.
bool keepLevels(const std::string& store, std::int64_t run, std::int64_t report, const TimelineScene& scene);

}  // namespace vsim::gui
