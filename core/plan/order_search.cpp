#include "core/plan/order_search.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "core/base/checked.h"
#include "core/plan/bounds_search.h"
#include "core/plan/count_program.h"
#include "core/plan/fixed_order.h"
#include "core/plan/order_beam.h"
#include "core/plan/problem_key.h"
#include "core/plan/reduced_problem.h"
#include "core/plan/shard_size_search.h"

namespace vsim::core {
namespace {

// The exact program goes before the beams where it costs less than this; else only when all else is done.
constexpr std::int64_t kQuickProgram = 300'000;
constexpr std::int64_t kProgramRuns = 8;
// Beyond, sorted orders are all that is affordable.
constexpr std::size_t kMostTypes = 4096;

/// One problem between its given order and the best one found.
class OrderSearch {
 public:
  OrderSearch(const LayoutProblem& problem, ReducedProblem reduced, SearchResult given)
      : problem_(problem), reduced_(std::move(reduced)), result_(std::move(given)) {
    best_ = result_.layout.shardElements / problem.align;
    bound_ = result_.layout.lowerBound / problem.align;
    result_.provenOptimal = bound_ == best_;
  }

  [[nodiscard]] bool done() const { return result_.provenOptimal || bound_ == best_; }

  void run(SearchBudget& budget) {
    sortedOrders(budget);
    if (done() || budget.ended()) return;
    if (reduced_.types.size() > kMostTypes) return;
    const CountedProblem glued(reduced_, ElementWise::Glued);
    const CountedProblem blocks(reduced_, ElementWise::Last);
    const CountedProblem all(reduced_, ElementWise::Separate);
    if (CountProgram(blocks).cost() <= kQuickProgram) program(blocks, Refusal::Proof, budget);
    if (CountProgram(all).cost() <= kQuickProgram) program(all, Refusal::Proof, budget);
    beam(glued, {.kept = 1}, "crossing", budget);
    beam(glued, {.kept = 8}, "beam", budget);
    if (all.items <= 64) beam(all, {.kept = 60}, "beam", budget);
    beam(glued, {.kept = 1, .stratified = true}, "beam", budget);
    // Exact where it can be asked about several sizes; the wider beam first where not.
    if (budget.affords(CountProgram(blocks).cost() * kProgramRuns)) program(blocks, Refusal::Proof, budget);
    beam(glued, {.kept = 4, .stratified = true}, "beam", budget);
    program(blocks, Refusal::Proof, budget);
    program(glued, Refusal::Hint, budget);
    program(all, Refusal::Proof, budget);
    beam(glued, {.kept = 16, .stratified = true}, "beam", budget);
  }

  [[nodiscard]] SearchResult take() {
    if (order_) {
      result_.layout.shardElements = best_ * problem_.align;
      const std::vector<std::int64_t> starts = FixedOrder(reduced_, *order_).starts(best_);
      for (std::size_t i = 0; i < starts.size(); ++i)
        result_.layout.offsets[(*order_)[i]] = starts[i] * problem_.align;
    }
    result_.layout.lowerBound = bound_ * problem_.align;
    result_.provenOptimal = bound_ == best_;
    return std::move(result_);
  }

 private:
  void sortedOrders(SearchBudget& budget) {
    using Compare = bool (*)(const ReducedTensor&, const ReducedTensor&);
    const std::pair<const char*, Compare> sorts[] = {
        {"block",
         [](const ReducedTensor& a, const ReducedTensor& b) {
           return a.block != b.block ? a.block > b.block : a.elements > b.elements;
         }},
        {"block-ascending",
         [](const ReducedTensor& a, const ReducedTensor& b) {
           return a.block != b.block ? a.block < b.block : a.elements > b.elements;
         }},
        {"size",
         [](const ReducedTensor& a, const ReducedTensor& b) {
           return a.elements != b.elements ? a.elements > b.elements : a.block > b.block;
         }},
    };
    for (const auto& [name, compare] : sorts) {
      const auto placements = static_cast<std::int64_t>(reduced_.tensors.size());
      if (done() || budget.ended() || !budget.affords(placements)) return;
      TensorOrder order(reduced_.tensors.size());
      std::iota(order.begin(), order.end(), 0U);
      std::stable_sort(order.begin(), order.end(), [&, less = compare](std::uint32_t a, std::uint32_t b) {
        return less(reduced_.tensors[a], reduced_.tensors[b]);
      });
      improve(std::move(order), name, budget);
    }
  }

  /// Takes `order` over when its own best shard size is below the best known.
  void improve(TensorOrder order, const char* name, SearchBudget& budget) {
    struct Fits {
      FixedOrder order;
      SearchBudget& budget;
      void enterClass(std::int64_t d) { order.enterClass(d); }
      bool operator()(std::int64_t shardElements) {
        if (budget.ended() || !budget.affords(order.tensors())) return false;
        const std::int64_t before = order.placements();
        const bool fits = order(shardElements);
        budget.spend(order.placements() - before);
        return fits;
      }
    } fits{FixedOrder(reduced_, order), budget};
    const std::int64_t size = smallestShardSize(reduced_, bound_, best_, fits).size;
    if (size >= best_) return;
    best_ = size;
    order_ = std::move(order);
    result_.order = name;
  }

  /// The best order that a method has found while it is asked about one size after the other.
  struct Found {
    std::int64_t size = 0;  // smallest that fits; 0: nothing found
    TensorOrder order{};
    std::optional<FixedOrder> known{};

