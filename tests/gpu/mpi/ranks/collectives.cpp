#include <cmath>
#include <numeric>

#include "gpu/rounding.h"
#include "gpu/synthetic.h"
#include "tests/gpu/mpi/ranks/checks.h"

namespace vsim::test {

using namespace vsim::core;

namespace {

/// Numbers of many magnitudes, so that the order of additions shows.
float value(std::size_t member, std::size_t element) {
  const std::uint64_t bits = gpu::mix(member * 1'000'003 + element);
  return std::ldexp(static_cast<float>(static_cast<std::int32_t>(bits)), static_cast<int>(bits >> 59U) - 40);
}

struct Sizes {
  std::size_t sent, received;
};

Sizes sizesOf(CollectiveKind kind, std::size_t part, std::size_t n) {
  switch (kind) {
    case CollectiveKind::allGather:
      return {part, part * n};
    case CollectiveKind::reduceScatter:
      return {part * n, part};
    case CollectiveKind::allToAll:
      return {part * n, part * n};
    case CollectiveKind::allReduce:
    case CollectiveKind::broadcast:
      break;
  }
  return {part, part};
}

struct Collectives {
  gpu::Communicator& communicator;
  std::size_t own;
  std::uint64_t turn = 0;

  [[nodiscard]] float expected(CollectiveKind kind, DType dtype, std::size_t part, std::size_t i) const {
    const std::size_t n = communicator.size();
    const auto average = [&](std::size_t element) {
      float sum = value(0, element);
      for (std::size_t m = 1; m < n; ++m) sum += value(m, element);
      return gpu::roundTo(dtype, sum / static_cast<float>(n));
    };
    switch (kind) {
      case CollectiveKind::allGather:
        return value(i / part, i % part);
      case CollectiveKind::reduceScatter:
        return average(own * part + i);
      case CollectiveKind::allReduce:
        return average(i);
      case CollectiveKind::allToAll:
        return value(i / part, own * part + i % part);
      case CollectiveKind::broadcast:
        break;
    }
    return value(0, i);
  }

  /// `inPlace`: input and output share memory as programs do it.
  std::string check(CollectiveKind kind, DType dtype, std::size_t part, bool inPlace) {
    const auto [sent, received] = sizesOf(kind, part, communicator.size());
    const std::size_t from = inPlace && kind == CollectiveKind::allGather ? own * part : 0;
    const std::size_t to = inPlace && kind == CollectiveKind::reduceScatter ? own * part : 0;
    std::vector<float> a(inPlace ? std::max(sent, received) : sent, NAN), b(inPlace ? 0 : received, NAN);
    for (std::size_t i = 0; i < sent; ++i) a[from + i] = value(own, i);
    const std::span<float> output = std::span(inPlace ? a : b).subspan(to, received);
    const bool reduces = kind == CollectiveKind::reduceScatter || kind == CollectiveKind::allReduce;
    const gpu::CollectiveCall call{.kind = kind,
                                   .reduce = reduces ? ReduceOp::average : ReduceOp::none,
                                   .dtype = dtype,
                                   .sendElements = static_cast<std::int64_t>(sent),
                                   .receiveElements = static_cast<std::int64_t>(received),
                                   .input = std::span<const float>(a).subspan(from, sent),
                                   .output = output,
                                   .name = "a collective"};
    Slice times;
    if (!communicator.run(own, turn++, call, times)) return "stopped";
    if (times.end < times.begin) return "ends before it begins";
    for (std::size_t i = 0; i < received; ++i)
      if (const float wanted = expected(kind, dtype, part, i); output[i] != wanted)
        return fmt::format("{} of {} in parts of {}{}: element {} is {}, not {}",
                           kCollectiveNames[static_cast<std::size_t>(kind)], name(dtype), part,
                           inPlace ? ", in place" : "", i, output[i], wanted);
    return "";
  }
};

}  // namespace

std::string checkCollectives(gpu::ProcessTransport& transport) {
  std::vector<int> all(static_cast<std::size_t>(transport.size()));
  std::iota(all.begin(), all.end(), 0);
  gpu::RunControl control;
  auto made = transport.communicators({{"all", all}, {"again", all}}, control, std::chrono::seconds(20));
  if (!made) return made.error().text();
  for (const auto& communicator : *made) {
    Collectives collectives{*communicator, static_cast<std::size_t>(transport.rank())};
    // Uneven for reductions by parts, and longer than what they take in at once.
    for (const std::size_t part :
         {std::size_t{1}, std::size_t{3}, std::size_t{1000}, (std::size_t{1} << 18U) + 7})
      for (const CollectiveKind kind :
           {CollectiveKind::allGather, CollectiveKind::reduceScatter, CollectiveKind::allReduce,
            CollectiveKind::allToAll, CollectiveKind::broadcast})
        for (const bool inPlace : {false, true}) {
          const DType dtype = part % 2 == 0 ? DType::bf16 : DType::fp32;
          const std::size_t size = kind == CollectiveKind::allReduce ? part * all.size() + 1 : part;
          if (auto problem = collectives.check(kind, dtype, size, inPlace); !problem.empty()) return problem;
        }
  }
  return control.error() ? control.error()->text() : "";
}

}  // namespace vsim::test
