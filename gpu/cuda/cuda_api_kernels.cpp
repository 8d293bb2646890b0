#include <cuda_runtime_api.h>

#include "gpu/cuda/attention_plan.h"
#include "gpu/cuda/cuda_api.h"
#include "gpu/cuda/cuda_status.h"
#include "gpu/cuda/newton_schulz.h"

namespace vsim::gpu::cuda {

using device::Status;

/// What attention and Newton-Schulz are made of.
class CudaApi::Backend {
 public:
  Backend(CudaApi& api, const Current& current) : api_(api), current_(current) {}

  Status multiply(const Product& product, const Matrices& matrices) {
    return api_.multiply(current_, product, matrices);
  }
  Status softmax(const SoftmaxCall& call) {
    return runtimeStatus("softmax kernel", launchSoftmax(current_.launch, call));
  }
  Status normalize(void* x, std::int64_t elements, float* sum) {
    Status status = api_.fillBytes(sum, 0, sizeof(float), current_.launch.stream);
    if (status.ok()) status = api_.squaredNormOn(current_, x, core::DType::bf16, elements, sum);
    if (!status.ok()) return status;
    return runtimeStatus("scale kernel",
                         launchScale(current_.launch, x, core::DType::bf16, elements, 1, sum));
  }
  Status copy(void* to, const void* from, std::int64_t elements) {
    const auto bytes = static_cast<std::size_t>(elements * core::bytesOf(core::DType::bf16));
    return runtimeStatus("cudaMemcpyAsync",
                         cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice,
                                         static_cast<cudaStream_t>(current_.launch.stream)));
  }

 private:
  CudaApi& api_;
  const Current& current_;
};

Status CudaApi::current(Stream stream, Current& out) {
  out.launch.stream = stream;
  Status status = runtimeStatus("cudaGetDevice", cudaGetDevice(&out.device));
  if (!status.ok()) return status;
  const std::lock_guard lock(mutex_);
  int& processors = processors_[out.device];
  if (processors == 0)
    status = runtimeStatus("cudaDeviceGetAttribute",
                           cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, out.device));
  out.launch.processors = processors;
  return status;
}

template <class Launch>
Status CudaApi::launched(const char* kernel, Stream stream, Launch&& launch) {
  Current now;
  Status status = current(stream, now);
  return status.ok() ? runtimeStatus(kernel, launch(now.launch)) : status;
}

Status CudaApi::multiply(const Current& now, const Product& product, const Matrices& matrices) {
  if (product.m <= 0 || product.n <= 0 || product.k <= 0 || product.batch <= 0) return {};
  std::size_t bytes = 0;
  StreamMemory memory;
  Status status = blas_.workspaceBytes(now.device, bytes);
  if (status.ok()) status = scratch_.workspaceOf(now.device, now.launch.stream, bytes, memory);
  if (!status.ok()) return status;
  return blas_.multiply(now.device, product, matrices, memory.workspace, now.launch.stream);
}

namespace {

Matrices operandsOf(const device::GemmCall& call, const Product& product, std::int64_t a, std::int64_t b,
                    std::int64_t d) {
  void* const result = static_cast<char*>(call.c) + d * core::bytesOf(product.outputs);
  return {.a = static_cast<const char*>(call.a) + a * core::bytesOf(product.inputs),
          .b = static_cast<const char*>(call.b) + b * core::bytesOf(product.inputs),
          .c = result,
          .d = result};
}

}  // namespace

Status CudaApi::gemm(const device::GemmCall& call, Stream stream) {
  Current now;
  Status status = current(stream, now);
  if (!status.ok()) return status;
  if (call.m <= 0 || call.n <= 0 || call.groups <= 0) return {};
  if (call.k <= 0) {  // an empty sum
    if (call.accumulate) return {};
    return fillBytes(call.c, 0, static_cast<std::size_t>(call.m * call.n * core::bytesOf(call.dtype)),
                     stream);
  }
  for (const GemmPart& part : partsOf(call)) {
    const Product& product = part.product;
    status = multiply(now, product, operandsOf(call, product, part.a, part.b, part.d));
    // fp8 with a batch is not everywhere: then one product after the other.
    if (product.batch > 1 && Blas::unsupported(status)) {
      Product one = product;
      one.batch = 1;
      status = {};
      for (std::int64_t i = 0; i < product.batch && status.ok(); ++i)
        status = multiply(
            now, one, operandsOf(call, one, i * product.strideA, i * product.strideB, i * product.strideD));
    }
    if (!status.ok()) return status;
  }
  return {};
}

