#include "app/fit_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
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

/// Adds the parameters of one block; `rows` are those of the block, empty for all.
template <class Values>
void addValues(FitProblem& problem, Values& values, const std::vector<int>& rows) {
  for (const auto& field : sim::parameterFields<Values>())
    if (field.spread > 0)
      problem.variables.push_back({&(values.*field.member), field.logarithmic, field.start, field.spread,
                                   field.lower, field.upper, rows});
}

/// Another prior than the one in the field table.
template <class Values>
void setPrior(FitProblem& problem, Values& values, double Values::*member, double start, double spread,
              const std::vector<int>& rows) {
  for (FitVariable& variable : problem.variables)
    if (variable.value == &(values.*member)) {
      variable.prior = start;
      variable.spread = spread;
      return;
    }
  for (const auto& field : sim::parameterFields<Values>())
    if (field.member == member)
      problem.variables.push_back(
          {&(values.*member), field.logarithmic, start, spread, field.lower, field.upper, rows});
}

using RowsByKey = std::map<std::string, std::vector<int>>;

RowsByKey rowsByRateKey(const Cases& cases, const std::vector<int>& rows) {
  RowsByKey result;
  for (const int row : rows)
    for (const KernelPart& part : cases[static_cast<std::size_t>(row)]->parts)
      for (const std::vector<std::string>* keys : {&part.rateKeys, &part.floorKeys})
        for (const std::string& key : *keys)
          if (!key.empty()) result[key].push_back(row);
  return result;
}

/// Adds a rate per key, each with the rows it acts on.
void addRates(FitProblem& problem, sim::Rates& rates, const RowsByKey& keys, double spread) {
  for (const auto& [key, rows] : keys) rates.at(key);
  for (const auto& [key, rows] : keys)
    problem.variables.push_back({&rates.at(key), true, 1, spread, 0.02, 20, rows});
}

void bindRows(FitProblem& problem, const Cases& cases, const sim::KernelParameters& parameters) {
  auto bound = std::make_shared<std::vector<BoundCase>>();
  for (const KernelCase* kernel : cases) {
    bound->emplace_back(*kernel, parameters);
    problem.logMeasured.push_back(std::log(kernel->measured));
  }
  problem.predict = [bound](std::size_t row) { return (*bound)[row].seconds(); };
}

