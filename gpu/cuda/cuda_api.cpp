#include "gpu/cuda/cuda_api.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <string>

#include "gpu/cuda/cuda_status.h"
#include "gpu/cuda/device_facts.h"
#include "gpu/cuda/nvml.h"

namespace vsim::gpu::cuda {
namespace {

cudaStream_t runtimeStream(device::Stream stream) { return static_cast<cudaStream_t>(stream); }
cudaEvent_t runtimeEvent(device::Event event) { return static_cast<cudaEvent_t>(event); }

}  // namespace

using device::Status;

// "13.0" of 13000, "2.28.9" of 22809, "13.1.0" of 130100.
Status CudaApi::versions(device::Versions& out) {
  int driver = 0, runtime = 0, nccl = 0;
  Status status = runtimeStatus("cudaDriverGetVersion", cudaDriverGetVersion(&driver));
  if (status.ok()) status = runtimeStatus("cudaRuntimeGetVersion", cudaRuntimeGetVersion(&runtime));
  if (status.ok()) status = communicators_.version(nccl);
  if (!status.ok()) return status;
  const auto two = [](int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); };
  const auto three = [](int v) {
    return std::to_string(v / 10'000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
  };
  out.driver = nvml::driverVersion();
  if (out.driver.empty()) out.driver = driver == 0 ? "" : "CUDA " + two(driver);
  out.runtime = two(runtime);
  out.nccl = three(nccl);
  out.blas = three(static_cast<int>(cublasLtGetVersion()));
  return {};
}

Status CudaApi::deviceCount(int& out) {
  out = 0;
  return runtimeStatus("cudaGetDeviceCount", cudaGetDeviceCount(&out));
}

Status CudaApi::deviceFacts(int device, device::DeviceFacts& out) { return readDeviceFacts(device, out); }

Status CudaApi::useDevice(int device) { return runtimeStatus("cudaSetDevice", cudaSetDevice(device)); }

Status CudaApi::clocks(int device, device::ClockFacts& out) {
  out = {};
  std::string address;
  Status status = pciAddressOf(device, address);
  if (status.ok() && !nvml::clocks(address, out)) out = {};
  return status;
}

Status CudaApi::allocate(void*& out, std::size_t bytes) {
  out = nullptr;
  if (bytes == 0) return {};
  static_assert(device::kOutOfMemory == cudaErrorMemoryAllocation);
  return runtimeStatus("cudaMalloc", cudaMalloc(&out, bytes));
}

Status CudaApi::free(void* memory) { return runtimeStatus("cudaFree", cudaFree(memory)); }

Status CudaApi::memoryInfo(core::Bytes& free, core::Bytes& total) {
  std::size_t freeBytes = 0, totalBytes = 0;
  Status status = runtimeStatus("cudaMemGetInfo", cudaMemGetInfo(&freeBytes, &totalBytes));
  free = static_cast<core::Bytes>(freeBytes);
  total = static_cast<core::Bytes>(totalBytes);
  return status;
}

Status CudaApi::copyToDevice(void* to, const void* from, std::size_t bytes, Stream stream) {
  return runtimeStatus("cudaMemcpyAsync (to device)",
                       cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, runtimeStream(stream)));
}

Status CudaApi::copyToHost(void* to, const void* from, std::size_t bytes, Stream stream) {
  return runtimeStatus("cudaMemcpyAsync (to host)",
                       cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, runtimeStream(stream)));
}

Status CudaApi::fillBytes(void* memory, int byte, std::size_t bytes, Stream stream) {
  return runtimeStatus("cudaMemsetAsync", cudaMemsetAsync(memory, byte, bytes, runtimeStream(stream)));
}

Status CudaApi::createStream(Stream& out, bool highPriority) {
  int least = 0, greatest = 0;
  Status status =
      runtimeStatus("cudaDeviceGetStreamPriorityRange", cudaDeviceGetStreamPriorityRange(&least, &greatest));
  if (!status.ok()) return status;
  cudaStream_t made = nullptr;
  status = runtimeStatus(
      "cudaStreamCreateWithPriority",
      cudaStreamCreateWithPriority(&made, cudaStreamNonBlocking, highPriority ? greatest : least));
  out = made;
  return status;
}

