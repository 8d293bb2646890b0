#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/collective.h"
#include "core/base/dtype.h"
#include "core/base/units.h"

namespace vsim::gpu::device {

/// Outcome of one call of the device's libraries.
struct Status {
  int code = 0;        // 0: success; of the runtime its own, of NCCL and cuBLASLt above 10,000
  std::string text{};  // "cudaMalloc: out of memory (2)"; empty on success
  [[nodiscard]] bool ok() const { return code == 0; }
};
inline constexpr int kOutOfMemory = 2;  // cudaErrorMemoryAllocation: the one code that callers look at

using Stream = void*;
using Event = void*;
using Comm = void*;
using UniqueId = std::vector<std::byte>;  // what the first rank of a communicator hands to the others

struct DeviceFacts {
  std::string name;  // "NVIDIA H200"
  int computeCapability = 0, sms = 0, socket = 0;
  core::Bytes memory = 0;
  double clockHertz = 0, memoryBytesPerSecond = 0, nvlinkBytesPerSecond = 0;
};

/// What a device runs at now; zero: not known.
struct ClockFacts {
  double smHertz = 0, memoryHertz = 0, powerWatts = 0, celsius = 0;
  std::string throttled{};  // "power cap, thermal slowdown": what holds the clock down; empty: nothing
};

struct Versions {
  std::string driver, runtime, nccl, blas;  // "13.0", "2.28.3"
};

/// C (m x n) = A (m x k) B (k x n), all row-major and dense; `groups` > 1: that many products of m / groups
/// rows each (the first m % groups of them one row more), with their own B, in as few launches as the library
/// allows. fp8 (e4m3): B is stored as n x k, the one layout that tensor cores take before sm_100; k and n are
/// multiples of 16; C is fp8 as well unless `accumulate`.
struct GemmCall {
  core::DType dtype = core::DType::bf16;
  std::int64_t m = 0, n = 0, k = 0, groups = 1;
  bool accumulate = false;  // C += A B with C in fp32
  const void *a = nullptr, *b = nullptr;
  void* c = nullptr;
};

/// Scores, causal mask, softmax and values of batch x heads attention; backward: the five products and the
/// softmax's gradient. `operands` are only read, `results` written (and read back): as many bytes as
/// attentionMemory() says.
struct AttentionCall {
  core::DType dtype = core::DType::bf16;
  bool backward = false, causal = true;
  std::int64_t batch = 1, sequence = 0, heads = 1, kvHeads = 1, headDim = 0, headDimValue = 0, window = 0;
  const void* operands = nullptr;
  void* results = nullptr;
};

/// Bytes of what a kernel only reads, and of what it writes.
struct OperandBytes {
  std::size_t read = 0, written = 0;
};

/// One launch that reads `read` bytes of `source`, over again where that is shorter, and writes `written`
/// bytes of `target`: what was read, or else numbers of its own; never zeros.
struct TouchCall {
  const void* source = nullptr;
  void* target = nullptr;
  std::size_t sourceBytes = 0, targetBytes = 0;
  core::Bytes read = 0, written = 0;
};

/// `count` elements from element `from` of `source` to element `to` of `target`, where both may lie outside
/// of those buffers and be negative: one launch copies from or to several buffers, counted from the first
/// one.
struct CopySegment {
  std::int64_t from = 0, to = 0, count = 0;
};

/// One launch that copies segments, converting types (round to nearest even). `segments` is device memory.
struct CopyCall {
  const void* source = nullptr;
  void* target = nullptr;
  core::DType sourceType = core::DType::fp32, targetType = core::DType::fp32;
  const CopySegment* segments = nullptr;
  std::int64_t segmentCount = 0, longest = 0, elements = 0;  // longest segment, all together
};

/// AdamW on `elements` consecutive elements: decoupled weight decay, bias correction with `step` from 1.
/// First and second moments in fp32; arithmetic as core::optim's reference, in fp32.
struct AdamWCall {
  void* parameters = nullptr;
  const void* gradients = nullptr;
  float *first = nullptr, *second = nullptr;
  core::DType parameterType = core::DType::fp32, gradientType = core::DType::fp32;
  std::int64_t elements = 0, step = 1;
  float learningRate = 0, beta1 = 0, beta2 = 0, epsilon = 0, weightDecay = 0;
};

/// Block-wise 8-bit quantization: one fp32 scale (absolute maximum / 127) per `block` elements; the last
/// block may be short.
struct QuantizeCall {
  const float* values = nullptr;
  std::int8_t* codes = nullptr;
  float* scales = nullptr;
  std::int64_t elements = 0, block = 0;
};

/// Everything that the device executor asks of a GPU: the CUDA runtime, cuBLASLt, NCCL and vsim's own
/// kernels, one function per call of theirs. The CUDA plug-in binds it to the real libraries; tests bind it
/// to a stand-in on host memory. Calls act on the calling thread's device (useDevice). Unless stated, calls
/// that take a stream return at once, and errors of work on a device may come from any later call.
/// Thread-safe as the libraries are.
class Api {
 public:
  virtual ~Api() = default;

  [[nodiscard]] virtual std::string name() const = 0;  // "cuda"
  virtual Status versions(Versions& out) = 0;
  virtual Status deviceCount(int& out) = 0;
  virtual Status deviceFacts(int device, DeviceFacts& out) = 0;
  virtual Status useDevice(int device) = 0;
  virtual Status clocks(int /*device*/, ClockFacts& out) {
    out = {};
    return {};
  }

