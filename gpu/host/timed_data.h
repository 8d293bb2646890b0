#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/program/step_program.h"

namespace vsim::gpu {

/// Scratch memory for one communicator's collectives that have no buffers. As much moves as if they had: one
/// float per element of a floating type, one per four bytes of others; in rounds, one call of the
/// communicator each, so that memory stays bounded.
struct TimedScratch {
  std::vector<float> sent, received;
};

/// Floats that one rank sends or receives at once: 64 MiB.
inline constexpr std::int64_t kTimedRoundFloats = std::int64_t{1} << 24U;

struct TimedRounds {
  std::uint64_t rounds = 1;
  std::size_t sent = 0, received = 0;  // floats of each round and rank
};

/// The least number of equal rounds that together move at least the collective's data. A collective that
/// moves nothing has one round of nothing.
[[nodiscard]] TimedRounds timedRounds(const core::Collective& collective, std::size_t members);

}  // namespace vsim::gpu
