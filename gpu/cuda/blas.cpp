#include "gpu/cuda/blas.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <string>
#include <tuple>

#include "gpu/cuda/cuda_status.h"

namespace vsim::gpu::cuda {
namespace {

using device::Status;

/// Bytes that an address is a multiple of, as far as the library asks: 256 at most.
std::uint32_t alignmentOf(const void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  std::uint32_t alignment = 256;
  while (value % alignment != 0) alignment /= 2;
  return alignment;
}

bool libraryType(core::DType type, cudaDataType_t& out) {
  switch (type) {
    case core::DType::fp32:
      out = CUDA_R_32F;
      return true;
    case core::DType::bf16:
      out = CUDA_R_16BF;
      return true;
    case core::DType::fp16:
      out = CUDA_R_16F;
      return true;
    case core::DType::fp8:
      out = CUDA_R_8F_E4M3;
      return true;
    default:
      return false;
  }
}

struct Key {
  Product product;
  std::array<std::uint32_t, 4> alignment{};
  bool inPlace = true;  // C is D

  [[nodiscard]] auto tied() const {
    const Product& p = product;
    return std::tuple(p.inputs, p.outputs, p.m, p.n, p.k, p.batch, p.transposeA, p.transposeB, p.pitchA,
                      p.pitchB, p.pitchD, p.strideA, p.strideB, p.strideD, p.beta != 0, alignment, inPlace);
  }
  friend bool operator<(const Key& a, const Key& b) { return a.tied() < b.tied(); }
};

Key keyOf(const Product& product, const Matrices& matrices) {
  const void* const c = product.beta != 0 ? matrices.c : matrices.d;
  return {product,
          {alignmentOf(matrices.a), alignmentOf(matrices.b), alignmentOf(c), alignmentOf(matrices.d)},
          c == matrices.d};
}

/// Calls of the library in a row; stops at the first that fails.
class Calls {
 public:
  template <class T>
  void set(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t what, const T& value) {
    if (status_.ok())
      status_ = blasStatus("cublasLtMatmulDescSetAttribute",
                           cublasLtMatmulDescSetAttribute(description, what, &value, sizeof value));
  }
  template <class T>
  void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t what, const T& value) {
    if (status_.ok())
      status_ = blasStatus("cublasLtMatmulPreferenceSetAttribute",
                           cublasLtMatmulPreferenceSetAttribute(preference, what, &value, sizeof value));
  }
  template <class T>
  void set(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t what, const T& value) {
    if (status_.ok())
      status_ = blasStatus("cublasLtMatrixLayoutSetAttribute",
                           cublasLtMatrixLayoutSetAttribute(layout, what, &value, sizeof value));
  }
  void layout(cublasLtMatrixLayout_t& out, cudaDataType_t type, const ColumnMajor::Matrix& matrix,
              std::int64_t batch) {
    if (status_.ok())
      status_ =
          blasStatus("cublasLtMatrixLayoutCreate",
                     cublasLtMatrixLayoutCreate(&out, type, static_cast<std::uint64_t>(matrix.rows),
                                                static_cast<std::uint64_t>(matrix.columns), matrix.leading));
    if (batch == 1 || !status_.ok()) return;
    set(out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
    set(out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.stride);
  }
  void done(const char* call, cublasStatus_t code) {
    if (status_.ok()) status_ = blasStatus(call, code);
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  Status status_;
};

std::string text(const Product& p) {
  return std::string(core::name(p.inputs)) + " product " + std::to_string(p.m) + " x " + std::to_string(p.n) +
         " x " + std::to_string(p.k) + (p.batch > 1 ? ", batch " + std::to_string(p.batch) : "");
}

}  // namespace

/// What the library wants for one shape.
struct Blas::Plan {
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, source = nullptr, result = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspaceBytes = 0;

  Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    for (cublasLtMatrixLayout_t layout : {first, second, source, result})
      if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
    if (description != nullptr) cublasLtMatmulDescDestroy(description);
  }

