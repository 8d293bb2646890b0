// Fits the kernel model to a table of measured kernels and writes the parameter file to standard output:
//   vsim-fit-kernels kernels.csv > sim/compute/kernel_parameters.toml
// The errors in the file are five-fold cross-validated.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "app/fit_kernels.h"
#include "app/kernel_cases.h"
#include "app/kernel_table.h"

namespace {

constexpr int kFolds = 5;
constexpr const char* kComment =
    "# Parameters of the kernel time model: one section per kind of kernel, GPU family and number format or\n"
    "# direction. Names are explained in kernel_parameters.h, formulas in the *_time.h files beside it.\n"
    "# relative_error: mean absolute error on shapes that the fit did not see (five folds).\n"
    "# Written by vsim-fit-kernels from tables published with TensorRT-LLM, vLLM and SGLang kernels\n"
    "# (aiconfigurator), Vidur, SimuMax (TransformerEngine), cudnn-frontend, Liger, NeuSight, LLMCompass, "
    "Azure,\n"
    "# DeepGEMM, and figures posted in public discussions of flash-attention, PyTorch, FBGEMM and torchao.\n";

int run(const char* path) {
  using namespace vsim;
  auto table = app::readCsvTable(path);
  if (!table) {
    fmt::print(stderr, "{}\n", core::text(table.error()));
    return 2;
  }
  auto rows = app::readKernelRows(*table);
  if (!rows) {
    fmt::print(stderr, "{}\n", core::text(rows.error()));
    return 2;
  }
  std::vector<app::KernelCase> cases;
  for (const app::KernelRow& row : *rows)
    if (auto kernel = app::kernelCase(row)) cases.push_back(std::move(*kernel));
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const sim::KernelParameters parameters = app::fitWithErrors(cases, kFolds, threads);
  fmt::print("{}", sim::writeKernelParameters(parameters, kComment));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "usage: vsim-fit-kernels kernels.csv > kernel_parameters.toml\n");
    return 2;
  }
  return run(arguments[1]);
}
