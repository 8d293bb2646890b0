#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "gpu/cuda/check/checks.h"
#include "gpu/rounding.h"

namespace vsim::gpu::cuda {
namespace {

using core::DType;
using core::ReduceOp;
using Clock = std::chrono::steady_clock;

constexpr double kLimitSeconds = 60;

/// One device's member: a thread, a stream and a communicator of its own.
struct Rank {
  device::Api& api;
  int rank, ranks;
  device::Stream stream = nullptr;
  device::Comm comm = nullptr;
  std::string problem{};

  void join(const device::UniqueId& id) {
    require(api.useDevice(rank));
    require(api.createStream(stream, true));
    require(api.join(comm, ranks, id, rank));
    const auto since = Clock::now();
    for (bool busy = true; busy;) {
      require(api.asyncStatus(comm, busy));
      if (std::chrono::duration<double>(Clock::now() - since).count() > kLimitSeconds)
        throw DeviceFailure{"the communicator did not come up"};
      if (busy) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void finish() const { require(api.synchronize(stream)); }
};

/// Small integers: sums over ranks are exact in every type.
std::vector<float> numbersOf(int rank, std::int64_t elements) {
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 3) % 11);
  return values;
}

std::string wrong(const std::string& what, DType type, const std::string& problem) {
  return problem.empty() ? problem : fmt::format("{} of {}: {}", what, core::name(type), problem);
}

std::string gathers(Rank& r, DType type, std::int64_t elements) {
  DeviceBuffer all(r.api, r.stream, type, elements * r.ranks, 1);
  std::vector<float> expected;
  for (int rank = 0; rank < r.ranks; ++rank)
    for (const float value : numbersOf(rank, elements)) expected.push_back(value);
  std::vector<float> own(expected.size(), -1);
  std::copy_n(expected.begin() + r.rank * elements, elements, own.begin() + r.rank * elements);
  all.write(own);
  void* handle = nullptr;
  require(r.api.registerBuffer(r.comm, all.data(),
                               static_cast<std::size_t>(elements * r.ranks * core::bytesOf(type)), handle));
  // In place: what is sent lies where it will be received.
  const void* const send = all.as<char>() + r.rank * elements * core::bytesOf(type);
  require(r.api.allGather(send, all.data(), static_cast<std::size_t>(elements), type, r.comm, r.stream));
  std::string problem = difference(all.read(), expected);
  if (problem.empty() && !all.guardsIntact()) problem = "memory around was overwritten";
  require(r.api.deregisterBuffer(r.comm, handle));
  return wrong("all-gather", type, problem);
}

std::string reduces(Rank& r, DType type, std::int64_t elements, ReduceOp operation) {
  const std::int64_t whole = elements * r.ranks;
  std::vector<float> sum(static_cast<std::size_t>(whole), 0.0F);
  for (int rank = 0; rank < r.ranks; ++rank) {
    const auto values = numbersOf(rank, whole);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
  }
  if (operation == ReduceOp::average)
    for (float& value : sum) value /= static_cast<float>(r.ranks);
  // Averages need not be exact: the ranks' number may be odd.
  const double tolerance = operation == ReduceOp::average && r.ranks > 1 ? 0.1 : 0;
  DeviceBuffer scattered(r.api, r.stream, type, whole), reduced(r.api, r.stream, type, whole);
  scattered.write(numbersOf(r.rank, whole));
  reduced.write(numbersOf(r.rank, whole));
  void* const receive = scattered.as<char>() + r.rank * elements * core::bytesOf(type);
  require(r.api.reduceScatter(scattered.data(), receive, static_cast<std::size_t>(elements), type, operation,
                              r.comm, r.stream));
  require(r.api.allReduce(reduced.data(), reduced.data(), static_cast<std::size_t>(whole), type, operation,
                          r.comm, r.stream));
  const std::vector<float> part(sum.begin() + r.rank * elements, sum.begin() + (r.rank + 1) * elements);
  std::string problem = difference(scattered.read(r.rank * elements, elements), part, tolerance);
  if (!problem.empty()) return wrong("reduce-scatter", type, problem);
  return wrong("all-reduce", type, difference(reduced.read(), sum, tolerance));
}

std::string passesOn(Rank& r, DType type, std::int64_t elements) {
  const int next = (r.rank + 1) % r.ranks, previous = (r.rank + r.ranks - 1) % r.ranks;
  DeviceBuffer own(r.api, r.stream, type, elements), received(r.api, r.stream, type, elements),
      root(r.api, r.stream, type, elements);
  own.write(numbersOf(r.rank, elements));
  if (r.rank == r.ranks - 1) root.write(numbersOf(99, elements));
  require(r.api.groupStart());
  require(r.api.send(own.data(), static_cast<std::size_t>(elements), type, next, r.comm, r.stream));
  require(
      r.api.receive(received.data(), static_cast<std::size_t>(elements), type, previous, r.comm, r.stream));
  require(r.api.groupEnd());
  require(r.api.broadcast(root.data(), root.data(), static_cast<std::size_t>(elements), type, r.ranks - 1,
                          r.comm, r.stream));
  if (std::string problem = difference(received.read(), numbersOf(previous, elements)); !problem.empty())
    return wrong("send and receive", type, problem);
  return wrong("broadcast", type, difference(root.read(), numbersOf(99, elements)));
}

std::string allOf(Rank& r, double& launchSeconds) {
  for (const DType type : {DType::fp32, DType::bf16, DType::fp16})
    for (const std::int64_t elements : {1, 1001, 1'000'003}) {
      if (std::string problem = gathers(r, type, elements); !problem.empty()) return problem;
      for (const ReduceOp operation : {ReduceOp::sum, ReduceOp::average})
        if (std::string problem = reduces(r, type, elements, operation); !problem.empty()) return problem;
      if (std::string problem = passesOn(r, type, elements); !problem.empty()) return problem;
    }
  DeviceBuffer small(r.api, r.stream, DType::fp32, r.ranks);
  small.write(numbersOf(r.rank, r.ranks));
  constexpr int kLaunches = 200;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto begin = Clock::now();
    for (int i = 0; i < kLaunches; ++i)
      require(r.api.allReduce(small.data(), small.data(), static_cast<std::size_t>(r.ranks), DType::fp32,
                              ReduceOp::sum, r.comm, r.stream));
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count() / kLaunches);
    r.finish();
  }
  launchSeconds = best;
  return {};
}

}  // namespace