  // Memory. allocate: code kOutOfMemory when there is not enough. free waits for the device.
  virtual Status allocate(void*& out, std::size_t bytes) = 0;
  virtual Status free(void* memory) = 0;
  virtual Status memoryInfo(core::Bytes& free, core::Bytes& total) = 0;
  virtual Status copyToDevice(void* to, const void* from, std::size_t bytes, Stream stream) = 0;
  virtual Status copyToHost(void* to, const void* from, std::size_t bytes, Stream stream) = 0;
  virtual Status fillBytes(void* memory, int byte, std::size_t bytes, Stream stream) = 0;

  // Streams and events. query: `done` false while work before the event is unfinished.
  virtual Status createStream(Stream& out, bool highPriority) = 0;
  virtual Status destroyStream(Stream stream) = 0;
  virtual Status createEvent(Event& out, bool timed) = 0;
  virtual Status destroyEvent(Event event) = 0;
  virtual Status record(Event event, Stream stream) = 0;
  virtual Status wait(Stream stream, Event event) = 0;
  virtual Status query(Event event, bool& done) = 0;
  virtual Status synchronize(Stream stream) = 0;
  /// Milliseconds between two timed events that have completed.
  virtual Status elapsed(Event begin, Event end, double& milliseconds) = 0;

  // Communication, as NCCL has it. Counts are elements: of what a rank sends (all-gather), receives
  // (reduce-scatter), or has (others). Between groupStart and groupEnd calls of one thread are one launch.
  // Events may be recorded behind a call that has returned: where its launch has to wait for other ranks
  // (connections are made at first use), the call waits, until abort() from another thread ends it with an
  // error or limitWaits() does.
  virtual Status uniqueId(UniqueId& out) = 0;
  /// `rank` of `ranks` joins; does not block the caller for longer than NCCL's non-blocking start: ask
  /// asyncStatus until `busy` is false.
  virtual Status join(Comm& out, int ranks, const UniqueId& id, int rank) = 0;
  virtual Status asyncStatus(Comm comm, bool& busy) = 0;
  virtual Status leave(Comm comm) = 0;  // after all work is done; abort() where it fails
  virtual Status abort(Comm comm) = 0;  // now, whatever runs; also the last call, instead of leave
  /// How long calls of communicators may wait for other ranks, in seconds; 600 unless set.
  virtual void limitWaits(double /*seconds*/) {}
  virtual Status registerBuffer(Comm comm, void* memory, std::size_t bytes, void*& handle) = 0;
  virtual Status deregisterBuffer(Comm comm, void* handle) = 0;
  virtual Status groupStart() = 0;
  virtual Status groupEnd() = 0;
  virtual Status allGather(const void* send, void* receive, std::size_t sendCount, core::DType, Comm,
                           Stream) = 0;
  virtual Status reduceScatter(const void* send, void* receive, std::size_t receiveCount, core::DType,
                               core::ReduceOp, Comm, Stream) = 0;
  virtual Status allReduce(const void* send, void* receive, std::size_t count, core::DType, core::ReduceOp,
                           Comm, Stream) = 0;
  virtual Status broadcast(const void* send, void* receive, std::size_t count, core::DType, int root, Comm,
                           Stream) = 0;
  virtual Status send(const void* memory, std::size_t count, core::DType, int peer, Comm, Stream) = 0;
  virtual Status receive(void* memory, std::size_t count, core::DType, int peer, Comm, Stream) = 0;

  // Kernels.
  virtual Status gemm(const GemmCall& call, Stream stream) = 0;
  [[nodiscard]] virtual OperandBytes attentionMemory(const AttentionCall& call) const = 0;
  virtual Status attention(const AttentionCall& call, Stream stream) = 0;
  virtual Status touch(const TouchCall& call, Stream stream) = 0;
  virtual Status empty(Stream stream) = 0;  // a kernel that does nothing
  virtual Status copySegments(const CopyCall& call, Stream stream) = 0;
  /// y = x, or y = y + x, converting types; sums in fp32.
  virtual Status cast(const void* x, core::DType xType, void* y, core::DType yType, std::int64_t elements,
                      bool add, Stream stream) = 0;
  virtual Status scale(void* x, core::DType type, std::int64_t elements, float factor, Stream stream) = 0;
  /// Sum of squares in fp32, added to *sum.
  virtual Status squaredNorm(const void* x, core::DType type, std::int64_t elements, float* sum,
                             Stream stream) = 0;
  /// Elements of a synthetic tensor (gpu/synthetic.h) with this base, from its element `first` on.
  virtual Status fillSynthetic(void* x, core::DType type, std::uint64_t base, std::int64_t first,
                               std::int64_t elements, Stream stream) = 0;
  virtual Status adamW(const AdamWCall& call, Stream stream) = 0;
  virtual Status quantize(const QuantizeCall& call, Stream stream) = 0;
  /// values = codes * scales; `values` of the call is written.
  virtual Status dequantize(const QuantizeCall& call, float* values, Stream stream) = 0;
  /// `iterations` steps of Newton-Schulz orthogonalization of the bf16 matrix x (rows x columns) in place, as
  /// Muon does it; scratch: at least 3 * max(rows, columns)^2 elements of bf16.
  virtual Status newtonSchulz(void* x, std::int64_t rows, std::int64_t columns, int iterations, void* scratch,
                              Stream stream) = 0;
};

/// Version of this interface: a plug-in of another one is refused.
inline constexpr int kApiVersion = 2;

/// What a plug-in exports with C linkage under these names.
///   int vsimDeviceApiVersion();
///   vsim::gpu::device::Api* vsimMakeDeviceApi();   // owned by the caller; never null
using VersionFunction = int (*)();
using MakeFunction = Api* (*)();
inline constexpr const char* kVersionSymbol = "vsimDeviceApiVersion";
inline constexpr const char* kMakeSymbol = "vsimMakeDeviceApi";

}  // namespace vsim::gpu::device
