#pragma once

#include <fmt/format.h>

#include <vector>

#include "core/mesh/redistribution.h"

namespace vsim::core {

/// The flat local tensors of all ranks of a mesh, in rank order, in one process: the reference that other
/// executors of a plan are compared with.
template <class T>
using HostTensors = std::vector<std::vector<T>>;

/// Cuts a whole tensor (flat, row-major) into the parts that a placement gives to the ranks. A Partial
/// placement gets the value on the first rank of its group, zeros on the others. Error: another number of
/// elements than the shape has.
template <class T>
[[nodiscard]] Result<HostTensors<T>> distribute(const Sharding& sharding, const std::vector<T>& whole);

/// Carries out one step. Errors: local tensors that do not have the sizes of the step's `from`.
template <class T>
[[nodiscard]] Result<HostTensors<T>> redistribute(const RedistributionStep& step,
                                                  const HostTensors<T>& local) {
  const std::int64_t ranks = step.from.mesh().ranks();
  if (static_cast<std::int64_t>(local.size()) != ranks)
    return fail(fmt::format("local tensors of {} ranks on a mesh of {}", local.size(), ranks));
  HostTensors<T> result(local.size());
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const std::int64_t expected = step.from.localInterval(rank).size();
    if (static_cast<std::int64_t>(local[r].size()) != expected)
      return fail(fmt::format("rank {} has {} elements instead of {}", rank, local[r].size(), expected));
    result[r].assign(static_cast<std::size_t>(step.to.localInterval(rank).size()), T{});
  }
  for (const Transfer& transfer : step.transfers) {
    const std::vector<T>& from = local[static_cast<std::size_t>(transfer.fromRank)];
    std::vector<T>& to = result[static_cast<std::size_t>(transfer.toRank)];
    const CopyRuns& copy = transfer.copy;
    for (std::int64_t run = 0; run < copy.runs; ++run)
      for (std::int64_t i = 0; i < copy.elements; ++i) {
        const T& value = from[static_cast<std::size_t>(copy.fromOffset + run * copy.fromStride + i)];
        T& target = to[static_cast<std::size_t>(copy.toOffset + run * copy.toStride + i)];
        target = step.reduces() ? static_cast<T>(target + value) : value;
      }
  }
  return result;
}

/// All steps, one after the other.
template <class T>
[[nodiscard]] Result<HostTensors<T>> redistribute(const Redistribution& plan, HostTensors<T> local) {
  for (const RedistributionStep& step : plan.steps) {
    auto next = redistribute(step, local);
    if (!next) return next;
    local = std::move(*next);
  }
  return local;
}

template <class T>
Result<HostTensors<T>> distribute(const Sharding& sharding, const std::vector<T>& whole) {
  const auto step = planDistribution(sharding, 0);
  if (!step) return tl::unexpected(step.error());
  if (static_cast<std::int64_t>(whole.size()) != step->from.localInterval(0).size())
    return fail(fmt::format("a tensor of {} elements instead of {}", whole.size(),
                            step->from.localInterval(0).size()));
  HostTensors<T> local(static_cast<std::size_t>(sharding.mesh().ranks()), whole);
  return redistribute(*step, local);
}

}  // namespace vsim::core
