#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <map>

#include "app/kernel_table.h"
#include "app/validate_kernels.h"
#include "tests/support/reference.h"

using namespace vsim;

namespace {

struct Scored {
  const app::KernelRow* row;
  const app::ValidatedRow* result;
};
using Filter = bool (*)(const app::KernelRow&);

bool half(const app::KernelRow& r) { return r.format == "bf16" || r.format == "fp16"; }
bool large(const app::KernelRow& r) { return std::min({r.m, r.n, r.k}) >= 512; }
bool memoryBound(const app::KernelRow& r) { return r.bytes > 0; }

app::ValidatedGroup score(const std::string& name, const std::vector<Scored>& rows, Filter filter) {
  std::vector<const app::ValidatedRow*> chosen;
  for (const Scored& scored : rows)
    if (filter(*scored.row)) chosen.push_back(scored.result);
  const app::ValidatedGroup group = app::summarise(name, chosen);
  std::cout << fmt::format(
      "{:<44} {:>5} rows: mean {:>5.1f} %, median {:>5.1f} %, bias {:>+5.1f} %, naive {:>5.1f} %\n", name,
      group.rows, group.mae * 100, group.medianError * 100, group.bias * 100, group.naiveMae * 100);
  return group;
}

/// Rows of kernels that are tuned for bandwidth: groups of at least four rows by operation, library, format
/// and family whose upper quartile moves 0.4 of the HBM peak.
std::vector<Scored> tunedMemory(const std::vector<Scored>& rows) {
  std::map<std::string, std::vector<Scored>> groups;
  for (const Scored& s : rows)
    if (memoryBound(*s.row) && s.row->flag.empty())
      groups[s.row->op + s.row->library + s.row->format + s.result->family].push_back(s);
  std::vector<Scored> tuned;
  const std::map<std::string, double> peaks{{"A100", 1.9e3}, {"A40", 696},   {"L40S", 864},  {"H100", 3352},
                                            {"H200", 4800},  {"B200", 8000}, {"GB200", 8000}};
  for (const auto& [key, group] : groups) {
    std::vector<double> fractions;
    for (const Scored& s : group)
      fractions.push_back(static_cast<double>(s.row->bytes) / s.row->timeUs / 1e3 /
                          peaks.at(s.result->family));
    std::sort(fractions.begin(), fractions.end());
    if (group.size() >= 4 && fractions[fractions.size() * 3 / 4] >= 0.4)
      tuned.insert(tuned.end(), group.begin(), group.end());
  }
  return tuned;
}

}  // namespace

TEST_CASE("measured kernels are predicted within the bars, five-fold cross-validated") {
  const auto text = test::referenceText("kernels.csv");
  if (!text) return;
  const auto table = app::parseCsvTable(*text, "kernels.csv");
  REQUIRE(table);
  const auto rows = app::readKernelRows(*table);
  REQUIRE(rows);
  const auto report = app::validateKernelTable(*table, nullptr, {.folds = 5});
  REQUIRE(report);
  std::vector<Scored> scored;
  for (std::size_t i = 0; i < rows->size(); ++i)
    if (report->details[i].reasonSkipped.empty()) scored.push_back({&(*rows)[i], &report->details[i]});

  struct Bar {
    const char* name;
    Filter filter;
    double mean, median;  // 0: no bar
  };
  const std::vector<Bar> bars{
      {"GEMM bf16/fp16, m, n, k >= 512",
       [](const app::KernelRow& r) { return r.op == "gemm" && half(r) && large(r); }, 0.07, 0},
      {"GEMM bf16/fp16, a side below 512",
       [](const app::KernelRow& r) { return r.op == "gemm" && half(r) && !large(r); }, 0, 0},
      {"GEMM fp8, fp8_block, nvfp4",
       [](const app::KernelRow& r) { return r.op == "gemm" && !half(r) && r.format != "fp32"; }, 0.12, 0},
      {"attention forward bf16/fp16, s >= 1024",
       [](const app::KernelRow& r) { return r.op == "attention_fwd" && half(r) && r.queries >= 1024; }, 0.12,
       0},
      {"attention backward bf16/fp16, s >= 1024",
       [](const app::KernelRow& r) { return r.op == "attention_bwd" && half(r) && r.queries >= 1024; }, 0.09,
       0},
      {"grouped GEMM and fused MoE bf16",
       [](const app::KernelRow& r) { return (r.op == "grouped_gemm" || r.op == "moe_fused_fwd") && half(r); },
       0, 0.09},
      {"grouped GEMM and fused MoE fp8",
       [](const app::KernelRow& r) {
         return (r.op == "grouped_gemm" || r.op == "moe_fused_fwd") && !half(r);
       },
       0, 0},
      {"memory-bound, HBM, all", [](const app::KernelRow& r) { return memoryBound(r) && r.flag.empty(); }, 0,
       0},
      {"memory-bound, partly in L2", [](const app::KernelRow& r) { return memoryBound(r) && r.flag == "l2"; },
       0, 0}};
  for (const Bar& bar : bars) {
    const app::ValidatedGroup group = score(bar.name, scored, bar.filter);
    if (group.rows < 30) continue;  // too few to judge a mean
    INFO(bar.name);
    if (bar.mean > 0) CHECK(group.mae <= bar.mean);
    if (bar.median > 0) CHECK(group.medianError <= bar.median);
    CHECK(group.mae < group.naiveMae);
  }
  const app::ValidatedGroup tuned = score("memory-bound, HBM, tuned kernels", tunedMemory(scored),
                                          [](const app::KernelRow&) { return true; });
  if (tuned.rows >= 30) CHECK(tuned.mae <= 0.10);
}

TEST_CASE("the bundled parameters were fitted to these kernels") {
  const auto text = test::referenceText("kernels.csv");
  if (!text) return;
  const auto table = app::parseCsvTable(*text, "kernels.csv");
  REQUIRE(table);
  const auto report = app::validateKernelTable(*table, nullptr, {});
  REQUIRE(report);
  std::cout << fmt::format("bundled parameters: {} rows, mean {:.1f} %, bias {:+.1f} %, naive {:.1f} %\n",
                           report->rows, report->mae * 100, report->bias * 100, report->naiveMae * 100);
  CHECK(report->mae < 0.5 * report->naiveMae);
}
