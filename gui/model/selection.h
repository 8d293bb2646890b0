#pragma once

#include <cstdint>
#include <string>

namespace vsim::gui {

/// One thing that the user picked; every view shows it in its own way. Plain value.
struct Selection {
  enum class Kind : std::uint8_t {
    none,
    slice,   // `item`: slice of lane `lane` (timeline_data.h); `detail`: its instruction, -1: not known
    buffer,  // `item`: buffer of the program
    unit,    // `item`: unit of the program; `detail`: tensor in it, -1: all
    link,    // `item`: tier of the topology
  };
  Kind kind = Kind::none;
  int report = 0;  // of the current run
  std::int64_t lane = -1, item = -1, detail = -1;
  friend bool operator==(const Selection&, const Selection&) = default;
};

}  // namespace vsim::gui