    /// An order known already often fits the next size too, for far less work.
    bool fits(std::int64_t shardElements, SearchBudget& budget) {
      if (!known || !budget.affords(known->tensors())) return false;
      const std::int64_t before = known->placements();
      const bool fits = (*known)(shardElements);
      budget.spend(known->placements() - before);
      if (fits) size = shardElements;
      return fits;
    }
    void take(std::int64_t shardElements, std::int64_t d, TensorOrder found, const ReducedProblem& reduced) {
      size = shardElements;
      order = std::move(found);
      known.emplace(reduced, order);
      known->enterClass(d);
    }
  };
  void takeOver(Found found, const char* name, SearchBudget& budget) {
    if (found.size == 0 || found.size >= best_) return;
    best_ = found.size;
    order_ = std::move(found.order);
    result_.order = name;
    improve(*order_, name, budget);  // the same order may fit sizes that the method was not asked about
  }

  /// What it means that a program finds no order: with tensors glued there may still be one.
  enum class Refusal { Proof, Hint };

  void program(const CountedProblem& counted, Refusal refusal, SearchBudget& budget) {
    struct Fits {
      CountProgram program;
      const ReducedProblem& reduced;
      const CountedProblem& counted;
      SearchBudget& budget;
      Found found{};
      bool complete = true;
      std::int64_t d = 1;
      void enterClass(std::int64_t value) {
        d = value;
        if (found.known) found.known->enterClass(d);
      }
      bool operator()(std::int64_t shardElements) {
        if (found.fits(shardElements, budget)) return true;
        const Feasibility answer = program.run(shardElements, d, reduced.devices, budget);
        complete = complete && answer != Feasibility::Unknown;
        if (answer == Feasibility::Yes)
          found.take(shardElements, d, counted.expand(program.sequence()), reduced);
        return answer == Feasibility::Yes;
      }
    } fits{CountProgram(counted), reduced_, counted, budget};
    if (done() || budget.ended() || !fits.program.small() || !budget.affords(fits.program.cost())) return;
    const bool exact = smallestShardSize(reduced_, bound_, best_, fits).exact;
    takeOver(std::move(fits.found), "counts", budget);
    // Every size below it was refused by an exact program.
    if (exact && fits.complete && refusal == Refusal::Proof) bound_ = best_;
  }

  void beam(const CountedProblem& counted, BeamWidth width, const char* name, SearchBudget& budget) {
    struct Fits {
      OrderBeam beam;
      const ReducedProblem& reduced;
      const CountedProblem& counted;
      SearchBudget& budget;
      Found found{};
      std::int64_t d = 1;
      void enterClass(std::int64_t value) {
        d = value;
        if (found.known) found.known->enterClass(d);
      }
      bool operator()(std::int64_t shardElements) {
        if (found.fits(shardElements, budget)) return true;
        if (budget.ended() || !beam.run(shardElements, reduced.devices, budget)) return false;
        found.take(shardElements, d, counted.expand(beam.sequence()), reduced);
        return true;
      }
    } fits{OrderBeam(counted, width), reduced_, counted, budget};
    if (done() || budget.ended() || !fits.beam.small()) return;
    smallestShardSize(reduced_, bound_, best_, fits);
    takeOver(std::move(fits.found), name, budget);
  }

  const LayoutProblem& problem_;
  ReducedProblem reduced_;
  SearchResult result_;
  std::int64_t best_ = 0, bound_ = 0;  // in units of the alignment
  std::optional<TensorOrder> order_;   // none: the given one
};

}  // namespace

Result<SearchResult> searchOrders(const LayoutProblem& problem, const SearchOptions& options) {
  auto results = searchAll({&problem, 1}, options);
  if (!results) return tl::unexpected(std::move(results.error()));
  return std::move(results->front());
}

Result<std::vector<SearchResult>> searchAll(std::span<const LayoutProblem> problems,
                                            const SearchOptions& options) {
  // Given orders first: what is then proven needs no budget.
  std::vector<std::size_t> source;  // per problem: the first equal one
  std::map<ProblemKey, std::size_t> known;
  std::map<std::size_t, OrderSearch> searches;
  std::map<std::size_t, SearchResult> found;
  std::int64_t left = options.placements;
  std::size_t open = 0;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (auto error = problemError(problems[i])) return tl::unexpected(std::move(*error));
    const auto [entry, isNew] = known.try_emplace(ProblemKey{&problems[i]}, i);
    source.push_back(entry->second);
    if (!isNew) continue;
    ReducedProblem reduced = reduce(problems[i]);
    SearchResult given;
    auto layout = planGivenOrder(problems[i], reduced, given.placementsTried);
    if (!layout) return tl::unexpected(std::move(layout.error()));
    given.layout = std::move(*layout);
    given.provenOptimal = given.layout.shardElements == given.layout.lowerBound;
    left -= given.placementsTried;
    if (given.provenOptimal) {
      found.emplace(i, std::move(given));
    } else {
      searches.try_emplace(i, problems[i], std::move(reduced), std::move(given));
      ++open;
    }
  }
  for (auto& [i, search] : searches) {
    SearchBudget budget(left / static_cast<std::int64_t>(open--), &options.expired);
    search.run(budget);
    left -= budget.spent();
    SearchResult result = search.take();
    result.placementsTried += budget.spent();
    found.emplace(i, std::move(result));
  }

  std::vector<SearchResult> results;
  results.reserve(problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    results.push_back(found.at(source[i]));
    if (source[i] != i) results.back().placementsTried = 0;
  }
  return results;
}

}  // namespace vsim::core
