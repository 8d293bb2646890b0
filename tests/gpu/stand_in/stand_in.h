#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gpu/device/api.h"
#include "tests/gpu/stand_in/communicator.h"
#include "tests/gpu/stand_in/device.h"
#include "tests/gpu/stand_in/fault.h"
#include "tests/gpu/stand_in/stream.h"

namespace vsim::test {

struct StandInOptions {
  int devices = 4;
  core::Bytes capacity = core::Bytes{256} << 20U;  // of each device
  int maxDelay = 0;                                // microseconds before each piece of work of a stream
  std::uint64_t seed = 1;
  int computeCapability = 90;
  bool registersBuffers = true;
  std::string deviceName = "stand-in device";
  std::string throttled{};  // what holds its clocks down
  /// A folder through which the processes of a job reach each other; empty: communicators of one process.
  std::string mailFolder{};
  std::vector<Fault> faults{};
};

/// The CUDA runtime, cuBLASLt and NCCL as the device executor sees them, on host memory: streams are threads
/// and run behind the host, collectives move data between threads or processes, data kernels compute what the
/// host's reference computes, products and attention spoil their results. What a GPU would punish is an
/// error, and a violation for the test: use of memory or handles that are not there, work on another device
/// than the thread's, memory or handles left behind.
class StandIn : public gpu::device::Api {
 public:
  using Status = gpu::device::Status;
  using Stream = gpu::device::Stream;
  using Event = gpu::device::Event;
  using Comm = gpu::device::Comm;
  using DType = core::DType;

  explicit StandIn(StandInOptions options = {});
  ~StandIn() override;

  /// What is still there: "device 1: 2 allocations of 4096 bytes", "3 streams".
  [[nodiscard]] std::vector<std::string> leaks() const;
  [[nodiscard]] std::vector<std::string> violations() const { return violations_.all(); }
  /// Calls of a function so far, on all devices.
  [[nodiscard]] int calls(const std::string& function) const;

  [[nodiscard]] std::string name() const override { return "stand-in"; }
  Status versions(gpu::device::Versions& out) override;
  Status deviceCount(int& out) override;
  Status deviceFacts(int device, gpu::device::DeviceFacts& out) override;
  Status useDevice(int device) override;
  Status clocks(int device, gpu::device::ClockFacts& out) override;
  Status allocate(void*& out, std::size_t bytes) override;
  Status free(void* memory) override;
  Status memoryInfo(core::Bytes& free, core::Bytes& total) override;
  Status copyToDevice(void* to, const void* from, std::size_t bytes, Stream stream) override;
  Status copyToHost(void* to, const void* from, std::size_t bytes, Stream stream) override;
  Status fillBytes(void* memory, int byte, std::size_t bytes, Stream stream) override;
  Status createStream(Stream& out, bool highPriority) override;
  Status destroyStream(Stream stream) override;
  Status createEvent(Event& out, bool timed) override;
  Status destroyEvent(Event event) override;
  Status record(Event event, Stream stream) override;
  Status wait(Stream stream, Event event) override;
  Status query(Event event, bool& done) override;
  Status synchronize(Stream stream) override;
  Status elapsed(Event begin, Event end, double& milliseconds) override;

  Status uniqueId(gpu::device::UniqueId& out) override;
  Status join(Comm& out, int ranks, const gpu::device::UniqueId& id, int rank) override;
  Status asyncStatus(Comm comm, bool& busy) override;
  Status leave(Comm comm) override;
  Status abort(Comm comm) override;
  Status registerBuffer(Comm comm, void* memory, std::size_t bytes, void*& handle) override;
  Status deregisterBuffer(Comm comm, void* handle) override;
  Status groupStart() override;
  Status groupEnd() override;
  Status allGather(const void*, void*, std::size_t, DType, Comm, Stream) override;
  Status reduceScatter(const void*, void*, std::size_t, DType, core::ReduceOp, Comm, Stream) override;
  Status allReduce(const void*, void*, std::size_t, DType, core::ReduceOp, Comm, Stream) override;
  Status broadcast(const void*, void*, std::size_t, DType, int root, Comm, Stream) override;
  Status send(const void*, std::size_t, DType, int peer, Comm, Stream) override;
  Status receive(void*, std::size_t, DType, int peer, Comm, Stream) override;

