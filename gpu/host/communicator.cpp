#include "gpu/host/communicator.h"

#include <algorithm>

#include "gpu/rounding.h"

namespace vsim::gpu {

Communicator::Communicator(std::string name, std::vector<int> members, RunControl& control)
    : name_(std::move(name)), members_(std::move(members)), control_(control) {}

std::size_t Communicator::indexOf(int rank) const {
  return static_cast<std::size_t>(std::find(members_.begin(), members_.end(), rank) - members_.begin());
}

std::string Communicator::title() const {
  return fmt::format("group {} of ranks {}", name_, fmt::join(members_, ", "));
}

std::string Communicator::describe(std::size_t member, const CollectiveCall& call) const {
  const std::string rank = control_.rankName(members_[member]);
  if (call.sendElements == 0 && call.receiveElements == 0) return fmt::format("rank {}: {}", rank, call.name);
  return fmt::format("rank {}: {} of {} {} elements out, {} in (instruction {}, step {})", rank, call.name,
                     call.sendElements, core::name(call.dtype), call.receiveElements, call.instruction,
                     call.step);
}

std::string Communicator::absence(const std::vector<std::size_t>& missing,
                                  const std::vector<std::string>& here) const {
  std::vector<std::string> names;
  for (const std::size_t member : missing) names.push_back(control_.rankName(members_[member]));
  return fmt::format("in {}, rank{} {} did not come to {}", title(), missing.size() == 1 ? "" : "s",
                     fmt::join(names, ", "), fmt::join(here, "; "));
}

bool Communicator::fit(const CollectiveCall& a, const CollectiveCall& b) {
  return a.kind == b.kind && a.reduce == b.reduce && a.dtype == b.dtype && a.sendElements == b.sendElements &&
         a.receiveElements == b.receiveElements && a.input.empty() == b.input.empty();
}

void Communicator::mismatch(const std::string& one, const std::string& other) const {
  control_.fail({.message = fmt::format("mismatched collective in {}: {}, but {}", title(), one, other),
                 .hint = "all ranks of a group must issue the same collectives in the same order"});
}

void reduceInOrder(std::span<const float* const> inputs, core::ReduceOp reduce, core::DType dtype,
                   std::span<float> out) {
  const auto count = static_cast<float>(inputs.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    float sum = inputs.front()[i];
    for (std::size_t m = 1; m < inputs.size(); ++m) sum += inputs[m][i];
    if (reduce == core::ReduceOp::average) sum /= count;
    out[i] = roundTo(dtype, sum);
  }
}

}  // namespace vsim::gpu
