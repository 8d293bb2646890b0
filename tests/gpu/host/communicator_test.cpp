#include "gpu/host/thread_communicator.h"

#include <catch2/catch.hpp>

#include <thread>

using namespace vsim;
using namespace vsim::core;

namespace {

using Floats = std::vector<float>;

/// Runs one collective of three ranks (2, 5, 8); answers every member's output.
std::vector<Floats> outputs(CollectiveKind kind, ReduceOp reduce, DType dtype,
                            const std::vector<Floats>& inputs, std::size_t received) {
  gpu::RunControl control;
  gpu::ThreadCommunicator communicator("dp_shard", {2, 5, 8}, control);
  std::vector<Floats> result(inputs.size(), Floats(received, -1.0F));
  std::vector<Floats> sent = inputs;
  std::vector<Slice> times(inputs.size());
  std::vector<std::thread> ranks;
  for (std::size_t m = 0; m < inputs.size(); ++m)
    ranks.emplace_back([&, m] {
      gpu::CollectiveCall call{.kind = kind,
                               .reduce = reduce,
                               .dtype = dtype,
                               .sendElements = static_cast<std::int64_t>(sent[m].size()),
                               .receiveElements = static_cast<std::int64_t>(received),
                               .input = sent[m],
                               .output = result[m]};
      communicator.run(m, 0, call, times[m]);
    });
  for (std::thread& rank : ranks) rank.join();
  REQUIRE(!control.error());
  CHECK(!communicator.waiting());
  for (const Slice& a : times)
    for (const Slice& b : times) CHECK(a.end >= b.begin);  // nobody ends before the last one has come
  return result;
}

}  // namespace

TEST_CASE("collectives move and reduce what their names say") {
  using Kind = CollectiveKind;
  const DType fp32 = DType::fp32;
  CHECK(outputs(Kind::allGather, ReduceOp::none, fp32, {{1}, {2}, {3}}, 3) ==
        std::vector<Floats>(3, {1, 2, 3}));
  CHECK(outputs(Kind::reduceScatter, ReduceOp::sum, fp32, {{1, 2, 3}, {10, 20, 30}, {5, 5, 5}}, 1) ==
        std::vector<Floats>{{16}, {27}, {38}});
  CHECK(outputs(Kind::allReduce, ReduceOp::average, fp32, {{3, 6}, {6, 6}, {9, 9}}, 2) ==
        std::vector<Floats>(3, {6, 7}));
  CHECK(outputs(Kind::allToAll, ReduceOp::none, fp32, {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, 3) ==
        std::vector<Floats>{{1, 4, 7}, {2, 5, 8}, {3, 6, 9}});
  CHECK(outputs(Kind::broadcast, ReduceOp::none, fp32, {{1, 2}, {3, 4}, {5, 6}}, 2) ==
        std::vector<Floats>(3, {1, 2}));
}

TEST_CASE("reductions add in the order of the ranks and round once") {
  // (1 + 2^-24) + 2^-24 loses both small terms, in another order they would count.
  CHECK(outputs(CollectiveKind::allReduce, ReduceOp::sum, DType::fp32, {{1}, {0x1p-24F}, {0x1p-24F}}, 1) ==
        std::vector<Floats>(3, {1}));
  CHECK(outputs(CollectiveKind::allReduce, ReduceOp::sum, DType::bf16, {{1}, {0x1p-8F}, {0x1p-8F}}, 1) ==
        std::vector<Floats>(3, {1 + 0x1p-7F}));
}
