#include "sim/compute/kernel_parameters.h"

#include <catch2/catch.hpp>

#include "sim/compute/kernel_lookup.h"
#include "sim/compute/kernel_model.h"

using namespace vsim;

namespace {

core::Error errorOf(const std::string& text) {
  auto result = sim::parseKernelParameters(text, "p.toml");
  REQUIRE_FALSE(result);
  return result.error();
}

}  // namespace

TEST_CASE("the bundled parameters name their sources") {
  auto parameters = sim::KernelModel::loadParameters();
  REQUIRE(parameters);
  for (const auto& [key, block] : parameters->gemm) {
    INFO(key);
    CHECK(block.source.size() > 10);
    CHECK(block.relativeError > 0);
    CHECK(block.relativeError < 0.5);
  }
  for (const char* family : {"A100", "A40", "H100", "H200", "B200", "GB200"})
    CHECK(parameters->gemm.count(std::string(family) + " bf16") == 1);
}

TEST_CASE("parameters survive writing and reading") {
  auto parameters = sim::KernelModel::loadParameters();
  REQUIRE(parameters);
  const std::string text = sim::writeKernelParameters(*parameters, "# comment\n");
  auto again = sim::parseKernelParameters(text, "again");
  REQUIRE(again);
  CHECK(sim::writeKernelParameters(*again, "# comment\n") == text);
}

TEST_CASE("mistakes in a parameter file are placed") {
  CHECK(errorOf("[gem A100 bf16]\n").text().find("did you mean 'gemm'") != std::string::npos);
  CHECK(errorOf("[gemm]\n").line == 1);
  CHECK(errorOf("[memory_rates A100]\n").line == 1);
  CHECK(errorOf("[gemm A100 bf16\n").line == 1);
  CHECK(errorOf("efficiency = 1\n").message.find("before the first section") != std::string::npos);
  const core::Error unknown = errorOf("[gemm A100 bf16]\n  eficiency = 0.8\n");
  CHECK(unknown.line == 2);
  CHECK(unknown.column == 3);
  CHECK(unknown.hint.find("efficiency") != std::string::npos);
  CHECK(errorOf("[gemm A100 bf16]\nefficiency = abc\n").column == 14);
  CHECK(errorOf("[gemm A100 bf16]\nefficiency = 7\n").message.find("between") != std::string::npos);
  CHECK(errorOf("[gemm A100 bf16]\nefficiency = nan\n").line == 2);
  CHECK(errorOf("[gemm A100 bf16]\nefficiency\n").line == 2);
  CHECK(errorOf("[gemm A100 bf16]\nrate \"x = 1\n").line == 2);
  CHECK(errorOf("[gemm A100 bf16]\nrate \"x\" = 0\n").line == 2);
  CHECK(errorOf("[gemm A100 bf16]\nsource = x\n").line == 2);
  CHECK(errorOf("[memory_rates]\nefficiency = 1\n").line == 2);
  CHECK_FALSE(sim::KernelModel::loadParameters("/no/such/file"));
  CHECK_FALSE(sim::KernelModel::loadParameters("/"));
}

TEST_CASE("libraries are recognised") {
  CHECK(sim::attentionClass("vllm vllm_vit_flash_attn_fa3") == "vision-flash3");
  CHECK(sim::attentionClass("trtllm MLA prefill") == "mla");
  CHECK(sim::attentionClass("cuDNN OSS") == "cudnn-oss");
  CHECK(sim::attentionClass("cuDNN 9.22") == "cudnn");
  CHECK(sim::attentionClass("flash2") == "flash2");
  CHECK(sim::attentionClass("te") == "te");
  CHECK(sim::attentionClass("") == "");
  CHECK(sim::libraryClass("Liger 0.8.0") == "liger");
  CHECK(sim::libraryClass("PyTorch eager") == "pytorch eager");
}

TEST_CASE("families without data use the most similar one") {
  auto parameters = sim::KernelModel::loadParameters();
  REQUIRE(parameters);
  CHECK(sim::findGrouped(*parameters, "B200", "bf16") == sim::findGrouped(*parameters, "H200", "bf16"));
  CHECK(sim::findAttention(*parameters, "H100", "backward") ==
        sim::findAttention(*parameters, "H200", "backward"));
  CHECK(sim::findGemm(*parameters, "Unknown", "fp16") == sim::findGemm(*parameters, "H100", "bf16"));
}
