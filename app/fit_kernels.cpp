#include "app/fit_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "app/least_squares.h"
#include "sim/compute/kernel_lookup.h"

namespace vsim::app {
namespace {

using Cases = std::vector<const KernelCase*>;

/// Blackwell boards share attention kernels, so their rows are fitted together.
std::string attentionFamily(const std::string& family) { return family == "GB200" ? "B200" : family; }

template <class Shape>
bool isSingle(const KernelCase& kernel) {
  return kernel.parts.size() == 1 && std::holds_alternative<Shape>(kernel.parts[0].shape);
}

template <class Values>
void addValues(FitProblem& problem, Values& values) {
  for (const auto& field : sim::parameterFields<Values>()) {
    double& value = values.*field.member;
    value = field.start;
    if (field.spread > 0)
      problem.variables.push_back(
          {&value, field.logarithmic, field.start, field.spread, field.lower, field.upper, {}});
  }
}

template <class Values>
void setSpread(FitProblem& problem, Values& values, double Values::*member, double start, double spread,
               double lower, double upper) {
  values.*member = start;
  for (FitVariable& variable : problem.variables)
    if (variable.value == &(values.*member)) {
      variable.prior = start;
      variable.spread = spread;
      return;
    }
  problem.variables.push_back({&(values.*member), false, start, spread, lower, upper, {}});
}

/// Adds the rates that `cases` name, each with the rows it acts on.
void addRates(FitProblem& problem, sim::Rates& rates, const Cases& cases, double spread) {
  std::map<std::string, std::vector<int>> rows;
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (const KernelPart& part : cases[i]->parts)
      for (const std::string& key : part.rateKeys)
        if (!key.empty()) rows[key].push_back(static_cast<int>(i));
  for (const auto& [key, list] : rows) rates.at(key) = 1;
  for (const auto& [key, list] : rows)
    problem.variables.push_back({&rates.at(key), true, 1, spread, 0.02, 20, list});
}

void bindRows(FitProblem& problem, const Cases& cases, const sim::KernelParameters& parameters) {
  auto bound = std::make_shared<std::vector<BoundCase>>();
  for (const KernelCase* kernel : cases) {
    bound->emplace_back(*kernel, parameters);
    problem.logMeasured.push_back(std::log(kernel->measured));
  }
  problem.predict = [bound](std::size_t row) { return (*bound)[row].seconds(); };
}

/// Whole and fractional waves give separate minima: starts from both, keeps the better.
template <class Values>
void fitFromTwoStarts(FitProblem& problem, Values& values) {
  std::vector<double> start, best;
  for (const FitVariable& v : problem.variables) start.push_back(*v.value);
  double bestObjective = 0;
  for (const double rounding : {0.15, 0.75}) {
    for (std::size_t i = 0; i < start.size(); ++i) *problem.variables[i].value = start[i];
    values.waveRounding = rounding;
    const double objective = fit(problem);
    if (!best.empty() && objective >= bestObjective) continue;
    bestObjective = objective;
    best.clear();
    for (const FitVariable& v : problem.variables) best.push_back(*v.value);
  }
  for (std::size_t i = 0; i < best.size(); ++i) *problem.variables[i].value = best[i];
}

std::string countText(std::size_t rows) { return fmt::format("{} published kernel times", rows); }

void fitGemm(sim::KernelParameters& p, const std::string& key, const Cases& cases) {
  auto& block = p.gemm[key];
  block.source = countText(cases.size());
  FitProblem problem;
  addValues(problem, block.values);
  const bool quantized = key.ends_with("fp8") || key.ends_with("fp8_block") || key.ends_with("nvfp4");
  if (quantized) {
    setSpread(problem, block.values, &sim::GemmParameters::quantizePasses, 2.5, 1.5, 0, 20);
    setSpread(problem, block.values, &sim::GemmParameters::floorUs, 8, 0.7, 0.3, 60);
    setSpread(problem, block.values, &sim::GemmParameters::kOverhead, 300, 0.8, 1, 3000);
    setSpread(problem, block.values, &sim::GemmParameters::efficiency, 0.75, 0.3, 0.02, 1);
  }
  addRates(problem, block.rates, cases, 0.1);
  for (const KernelCase* kernel : cases) {
    const auto& shape = std::get<sim::GemmShape>(kernel->parts[0].shape);
    // Thin products (decoding) follow other kernels; they count less.
    problem.weights.push_back(std::min({shape.m, shape.n, shape.k}) >= 512 ? 1 : 0.25);
  }
  bindRows(problem, cases, p);
  fitFromTwoStarts(problem, block.values);
}

void fitAttention(sim::KernelParameters& p, const std::string& key, const Cases& cases) {
  auto& block = p.attention[key];
  block.source = countText(cases.size());
  FitProblem problem;
  addValues(problem, block.values);
  addRates(problem, block.rates, cases, 0.3);
  for (const KernelCase* kernel : cases)
    problem.weights.push_back(std::get<sim::AttentionShape>(kernel->parts[0].shape).queries >= 1024 ? 1
                                                                                                    : 0.3);
  bindRows(problem, cases, p);
  fitFromTwoStarts(problem, block.values);
}

void fitGrouped(sim::KernelParameters& p, const std::string& key, const Cases& cases) {
  auto& block = p.grouped[key];
  block.source = countText(cases.size());
  FitProblem problem;
  addValues(problem, block.values);
  if (!key.ends_with("bf16"))
    setSpread(problem, block.values, &sim::GroupedParameters::quantizePasses, 0.5, 0.5, 0, 20);
  addRates(problem, block.rates, cases, 0.25);
  bindRows(problem, cases, p);
  fitFromTwoStarts(problem, block.values);
}

void fitMemory(sim::KernelParameters& p, const Cases& cases) {
  FitProblem problem;
  std::map<std::string, std::vector<int>> families;
  for (std::size_t i = 0; i < cases.size(); ++i) families[cases[i]->family].push_back(static_cast<int>(i));
  for (const auto& [family, rows] : families) {
    auto& block = p.memory[family];
    block.source = countText(rows.size());
    const std::size_t first = problem.variables.size();
    addValues(problem, block.values);
    for (std::size_t i = first; i < problem.variables.size(); ++i) problem.variables[i].rows = rows;
    if (family == "B200" || family == "GB200")
      setSpread(problem, block.values, &sim::MemoryParameters::sizeRamp, 0.5, 0.2, 0, 3);
  }
  const std::size_t firstRate = problem.variables.size();
  addRates(problem, p.memoryRates, cases, 0.25);
  for (std::size_t i = firstRate; i < problem.variables.size(); ++i) {
    // Narrower priors for what is specific: operation, library, number format and board, row width.
    for (const auto& [name, value] : p.memoryRates.entries())
      if (&value == problem.variables[i].value) {
        const auto bars = std::count(name.begin(), name.end(), '|');
        problem.variables[i].spread = name.starts_with("width|") ? 0.12
                                      : bars == 0                ? 0.3
                                      : bars == 1                ? 0.35
                                                                 : 0.25;
      }
  }
  p.memoryRatesSource = countText(cases.size());
  bindRows(problem, cases, p);
  fit(problem, 40);
}

/// The block that a case is fitted into: kind, then key.
std::pair<char, std::string> blockOf(const KernelCase& kernel) {
  const KernelPart& part = kernel.parts[0];
  if (isSingle<sim::GemmShape>(kernel)) return {'g', part.family + " " + part.variant};
  if (isSingle<sim::AttentionShape>(kernel)) return {'a', attentionFamily(part.family) + " " + part.variant};
  if (isSingle<sim::GroupedShape>(kernel)) return {'e', part.family + " " + part.variant};
  if (isSingle<sim::MemoryShape>(kernel)) return {'m', {}};
  return {'-', {}};  // made of several kernels: predicted from the others, never fitted
}

/// Blocks for kinds that the data does not have at all.
void addDefaults(sim::KernelParameters& p) {
  FitProblem unused;
  const auto start = [&](auto& blocks, const char* key) {
    if (!blocks.empty()) return;
    blocks[key].source = "start values of the fit; no measured kernel";
    addValues(unused, blocks[key].values);
  };
  start(p.gemm, "A100 bf16");
  start(p.attention, "A100 forward");
  start(p.grouped, "A100 bf16");
  start(p.memory, "A100");
}

}  // namespace

sim::KernelParameters fitKernels(std::span<const KernelCase* const> cases) {
  std::map<std::pair<char, std::string>, Cases> blocks;
  for (const KernelCase* kernel : cases) blocks[blockOf(*kernel)].push_back(kernel);
  sim::KernelParameters parameters;
  for (const auto& [block, members] : blocks) {
    const auto& [kind, key] = block;
    if (kind == 'g') fitGemm(parameters, key, members);
    if (kind == 'a') fitAttention(parameters, key, members);
    if (kind == 'e') fitGrouped(parameters, key, members);
    if (kind == 'm') fitMemory(parameters, members);
  }
  addDefaults(parameters);
  return parameters;
}

std::vector<double> crossValidate(std::span<const KernelCase> cases, std::span<const KernelCase> extra,
                                  int folds, int threads) {
  std::vector<double> predicted(cases.size(), 0);
  std::atomic<int> next{0};
  const auto foldOf = [&](const KernelCase& kernel) {
    return static_cast<int>(kernel.shapeHash % static_cast<std::uint64_t>(folds));
  };
  const auto work = [&] {
    for (int fold = next++; fold < folds; fold = next++) {
      Cases training;
      for (const auto list : {cases, extra})
        for (const KernelCase& kernel : list)
          if (foldOf(kernel) != fold) training.push_back(&kernel);
      const sim::KernelParameters parameters = fitKernels(training);
      for (std::size_t i = 0; i < cases.size(); ++i)
        if (foldOf(cases[i]) == fold) predicted[i] = BoundCase(cases[i], parameters).seconds();
    }
  };
  std::vector<std::thread> pool;
  for (int i = 1; i < std::min(threads, folds); ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  return predicted;
}

sim::KernelParameters fitWithErrors(std::span<const KernelCase> cases, int folds, int threads) {
  const std::vector<double> predicted = crossValidate(cases, {}, folds, threads);
  Cases all;
  std::map<std::pair<char, std::string>, std::pair<double, double>> errors;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    all.push_back(&cases[i]);
    auto block = blockOf(cases[i]);
    if (block.first == 'm') block.second = cases[i].family;
    auto& [sum, count] = errors[block];
    sum += std::abs(predicted[i] / cases[i].measured - 1);
    count += 1;
  }
  sim::KernelParameters parameters = fitKernels(all);
  for (const auto& [block, error] : errors) {
    const double mean = error.first / error.second;
    if (block.first == 'g') parameters.gemm[block.second].relativeError = mean;
    if (block.first == 'a') parameters.attention[block.second].relativeError = mean;
    if (block.first == 'e') parameters.grouped[block.second].relativeError = mean;
    if (block.first == 'm') parameters.memory[block.second].relativeError = mean;
  }
  return parameters;
}

}  // namespace vsim::app
