#include "gpu/host/timed_data.h"

#include <catch2/catch.hpp>

using namespace vsim;
using namespace vsim::core;

namespace {

Collective of(CollectiveKind kind, DType dtype, std::int64_t sent, std::int64_t received) {
  Collective c;
  c.kind = kind;
  c.dtype = dtype;
  c.sendElements = sent;
  c.receiveElements = received;
  return c;
}

}  // namespace

TEST_CASE("collectives without buffers move what their elements take") {
  using Kind = CollectiveKind;
  for (const std::int64_t part : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1000},
                                  gpu::kTimedRoundFloats, 3 * gpu::kTimedRoundFloats + 1})
    for (const std::size_t n : {std::size_t{1}, std::size_t{3}, std::size_t{8}}) {
      INFO(part << " for " << n);
      const auto members = static_cast<std::int64_t>(n);
      const auto check = [&](Kind kind, std::int64_t sent, std::int64_t received, std::size_t sendParts,
                             std::size_t receiveParts) {
        const auto rounds = gpu::timedRounds(of(kind, DType::bf16, sent, received), n);
        // At least the data, no more than an element of each round and member beyond it; memory is bounded.
        const auto moved = static_cast<std::int64_t>(rounds.rounds * std::max(rounds.sent, rounds.received));
        const std::int64_t wanted = std::max(sent, received);
        CHECK(moved >= wanted);
        CHECK(moved - wanted <= static_cast<std::int64_t>(rounds.rounds) * members);
        CHECK(static_cast<std::int64_t>(std::max(rounds.sent, rounds.received)) <= gpu::kTimedRoundFloats);
        CHECK(rounds.sent * receiveParts == rounds.received * sendParts);
        CHECK(rounds.rounds >= 1);
      };
      check(Kind::allToAll, part * members, part * members, n, n);
      check(Kind::allGather, part, part * members, 1, n);
      check(Kind::reduceScatter, part * members, part, n, 1);
      check(Kind::allReduce, part, part, 1, 1);
      check(Kind::broadcast, part, part, 1, 1);
    }
  // Types that the host does not compute in count with their bytes.
  CHECK(gpu::timedRounds(of(Kind::broadcast, DType::uint8, 400, 400), 4).sent == 100);
  CHECK(gpu::timedRounds(of(Kind::broadcast, DType::int64, 400, 400), 4).sent == 800);
  // Tokens that the members do not divide evenly.
  CHECK(gpu::timedRounds(of(Kind::allToAll, DType::fp32, 10, 10), 4).sent == 12);
}
