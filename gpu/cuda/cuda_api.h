#pragma once

#include <map>
#include <mutex>

#include "gpu/cuda/blas.h"
#include "gpu/cuda/communicators.h"
#include "gpu/cuda/kernels.h"
#include "gpu/cuda/stream_scratch.h"
#include "gpu/device/api.h"

namespace vsim::gpu::cuda {

/// The device interface on the CUDA runtime, cuBLASLt, NCCL and vsim's kernels. Thread-safe.
class CudaApi final : public device::Api {
 public:
  using Status = device::Status;
  using Stream = device::Stream;
  using Event = device::Event;
  using Comm = device::Comm;

  [[nodiscard]] std::string name() const override { return "cuda"; }
  Status versions(device::Versions& out) override;
  Status deviceCount(int& out) override;
  Status deviceFacts(int device, device::DeviceFacts& out) override;
  Status useDevice(int device) override;
  Status clocks(int device, device::ClockFacts& out) override;

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

  Status uniqueId(device::UniqueId& out) override { return communicators_.uniqueId(out); }
  Status join(Comm& out, int ranks, const device::UniqueId& id, int rank) override {
    return communicators_.join(out, ranks, id, rank);
  }
  Status asyncStatus(Comm comm, bool& busy) override { return communicators_.asyncStatus(comm, busy); }
  Status leave(Comm comm) override { return communicators_.leave(comm); }
  Status abort(Comm comm) override { return communicators_.abort(comm); }
  void limitWaits(double seconds) override { communicators_.limitWaits(seconds); }
  Status registerBuffer(Comm comm, void* memory, std::size_t bytes, void*& handle) override {
    return communicators_.registerBuffer(comm, memory, bytes, handle);
  }
  Status deregisterBuffer(Comm comm, void* handle) override {
    return communicators_.deregisterBuffer(comm, handle);
  }
  Status groupStart() override { return communicators_.groupStart(); }
  Status groupEnd() override { return communicators_.groupEnd(); }
  Status allGather(const void* send, void* receive, std::size_t sendCount, core::DType type, Comm comm,
                   Stream stream) override;
  Status reduceScatter(const void* send, void* receive, std::size_t receiveCount, core::DType type,
                       core::ReduceOp operation, Comm comm, Stream stream) override;
  Status allReduce(const void* send, void* receive, std::size_t count, core::DType type,
                   core::ReduceOp operation, Comm comm, Stream stream) override;
  Status broadcast(const void* send, void* receive, std::size_t count, core::DType type, int root, Comm comm,
                   Stream stream) override;
  Status send(const void* memory, std::size_t count, core::DType type, int peer, Comm comm,
              Stream stream) override;
  Status receive(void* memory, std::size_t count, core::DType type, int peer, Comm comm,
                 Stream stream) override;

  Status gemm(const device::GemmCall& call, Stream stream) override;
  [[nodiscard]] device::OperandBytes attentionMemory(const device::AttentionCall& call) const override;
  Status attention(const device::AttentionCall& call, Stream stream) override;
  Status touch(const device::TouchCall& call, Stream stream) override;
  Status empty(Stream stream) override;
  Status copySegments(const device::CopyCall& call, Stream stream) override;
  Status cast(const void* x, core::DType xType, void* y, core::DType yType, std::int64_t elements, bool add,
              Stream stream) override;
  Status scale(void* x, core::DType type, std::int64_t elements, float factor, Stream stream) override;
  Status squaredNorm(const void* x, core::DType type, std::int64_t elements, float* sum,
                     Stream stream) override;
  Status fillSynthetic(void* x, core::DType type, std::uint64_t base, std::int64_t first,
                       std::int64_t elements, Stream stream) override;
  Status adamW(const device::AdamWCall& call, Stream stream) override;
  Status quantize(const device::QuantizeCall& call, Stream stream) override;
  Status dequantize(const device::QuantizeCall& call, float* values, Stream stream) override;
  Status newtonSchulz(void* x, std::int64_t rows, std::int64_t columns, int iterations, void* scratch,
                      Stream stream) override;

 private:
  /// The calling thread's device, and its size.
  struct Current {
    int device = 0;
    LaunchContext launch;
  };
  class Backend;  // of attention and Newton-Schulz

  Status current(Stream stream, Current& out);
  /// Runs `launch(current)`, a kernels.h function that returns the runtime's code.
  template <class Launch>
  Status launched(const char* kernel, Stream stream, Launch&& launch);
  Status multiply(const Current& current, const Product& product, const Matrices& matrices);
  Status squaredNormOn(const Current& current, const void* x, core::DType type, std::int64_t elements,
                       float* sum);

  std::mutex mutex_;
  std::map<int, int> processors_;  // of a device
  StreamScratch scratch_;
  Blas blas_;
  Communicators communicators_;
};

}  // namespace vsim::gpu::cuda