std::vector<int> firstRows(std::size_t count) {
  std::vector<int> rows(count);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// "603 kernel times: aic/sglang, vidur".
std::string sourceText(const Cases& cases) {
  std::set<std::string> sources;
  for (const KernelCase* kernel : cases) sources.insert(kernel->source);
  return fmt::format("{} published kernel times: {}", cases.size(), fmt::join(sources, ", "));
}

/// How the blocks of one kind of kernel are fitted.
struct GemmKind {
  using Values = sim::GemmParameters;
  static constexpr double kSharedSpread = 0.1, kOwnSpread = 0.07;
  static auto& blocks(sim::KernelParameters& p) { return p.gemm; }
  static sim::Rates& sharedRates(sim::KernelParameters& p) { return p.gemmRates; }
  static const sim::GemmShape& shape(const KernelCase& kernel) {
    return std::get<sim::GemmShape>(kernel.parts[0].shape);
  }
  /// Thin products (decoding) follow other kernels; they count less.
  static double weight(const KernelCase& kernel) {
    const sim::GemmShape& s = shape(kernel);
    return std::min({s.m, s.n, s.k}) >= 512 ? 1 : 0.25;
  }
  static void setPriors(FitProblem& problem, Values& values, const Cases& cases,
                        const std::vector<int>& rows) {
    const auto any = [&](auto property) {
      return std::any_of(rows.begin(), rows.end(),
                         [&](int row) { return property(shape(*cases[static_cast<std::size_t>(row)])); });
    };
    if (any([](const sim::GemmShape& s) { return s.operandBytes < 2; })) {
      setPrior(problem, values, &Values::quantizePasses, 2.5, 1.5, rows);
      setPrior(problem, values, &Values::quantizeFloorUs, 6, 5, rows);
      setPrior(problem, values, &Values::kOverhead, 300, 0.8, rows);
      setPrior(problem, values, &Values::efficiency, 0.75, 0.3, rows);
    }
    if (any([](const sim::GemmShape& s) { return s.hostBound; }))
      setPrior(problem, values, &Values::hostFloorUs, 60, 1, rows);
  }
};

struct AttentionKind {
  using Values = sim::AttentionParameters;
  static constexpr double kSharedSpread = 0.3, kOwnSpread = 0.2;
  static auto& blocks(sim::KernelParameters& p) { return p.attention; }
  static sim::Rates& sharedRates(sim::KernelParameters& p) { return p.attentionRates; }
  static double weight(const KernelCase& kernel) {
    return std::get<sim::AttentionShape>(kernel.parts[0].shape).queries >= 1024 ? 1 : 0.3;
  }
  static void setPriors(FitProblem&, Values&, const Cases&, const std::vector<int>&) {}
};

struct GroupedKind {
  using Values = sim::GroupedParameters;
  static constexpr double kSharedSpread = 0.25, kOwnSpread = 0.15;
  static auto& blocks(sim::KernelParameters& p) { return p.grouped; }
  static sim::Rates& sharedRates(sim::KernelParameters& p) { return p.groupedRates; }
  static double weight(const KernelCase&) { return 1; }
  static void setPriors(FitProblem& problem, Values& values, const Cases& cases,
                        const std::vector<int>& rows) {
    const auto& shape = std::get<sim::GroupedShape>(cases[static_cast<std::size_t>(rows[0])]->parts[0].shape);
    if (shape.operandBytes < 2) setPrior(problem, values, &Values::quantizePasses, 0.5, 0.5, rows);
  }
};

void toPriors(FitProblem& problem) {
  for (FitVariable& variable : problem.variables) *variable.value = variable.prior;
}

/// The variables of one block with its rows. Shared rates that exist already count as constants.
template <class Kind>
FitProblem blockProblem(sim::KernelParameters& p, const std::string& key, const Cases& cases,
                        double rateSpread) {
  auto& block = Kind::blocks(p)[key];
  const std::vector<int> rows = firstRows(cases.size());
  FitProblem problem;
  addValues(problem, block.values, rows);
  Kind::setPriors(problem, block.values, cases, rows);
  addRates(problem, block.rates, rowsByRateKey(cases, rows), rateSpread);
  for (const KernelCase* kernel : cases) problem.weights.push_back(Kind::weight(*kernel));
  bindRows(problem, cases, p);
  return problem;
}

/// One block alone, from whole and from fractional waves (they give separate minima); keeps the better.
template <class Kind>
void fitBlock(sim::KernelParameters& p, const std::string& key, const Cases& cases) {
  FitProblem problem = blockProblem<Kind>(p, key, cases, std::hypot(Kind::kSharedSpread, Kind::kOwnSpread));
  std::vector<double> best;
  double bestObjective = 0;
  for (const double rounding : {0.15, 0.75}) {
    toPriors(problem);
    Kind::blocks(p)[key].values.waveRounding = rounding;
    const double objective = fit(problem);
    if (!best.empty() && objective >= bestObjective) continue;
    bestObjective = objective;
    best.clear();
    for (const FitVariable& v : problem.variables) best.push_back(*v.value);
  }
  for (std::size_t i = 0; i < best.size(); ++i) *problem.variables[i].value = best[i];
}

/// Splits the rates of separately fitted blocks into what a library keeps on every board (shared), what is
/// special to the block, and the block's efficiency. No prediction changes: it is the most likely split under
/// normal priors, found by coordinate descent on a convex quadratic.
template <class Kind>
void shareRates(sim::KernelParameters& p, const std::map<std::string, Cases>& blocks) {
  constexpr double kEfficiencySpread = 0.3;
  const double own = 1 / (Kind::kOwnSpread * Kind::kOwnSpread);
  const double shared = 1 / (Kind::kSharedSpread * Kind::kSharedSpread);
  struct Entry {
    std::string block, rate;
    double value, confidence;
  };
  std::vector<Entry> entries;
  std::map<std::string, double> shift, common;
  for (const auto& [key, cases] : blocks) {
    const RowsByKey rows = rowsByRateKey(cases, firstRows(cases.size()));
    for (const auto& [name, value] : Kind::blocks(p)[key].rates.entries()) {
      const auto count = static_cast<double>(rows.at(name).size());
      entries.push_back({key, name, std::log(value), count / (count + 4)});
      shift[key] = 0;
      common[name] = 0;
    }
  }
  for (int round = 0; round < 300; ++round) {
    for (auto& [name, value] : common) {
      double sum = 0, weight = shared;
      for (const Entry& e : entries)
        if (e.rate == name) {
          sum += own * e.confidence * (e.value + shift[e.block]);
          weight += own * e.confidence;
        }
      value = sum / weight;
    }
    for (auto& [key, value] : shift) {
      double sum = 0, weight = 1 / (kEfficiencySpread * kEfficiencySpread);
      for (const Entry& e : entries)
        if (e.block == key) {
          sum += own * e.confidence * (common[e.rate] - e.value);
          weight += own * e.confidence;
        }
      // The efficiency takes the opposite shift and has an upper bound.
      const auto& values = Kind::blocks(p)[key].values;
      const double upper = sim::parameterFields<typename Kind::Values>()[0].upper;
      value = std::max(sum / weight, std::log(values.efficiency / upper));
    }
  }
  for (const auto& [name, value] : common) Kind::sharedRates(p).at(name) = std::exp(value);
  for (const auto& [key, value] : shift) Kind::blocks(p)[key].values.efficiency *= std::exp(-value);
  for (const Entry& e : entries)
    Kind::blocks(p)[e.block].rates.at(e.rate) = std::exp(e.value + shift[e.block] - common[e.rate]);
}

/// All blocks of a kind: each alone, then again around the rates they share, so that a library known from one
/// board is not unknown on the next.
template <class Kind>
void fitKind(sim::KernelParameters& p, const std::map<std::string, Cases>& blocks) {
  Cases all;
  for (const auto& [key, cases] : blocks) {
    fitBlock<Kind>(p, key, cases);
    Kind::blocks(p)[key].source = sourceText(cases);
    all.insert(all.end(), cases.begin(), cases.end());
  }
  shareRates<Kind>(p, blocks);
  Kind::sharedRates(p).source = sourceText(all);
  for (const auto& [key, cases] : blocks) {
    FitProblem problem = blockProblem<Kind>(p, key, cases, Kind::kOwnSpread);
    fit(problem, 30);
  }
}

/// Spread of the prior of a memory rate: narrower for what is specific.
double rateSpread(const std::string& name) {
  if (name.starts_with("floor|")) return 1.0;
  if (name.starts_with("width|")) return 0.12;
  if (name.starts_with("class|")) return 0.3;
  if (name.starts_with("library|")) return 0.2;
  const auto bars = std::count(name.begin(), name.end(), '|');
  return bars == 0 ? 0.25 : bars == 1 ? 0.35 : 0.25;
}

void fitMemory(sim::KernelParameters& p, const Cases& cases) {
  FitProblem problem;
  std::map<std::string, std::vector<int>> families;
  for (std::size_t i = 0; i < cases.size(); ++i) families[cases[i]->family].push_back(static_cast<int>(i));
  for (const auto& [family, rows] : families) {
    auto& block = p.memory[family];
    Cases members;
    for (const int row : rows) members.push_back(cases[static_cast<std::size_t>(row)]);
    block.source = sourceText(members);
    addValues(problem, block.values, rows);
    if (family == "B200" || family == "GB200")
      setPrior(problem, block.values, &sim::MemoryParameters::sizeRamp, 0.5, 0.2, rows);
  }
  const std::size_t firstRate = problem.variables.size();
  const RowsByKey keys = rowsByRateKey(cases, firstRows(cases.size()));
  addRates(problem, p.memoryRates, keys, 1);
  std::size_t variable = firstRate;
  for (const auto& [key, rows] : keys) problem.variables[variable++].spread = rateSpread(key);
  p.memoryRates.source = sourceText(cases);
  toPriors(problem);
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
template <class Blocks>
void addDefault(Blocks& blocks, const char* key) {
  if (!blocks.empty()) return;
  auto& block = blocks[key];
  block.source = "start values of the fit; no measured kernel";
  FitProblem problem;
  addValues(problem, block.values, {});
  toPriors(problem);
}

}  // namespace

sim::KernelParameters fitKernels(std::span<const KernelCase* const> cases) {
  std::map<char, std::map<std::string, Cases>> kinds;
  for (const KernelCase* kernel : cases) {
    const auto [kind, key] = blockOf(*kernel);
    kinds[kind][key].push_back(kernel);
  }
  sim::KernelParameters parameters;
  fitKind<GemmKind>(parameters, kinds['g']);
  fitKind<AttentionKind>(parameters, kinds['a']);
  fitKind<GroupedKind>(parameters, kinds['e']);
  if (!kinds['m'].empty()) fitMemory(parameters, kinds['m'].begin()->second);
  addDefault(parameters.gemm, "A100 bf16");
  addDefault(parameters.attention, "A100 forward");
  addDefault(parameters.grouped, "A100 bf16");
  addDefault(parameters.memory, "A100");
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