  [[nodiscard]] Status describe(const Product& product, const float* one) {
    cudaDataType_t inputs{}, outputs{};
    if (!libraryType(product.inputs, inputs) || !libraryType(product.outputs, outputs))
      return refused("products of " + std::string(core::name(product.inputs)) + " are not provided");
    // With an fp8 result the library wants the (unread) C in bf16.
    const cudaDataType_t sources = outputs == CUDA_R_8F_E4M3 ? CUDA_R_16BF : outputs;
    const ColumnMajor shape = columnMajor(product);
    Calls calls;
    // Plain fp32 arithmetic for fp32: TF32 stays off.
    calls.done("cublasLtMatmulDescCreate",
               cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    calls.set(description, CUBLASLT_MATMUL_DESC_TRANSA, shape.first.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    calls.set(description, CUBLASLT_MATMUL_DESC_TRANSB, shape.second.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (inputs == CUDA_R_8F_E4M3) {
      calls.set(description, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, one);
      calls.set(description, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, one);
      if (outputs == CUDA_R_8F_E4M3) calls.set(description, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, one);
      calls.set(description, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    }
    calls.layout(first, inputs, shape.first, product.batch);
    calls.layout(second, inputs, shape.second, product.batch);
    calls.layout(source, sources, shape.result, product.batch);
    calls.layout(result, outputs, shape.result, product.batch);
    return calls.status();
  }

  /// The library's first choice among its kernels.
  [[nodiscard]] Status choose(cublasLtHandle_t handle, const Key& key, std::size_t mostWorkspace) {
    cublasLtMatmulPreference_t preference = nullptr;
    Calls calls;
    calls.done("cublasLtMatmulPreferenceCreate", cublasLtMatmulPreferenceCreate(&preference));
    calls.set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, mostWorkspace);
    // The library's first operand is B, the second A (columnMajor).
    calls.set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.alignment[1]);
    calls.set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.alignment[0]);
    calls.set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key.alignment[2]);
    calls.set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.alignment[3]);
    Status status = calls.status();
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    if (status.ok()) {
      status = blasStatus("cublasLtMatmulAlgoGetHeuristic (" + text(key.product) + ")",
                          cublasLtMatmulAlgoGetHeuristic(handle, description, first, second, source, result,
                                                         preference, 1, &found, &count));
      if (status.ok() && (count == 0 || found.state != CUBLAS_STATUS_SUCCESS))
        status = blasStatus("cublasLtMatmulAlgoGetHeuristic (" + text(key.product) + ")",
                            CUBLAS_STATUS_NOT_SUPPORTED);
    }
    if (preference != nullptr) cublasLtMatmulPreferenceDestroy(preference);
    algorithm = found.algo;
    workspaceBytes = found.workspaceSize;
    return status;
  }
};

struct Blas::OnDevice {
  cublasLtHandle_t handle = nullptr;
  int major = 0;
  float* one = nullptr;  // on the device: the scale of fp8 operands
  std::map<Key, std::unique_ptr<Plan>> plans;
};

Blas::Blas() = default;
Blas::~Blas() = default;  // the library's handles go with the process: at its end the driver may be gone

bool Blas::unsupported(const Status& status) {
  return status.code == kBlasCodes + CUBLAS_STATUS_NOT_SUPPORTED;
}

Status Blas::onDevice(int device, OnDevice*& out) {
  std::unique_ptr<OnDevice>& own = devices_[device];
  if (own != nullptr) {
    out = own.get();
    return {};
  }
  auto made = std::make_unique<OnDevice>();
  Status status =
      runtimeStatus("cudaDeviceGetAttribute",
                    cudaDeviceGetAttribute(&made->major, cudaDevAttrComputeCapabilityMajor, device));
  if (!status.ok()) return status;
  status =
      runtimeStatus("cudaMalloc (scale)", cudaMalloc(reinterpret_cast<void**>(&made->one), sizeof(float)));
  if (!status.ok()) return status;
  constexpr float kOne = 1;
  status =
      runtimeStatus("cudaMemcpy (scale)", cudaMemcpy(made->one, &kOne, sizeof kOne, cudaMemcpyHostToDevice));
  if (status.ok()) status = blasStatus("cublasLtCreate", cublasLtCreate(&made->handle));
  if (!status.ok()) {
    cudaFree(made->one);
    return status;
  }
  own = std::move(made);
  out = own.get();
  return {};
}

Status Blas::workspaceBytes(int device, std::size_t& out) {
  const std::lock_guard lock(mutex_);
  OnDevice* own = nullptr;
  Status status = onDevice(device, own);
  if (status.ok()) out = std::size_t{own->major >= 9 ? 32U : 8U} << 20U;
  return status;
}

Status Blas::multiply(int device, const Product& product, const Matrices& matrices, void* workspace,
                      device::Stream stream) {
  OnDevice* own = nullptr;
  const Plan* plan = nullptr;
  {
    const std::lock_guard lock(mutex_);
    Status status = onDevice(device, own);
    if (!status.ok()) return status;
    const Key key = keyOf(product, matrices);
    auto known = own->plans.find(key);
    if (known == own->plans.end()) {
      auto made = std::make_unique<Plan>();
      status = made->describe(product, own->one);
      if (status.ok())
        status = made->choose(own->handle, key, std::size_t{own->major >= 9 ? 32U : 8U} << 20U);
      if (!status.ok()) return status;
      known = own->plans.emplace(key, std::move(made)).first;
    }
    plan = known->second.get();
  }
  const void* const source = product.beta != 0                     ? matrices.c
                             : product.outputs == core::DType::fp8 ? nullptr  // of another type than D
                                                                   : matrices.d;
  return blasStatus(
      "cublasLtMatmul (" + text(product) + ")",
      cublasLtMatmul(own->handle, plan->description, &product.alpha, matrices.b, plan->first, matrices.a,
                     plan->second, &product.beta, source, plan->source, matrices.d, plan->result,
                     &plan->algorithm, workspace, plan->workspaceBytes, static_cast<cudaStream_t>(stream)));
}

}  // namespace vsim::gpu::cuda
