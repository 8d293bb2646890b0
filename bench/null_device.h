#pragma once

#include <string>

#include "gpu/device/api.h"

namespace vsim::bench {

/// A device whose calls do nothing and have always ended: what is left is the host's own work. Memory is
/// addresses alone.
class NullDevice : public gpu::device::Api {
 public:
  using Status = gpu::device::Status;
  using Stream = gpu::device::Stream;
  using Event = gpu::device::Event;
  using Comm = gpu::device::Comm;
  using DType = core::DType;

  [[nodiscard]] std::string name() const override { return "null"; }
  Status versions(gpu::device::Versions&) override { return {}; }
  Status deviceCount(int& out) override { return out = 1, Status{}; }
  Status deviceFacts(int, gpu::device::DeviceFacts&) override { return {}; }
  Status useDevice(int) override { return {}; }
  Status allocate(void*& out, std::size_t bytes) override {
    out = reinterpret_cast<void*>(next_);
    next_ += (bytes + 511) / 512 * 512;
    return {};
  }
  Status free(void*) override { return {}; }
  Status memoryInfo(core::Bytes&, core::Bytes&) override { return {}; }
  Status copyToDevice(void*, const void*, std::size_t, Stream) override { return {}; }
  Status copyToHost(void*, const void*, std::size_t, Stream) override { return {}; }
  Status fillBytes(void*, int, std::size_t, Stream) override { return {}; }
  Status createStream(Stream& out, bool) override { return out = handle(), Status{}; }
  Status destroyStream(Stream) override { return {}; }
  Status createEvent(Event& out, bool) override { return out = handle(), Status{}; }
  Status destroyEvent(Event) override { return {}; }
  Status record(Event, Stream) override { return {}; }
  Status wait(Stream, Event) override { return {}; }
  Status query(Event, bool& done) override { return done = true, Status{}; }
  Status synchronize(Stream) override { return {}; }
  Status elapsed(Event, Event, double& out) override { return out = 0, Status{}; }

  Status uniqueId(gpu::device::UniqueId& out) override { return out.resize(128), Status{}; }
  Status join(Comm& out, int, const gpu::device::UniqueId&, int) override { return out = handle(), Status{}; }
  Status asyncStatus(Comm, bool& busy) override { return busy = false, Status{}; }
  Status leave(Comm) override { return {}; }
  Status abort(Comm) override { return {}; }
  Status registerBuffer(Comm, void*, std::size_t, void*&) override { return {}; }
  Status deregisterBuffer(Comm, void*) override { return {}; }
  Status groupStart() override { return {}; }
  Status groupEnd() override { return {}; }
  Status allGather(const void*, void*, std::size_t, DType, Comm, Stream) override { return {}; }
  Status reduceScatter(const void*, void*, std::size_t, DType, core::ReduceOp, Comm, Stream) override {
    return {};
  }
  Status allReduce(const void*, void*, std::size_t, DType, core::ReduceOp, Comm, Stream) override {
    return {};
  }
  Status broadcast(const void*, void*, std::size_t, DType, int, Comm, Stream) override { return {}; }
  Status send(const void*, std::size_t, DType, int, Comm, Stream) override { return {}; }
  Status receive(void*, std::size_t, DType, int, Comm, Stream) override { return {}; }

  Status gemm(const gpu::device::GemmCall&, Stream) override { return {}; }
  gpu::device::OperandBytes attentionMemory(const gpu::device::AttentionCall&) const override { return {}; }
  Status attention(const gpu::device::AttentionCall&, Stream) override { return {}; }
  Status touch(const gpu::device::TouchCall&, Stream) override { return {}; }
  Status empty(Stream) override { return {}; }
  Status copySegments(const gpu::device::CopyCall&, Stream) override { return {}; }
  Status cast(const void*, DType, void*, DType, std::int64_t, bool, Stream) override { return {}; }
  Status scale(void*, DType, std::int64_t, float, Stream) override { return {}; }
  Status squaredNorm(const void*, DType, std::int64_t, float*, Stream) override { return {}; }
  Status fillSynthetic(void*, DType, std::uint64_t, std::int64_t, std::int64_t, Stream) override {
    return {};
  }
  Status adamW(const gpu::device::AdamWCall&, Stream) override { return {}; }
  Status quantize(const gpu::device::QuantizeCall&, Stream) override { return {}; }
  Status dequantize(const gpu::device::QuantizeCall&, float*, Stream) override { return {}; }
  Status newtonSchulz(void*, std::int64_t, std::int64_t, int, void*, Stream) override { return {}; }

 private:
  void* handle() { return reinterpret_cast<void*>(++handles_); }

  std::uintptr_t next_ = std::uintptr_t{1} << 40U, handles_ = 0;
};

}  // namespace vsim::bench
