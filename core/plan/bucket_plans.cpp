#include "core/plan/bucket_plans.h"

#include <limits>
#include <map>

#include "core/plan/problem_key.h"

namespace vsim::core {
namespace {

// Without a budget in placements there still is one, far from overflow.
constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 8;

class Planning {
 public:
  Planning(std::span<const LayoutProblem> problems, const BucketPlanOptions& options)
      : problems_(problems), options_(options) {
    VSIM_CHECK(options.seconds <= 0 || options.now, "a budget in time needs a clock");
  }

  Result<std::vector<BucketPlan>> run() {
    if (auto error = givenOrders()) return tl::unexpected(std::move(*error));
    if (options_.searchOrder)
      if (auto error = search()) return tl::unexpected(std::move(*error));
    std::vector<BucketPlan> plans;
    plans.reserve(problems_.size());
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      plans.push_back(distinct_.at(source_[i]));
      if (source_[i] == i) continue;
      plans.back().seconds = 0;
      plans.back().found.placementsTried = 0;
    }
    return plans;
  }

 private:
  [[nodiscard]] double now() const { return options_.now ? options_.now() : 0; }

  std::optional<Error> givenOrders() {
    std::map<ProblemKey, std::size_t> known;
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      // Shapes are no part of the key: a repeated problem still has to be a sound one.
      if (auto error = problemError(problems_[i])) return error;
      const auto [at, isNew] = known.try_emplace(ProblemKey{&problems_[i]}, i);
      source_.push_back(at->second);
      if (isNew)
        if (auto error = plan(i, {.placements = 0})) return error;
    }
    return std::nullopt;
  }

  std::optional<Error> search() {
    std::vector<std::size_t> open;
    std::int64_t left = options_.placements;
    for (const auto& [i, plan] : distinct_) {
      if (!plan.found.provenOptimal) open.push_back(i);
      left -= plan.found.placementsTried;
    }
    const double end = now() + options_.seconds;
    for (std::size_t done = 0; done < open.size(); ++done) {
      const std::size_t i = open[done];
      const auto waiting = static_cast<std::int64_t>(open.size() - done);
      const std::int64_t before = distinct_.at(i).found.placementsTried;
      SearchOptions one;
      if (options_.seconds > 0) {
        const double start = now();
        one.placements = kUnlimited;
        one.expired = [this, stop = start + (end - start) / static_cast<double>(waiting)] {
          return options_.now() >= stop;
        };
      } else {
        one.placements = before + left / waiting;  // the given order is planned once more
      }
      if (auto error = plan(i, one)) return error;
      left -= distinct_.at(i).found.placementsTried - before;
    }
    return std::nullopt;
  }

  std::optional<Error> plan(std::size_t i, const SearchOptions& options) {
    const double start = now();
    auto found = searchOrders(problems_[i], options);
    if (!found) return std::move(found.error());
    BucketPlan& plan = distinct_[i];
    plan.found = std::move(*found);
    plan.seconds += now() - start;
    return std::nullopt;
  }

  std::span<const LayoutProblem> problems_;
  const BucketPlanOptions& options_;
  std::vector<std::size_t> source_;  // per problem: the first equal one
  std::map<std::size_t, BucketPlan> distinct_;
};

}  // namespace

Result<std::vector<BucketPlan>> planBuckets(std::span<const LayoutProblem> problems,
                                            const BucketPlanOptions& options) {
  return Planning(problems, options).run();
}

}  // namespace vsim::core