void checkCollectives(const CheckContext& c) {
  int devices = 0;
  const std::string name = "collectives' data";
  if (const device::Status status = c.api.deviceCount(devices); !status.ok())
    return c.table.result(name, false, status.text);
  device::UniqueId id;
  if (const device::Status status = c.api.uniqueId(id); !status.ok())
    return c.table.result(name, false, status.text);
  std::vector<Rank> ranks;
  for (int rank = 0; rank < devices; ++rank) ranks.push_back({.api = c.api, .rank = rank, .ranks = devices});
  std::vector<double> launches(ranks.size());
  c.api.limitWaits(kLimitSeconds);
  std::atomic<int> failed{-1};
  const auto work = [&](Rank& r) {
    try {
      r.join(id);
      r.problem = allOf(r, launches[static_cast<std::size_t>(r.rank)]);
      if (r.problem.empty()) require(r.api.leave(r.comm));
      if (r.problem.empty()) require(r.api.destroyStream(r.stream));
    } catch (const DeviceFailure& failure) {
      r.problem = failure.text;
    }
    if (r.problem.empty()) return;
    failed = r.rank;  // the others would wait for it
    if (r.comm != nullptr) (void)r.api.abort(r.comm);
  };
  std::vector<std::thread> threads;
  for (Rank& rank : ranks) threads.emplace_back(work, std::ref(rank));
  for (std::thread& thread : threads) thread.join();
  std::string problem;
  if (failed >= 0)
    problem =
        fmt::format("rank {}: {}", failed.load(), ranks[static_cast<std::size_t>(failed.load())].problem);
  (void)c.api.useDevice(0);
  c.table.result(fmt::format("{}, {} rank{}", name, devices, devices == 1 ? "" : "s"), problem.empty(),
                 problem);
  if (devices == 1)
    c.table.skip("collectives between devices", "one device: a communicator of one rank was checked");
  if (problem.empty())
    c.table.measured("all-reduce of one number, launch", launches[0] * 1e6, "us", 0,
                     "host time of a call, best of 5 rounds of 200");
}

}  // namespace vsim::gpu::cuda