Status CudaApi::destroyStream(Stream stream) {
  const Status dropped = scratch_.drop(stream);
  Status status = runtimeStatus("cudaStreamDestroy", cudaStreamDestroy(runtimeStream(stream)));
  return status.ok() ? dropped : status;
}

Status CudaApi::createEvent(Event& out, bool timed) {
  cudaEvent_t made = nullptr;
  Status status =
      runtimeStatus("cudaEventCreateWithFlags",
                    cudaEventCreateWithFlags(&made, timed ? cudaEventDefault : cudaEventDisableTiming));
  out = made;
  return status;
}

Status CudaApi::destroyEvent(Event event) {
  return runtimeStatus("cudaEventDestroy", cudaEventDestroy(runtimeEvent(event)));
}

Status CudaApi::record(Event event, Stream stream) {
  return runtimeStatus("cudaEventRecord", cudaEventRecord(runtimeEvent(event), runtimeStream(stream)));
}

Status CudaApi::wait(Stream stream, Event event) {
  return runtimeStatus("cudaStreamWaitEvent",
                       cudaStreamWaitEvent(runtimeStream(stream), runtimeEvent(event), 0));
}

Status CudaApi::query(Event event, bool& done) {
  const cudaError_t code = cudaEventQuery(runtimeEvent(event));
  done = code == cudaSuccess;
  if (code != cudaErrorNotReady) return runtimeStatus("cudaEventQuery", code);
  cudaGetLastError();  // "not ready" must not be taken for the error of the next launch
  return {};
}

Status CudaApi::synchronize(Stream stream) {
  return runtimeStatus("cudaStreamSynchronize", cudaStreamSynchronize(runtimeStream(stream)));
}

Status CudaApi::elapsed(Event begin, Event end, double& milliseconds) {
  float value = 0;
  Status status = runtimeStatus("cudaEventElapsedTime",
                                cudaEventElapsedTime(&value, runtimeEvent(begin), runtimeEvent(end)));
  milliseconds = value;
  return status;
}

Status CudaApi::allGather(const void* send, void* receive, std::size_t sendCount, core::DType type, Comm comm,
                          Stream stream) {
  return communicators_.transfer(TransferKind::allGather,
                                 {.send = send, .receive = receive, .count = sendCount, .type = type}, comm,
                                 stream);
}

Status CudaApi::reduceScatter(const void* send, void* receive, std::size_t receiveCount, core::DType type,
                              core::ReduceOp operation, Comm comm, Stream stream) {
  return communicators_.transfer(
      TransferKind::reduceScatter,
      {.send = send, .receive = receive, .count = receiveCount, .type = type, .operation = operation}, comm,
      stream);
}

Status CudaApi::allReduce(const void* send, void* receive, std::size_t count, core::DType type,
                          core::ReduceOp operation, Comm comm, Stream stream) {
  return communicators_.transfer(
      TransferKind::allReduce,
      {.send = send, .receive = receive, .count = count, .type = type, .operation = operation}, comm, stream);
}

Status CudaApi::broadcast(const void* send, void* receive, std::size_t count, core::DType type, int root,
                          Comm comm, Stream stream) {
  return communicators_.transfer(
      TransferKind::broadcast, {.send = send, .receive = receive, .count = count, .type = type, .peer = root},
      comm, stream);
}

Status CudaApi::send(const void* memory, std::size_t count, core::DType type, int peer, Comm comm,
                     Stream stream) {
  return communicators_.transfer(TransferKind::send,
                                 {.send = memory, .count = count, .type = type, .peer = peer}, comm, stream);
}

Status CudaApi::receive(void* memory, std::size_t count, core::DType type, int peer, Comm comm,
                        Stream stream) {
  return communicators_.transfer(
      TransferKind::receive, {.receive = memory, .count = count, .type = type, .peer = peer}, comm, stream);
}

}  // namespace vsim::gpu::cuda