namespace {

/// Empty where the call can be done.
std::string attentionProblem(const device::AttentionCall& call) {
  if (core::bytesOf(call.dtype) < 2 || call.dtype == core::DType::int32 || call.dtype == core::DType::int64)
    return "attention in " + std::string(core::name(call.dtype)) + " is not provided";
  if (call.kvHeads <= 0 || call.heads % call.kvHeads != 0)
    return "attention: heads must be a multiple of key/value heads";
  return {};
}

}  // namespace

device::OperandBytes CudaApi::attentionMemory(const device::AttentionCall& call) const {
  if (!attentionProblem(call).empty()) return {};
  const AttentionPlan plan = planAttention(call);
  return {static_cast<std::size_t>(plan.operandBytes), static_cast<std::size_t>(plan.resultBytes)};
}

Status CudaApi::attention(const device::AttentionCall& call, Stream stream) {
  if (std::string problem = attentionProblem(call); !problem.empty()) return refused(std::move(problem));
  Current now;
  Status status = current(stream, now);
  if (!status.ok()) return status;
  return runAttention(planAttention(call), call.operands, call.results, Backend(*this, now));
}

Status CudaApi::touch(const device::TouchCall& call, Stream stream) {
  return launched("touch kernel", stream,
                  [&](const LaunchContext& context) { return launchTouch(context, call); });
}

Status CudaApi::empty(Stream stream) {
  return launched("empty kernel", stream, [](const LaunchContext& context) { return launchEmpty(context); });
}

Status CudaApi::copySegments(const device::CopyCall& call, Stream stream) {
  return launched("copy kernel", stream,
                  [&](const LaunchContext& context) { return launchCopy(context, call); });
}

Status CudaApi::cast(const void* x, core::DType xType, void* y, core::DType yType, std::int64_t elements,
                     bool add, Stream stream) {
  return launched("cast kernel", stream, [&](const LaunchContext& context) {
    return launchCast(context, x, xType, y, yType, elements, add);
  });
}

Status CudaApi::scale(void* x, core::DType type, std::int64_t elements, float factor, Stream stream) {
  return launched("scale kernel", stream, [&](const LaunchContext& context) {
    return launchScale(context, x, type, elements, factor);
  });
}

Status CudaApi::squaredNormOn(const Current& now, const void* x, core::DType type, std::int64_t elements,
                              float* sum) {
  StreamMemory memory;
  Status status = scratch_.reductionOf(now.device, now.launch.stream, memory);
  if (!status.ok()) return status;
  return runtimeStatus("squared norm kernel",
                       launchSquaredNorm(now.launch, x, type, elements, memory.reduction, sum));
}

Status CudaApi::squaredNorm(const void* x, core::DType type, std::int64_t elements, float* sum,
                            Stream stream) {
  Current now;
  Status status = current(stream, now);
  return status.ok() ? squaredNormOn(now, x, type, elements, sum) : status;
}

Status CudaApi::fillSynthetic(void* x, core::DType type, std::uint64_t base, std::int64_t first,
                              std::int64_t elements, Stream stream) {
  return launched("fill kernel", stream, [&](const LaunchContext& context) {
    return launchFillSynthetic(context, x, type, base, first, elements);
  });
}

Status CudaApi::adamW(const device::AdamWCall& call, Stream stream) {
  return launched("AdamW kernel", stream,
                  [&](const LaunchContext& context) { return launchAdamW(context, call); });
}

Status CudaApi::quantize(const device::QuantizeCall& call, Stream stream) {
  return launched("quantize kernel", stream,
                  [&](const LaunchContext& context) { return launchQuantize(context, call); });
}

Status CudaApi::dequantize(const device::QuantizeCall& call, float* values, Stream stream) {
  return launched("dequantize kernel", stream,
                  [&](const LaunchContext& context) { return launchDequantize(context, call, values); });
}

Status CudaApi::newtonSchulz(void* x, std::int64_t rows, std::int64_t columns, int iterations, void* scratch,
                             Stream stream) {
  Current now;
  Status status = current(stream, now);
  return status.ok() ? runNewtonSchulz(x, rows, columns, iterations, scratch, Backend(*this, now)) : status;
}

}  // namespace vsim::gpu::cuda
