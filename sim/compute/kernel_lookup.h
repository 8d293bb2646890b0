#pragma once

#include <string>
#include <string_view>

#include "core/profile/hardware.h"
#include "sim/compute/gemm_time.h"
#include "sim/compute/kernel_parameters.h"

namespace vsim::sim {

/// The block for `family` and `variant` ("bf16", "forward"), else that of the most similar family or format
/// that has one; null only when there is no block at all.
const ParameterBlock<GemmParameters>* findGemm(const KernelParameters& p, std::string_view family,
                                               std::string_view format);
const ParameterBlock<GroupedParameters>* findGrouped(const KernelParameters& p, std::string_view family,
                                                     std::string_view format);
const ParameterBlock<AttentionParameters>* findAttention(const KernelParameters& p, std::string_view family,
                                                         std::string_view direction);
const ParameterBlock<MemoryParameters>* findMemory(const KernelParameters& p, std::string_view family);

/// The board's rates for operands of `format` ("bf16", "fp32", "fp8", "fp8_block", "mxfp8", "nvfp4"; nvfp4
/// runs at twice the fp8 peak). Formats that a board lacks run at the bf16 peak.
Device deviceFor(const core::GpuSpec& gpu, std::string_view format);

/// Families from the most to the least similar to `family`, itself first.
std::vector<std::string> similarFamilies(std::string_view family);

/// Class of an attention library as kernel tables and scenarios name it: "trtllm", "mla", "flash1", "flash2",
/// "flash3", "flash4", "vision-flash3", "cudnn", "cudnn-oss", "te", "flashinfer", "sglang", "triton",
/// "eager"; empty when unknown.
std::string attentionClass(std::string_view library);
/// Library name in lower case without its version ("liger 0.8.0" -> "liger").
std::string libraryClass(std::string_view library);

/// Product of the memory rates that apply, from the general to the special; levels that are unknown count 1.
/// `columns`: row width, 0 when unknown.
double memoryRate(const Rates& rates, std::string_view op, std::string_view library, std::string_view format,
                  std::string_view family, double columns);
/// The keys that memoryRate looks up.
std::vector<std::string> memoryRateKeys(std::string_view op, std::string_view library,
                                        std::string_view format, std::string_view family, double columns);

/// Keys of multipliers of the floor: a few library calls are bound by the host at every size.
std::vector<std::string> memoryFloorKeys(std::string_view op, std::string_view library,
                                         std::string_view family);

}  // namespace vsim::sim