  Status gemm(const gpu::device::GemmCall& call, Stream stream) override;
  gpu::device::OperandBytes attentionMemory(const gpu::device::AttentionCall& call) const override;
  Status attention(const gpu::device::AttentionCall& call, Stream stream) override;
  Status touch(const gpu::device::TouchCall& call, Stream stream) override;
  Status empty(Stream stream) override;
  Status copySegments(const gpu::device::CopyCall& call, Stream stream) override;
  Status cast(const void* x, DType xType, void* y, DType yType, std::int64_t elements, bool add,
              Stream stream) override;
  Status scale(void* x, DType type, std::int64_t elements, float factor, Stream stream) override;
  Status squaredNorm(const void* x, DType type, std::int64_t elements, float* sum, Stream stream) override;
  Status fillSynthetic(void* x, DType type, std::uint64_t base, std::int64_t first, std::int64_t elements,
                       Stream stream) override;
  Status adamW(const gpu::device::AdamWCall& call, Stream stream) override;
  Status quantize(const gpu::device::QuantizeCall& call, Stream stream) override;
  Status dequantize(const gpu::device::QuantizeCall& call, float* values, Stream stream) override;
  Status newtonSchulz(void* x, std::int64_t rows, std::int64_t columns, int iterations, void* scratch,
                      Stream stream) override;

 private:
  struct EventState {
    int device = 0;
    bool timed = false;
    std::shared_ptr<Mark> latest{};  // null: never recorded
  };
  /// Bytes that a piece of work may touch, checked when it runs.
  struct Range {
    const void* memory = nullptr;
    std::size_t bytes = 0, alignment = 1;
  };
  struct Grouped {
    std::shared_ptr<StandInCommunicator> communicator;
    Stream stream = nullptr;
    std::vector<PeerWork> peers;  // sends and receives, or
    std::optional<CollectiveWork> collective;
  };
  struct ThreadGroup;
  static ThreadGroup& threadGroup();

  Status enter(const char* function, int device);
  Status handleError(const char* function, const std::string& what);
  bool strikes(Fault::Kind kind, int device, const char* function = "");
  std::shared_ptr<StandInStream> streamOf(Stream stream) const;
  std::shared_ptr<StandInCommunicator> communicatorOf(Comm comm) const;
  StandInDevice& device(int number) { return *devices_[static_cast<std::size_t>(number)]; }
  Status push(const char* function, Stream stream, std::vector<Range> ranges, std::function<void()> work,
              bool kernel);
  /// Products, attention, memory traffic: operands must be numbers, the result becomes none.
  Status compute(const char* function, Stream stream, const std::vector<Range>& operands,
                 const Range& result);
  Status communicate(const char* function, const CollectiveWork& work, Comm comm, Stream stream);
  Status exchangeWithPeer(const char* function, const PeerWork& work, Comm comm, Stream stream);
  Status issue(const Grouped& group);

  StandInOptions options_;
  std::atomic<bool> over_ = false;
  Violations violations_;
  std::vector<std::unique_ptr<StandInDevice>> devices_;
  mutable std::mutex mutex_;                   // guards what follows
  std::vector<std::pair<Fault, int>> faults_;  // and how often each has been met
  std::map<std::string, int> calls_;
  std::map<Stream, std::shared_ptr<StandInStream>> streams_;
  std::vector<std::shared_ptr<StandInStream>> destroyed_;  // they finish what they have
  std::map<Event, std::unique_ptr<EventState>> events_;
  std::map<Comm, std::shared_ptr<StandInCommunicator>> communicators_;
  std::map<void*, Comm> registrations_;
  std::uint64_t created_ = 0;
};

}  // namespace vsim::test
