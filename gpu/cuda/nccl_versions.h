#pragma once

#if __has_include(<nccl.h>)

#include <nccl.h>

#include "core/base/collective.h"
#include "core/base/dtype.h"

/// What differs between versions of NCCL, in one place. 2.19 is the oldest that the plug-in builds with.
#if NCCL_VERSION_CODE < NCCL_VERSION(2, 19, 0)
#error "NCCL 2.19 or newer is needed: ncclCommRegister"
#endif

namespace vsim::gpu::cuda {

/// The library's type for `elements` of `type`; false where it has none. Numbers that are only moved need
/// none of their own.
inline bool ncclType(core::DType type, bool reduced, ncclDataType_t& out) {
  switch (type) {
    case core::DType::fp32:
      out = ncclFloat32;
      return true;
    case core::DType::bf16:
      out = ncclBfloat16;
      return true;
    case core::DType::fp16:
      out = ncclFloat16;
      return true;
    case core::DType::int64:
      out = ncclInt64;
      return true;
    case core::DType::int32:
      out = ncclInt32;
      return true;
    case core::DType::uint8:
      out = ncclUint8;
      return true;
    case core::DType::fp8:
      if (!reduced) {
        out = ncclUint8;
        return true;
      }
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 24, 0)
      out = ncclFloat8e4m3;
      return true;
#else
      return false;
#endif
  }
  return false;
}

inline bool ncclOperation(core::ReduceOp operation, ncclRedOp_t& out) {
  if (operation == core::ReduceOp::none) return false;
  out = operation == core::ReduceOp::average ? ncclAvg : ncclSum;
  return true;
}

}  // namespace vsim::gpu::cuda

#endif
