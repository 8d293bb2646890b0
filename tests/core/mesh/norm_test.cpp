#include "core/mesh/norm.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "core/mesh/host_redistribution.h"
#include "tests/support/random_sharding.h"

using namespace vsim::core;
using vsim::test::elementsOf;
using vsim::test::meshOf;
using Shape = std::vector<std::int64_t>;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

RaggedShard ragged(std::vector<int> dims, Shape units) {
  return *RaggedShard::make(std::move(dims), std::move(units));
}

std::vector<double> arange(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

// Of a whole tensor by the textbook.
double plainNorm(const std::vector<double>& values, double p) {
  double sum = 0, most = 0, least = kInfinity;
  for (const double x : values) {
    most = std::max(most, std::abs(x));
    least = std::min(least, std::abs(x));
    sum += p == 0 ? x != 0 : std::pow(std::abs(x), p);
  }
  if (p == kInfinity) return most;
  if (p == -kInfinity || (p < 0 && least == 0)) return least;
  return p == 0 ? sum : std::pow(sum, 1 / p);
}

// The final results of all ranks, placed back where they belong in the whole result.
std::vector<double> wholeResult(const NormPlan& plan, const HostTensors<double>& local) {
  std::vector<std::vector<double>> parts;
  for (std::int64_t rank = 0; rank < plan.tensor.mesh().ranks(); ++rank)
    parts.push_back(localNorm(plan, rank, local[static_cast<std::size_t>(rank)]));
  const auto combined = combineNorms(plan, parts);
  std::vector<double> whole(static_cast<std::size_t>(elementsOf(plan.result.shape())), -1);
  for (std::int64_t rank = 0; rank < plan.tensor.mesh().ranks(); ++rank) {
    const auto positions = vsim::test::globalPositions(plan.result, rank);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      double& value = whole[static_cast<std::size_t>(positions[i])];
      const double mine = combined[static_cast<std::size_t>(rank)][i];
      CHECK((value == -1 || value == mine));  // replicas agree to the bit
      value = mine;
    }
  }
  return whole;
}

double wholeNorm(const Sharding& placed, const std::vector<double>& values, double p) {
  const auto plan = planNorm(placed, std::nullopt, p);
  REQUIRE(plan);
  return wholeResult(*plan, distribute(placed, values).value())[0];
}

}  // namespace

TEST_CASE("norm: whole tensors of known norm") {
  const auto values = arange(4096);
  for (const RaggedShard& placement :
       {ragged({0}, {0, 1, 5, 2, 0, 0, 0, 0}), ragged({0, 1}, {0, 1, 5, 2, 0, 0, 0, 0}),
        ragged({0, 1}, {455, 1000, 2000, 641, 0, 0, 0, 0}), ragged({0}, {0, 1, 0, 0, 0, 0, 0, 0}),
        ragged({}, {0, 0, 0, 0, 0, 1, 0, 0})})
    CHECK(wholeNorm(*Sharding::make(meshOf({8}), {32, 128}, {placement}), values, 2) ==
          Approx(151321.19587156).epsilon(1e-13));
  for (std::vector<int> dims : {std::vector<int>{0}, {0, 1}, {0, 1, 2}})
    CHECK(wholeNorm(*Sharding::make(meshOf({8}), {16, 4, 64}, {ragged(dims, {0, 1, 5, 2, 0, 0, 0, 0})}),
                    values, 2) == Approx(151321.19587156).epsilon(1e-13));
  const auto strided = makeStridedRaggedShard({0}, {0, 1, 5, 2}, 2);
  CHECK(wholeNorm(*Sharding::make(meshOf({4, 2}), {64, 128}, {*strided, Shard{0}}), arange(8192), 2) ==
        Approx(428040.16738619).epsilon(1e-13));

  const auto plan =
      planNorm(*Sharding::make(meshOf({8}), {32, 128}, {ragged({0}, {0, 1, 5, 2, 0, 0, 0, 0})}), {}, 2);
  const auto local = distribute(plan->tensor, values);
  const double squares[] = {0, 44608256, 9614350080, 13239145984, 0, 0, 0, 0};
  for (std::int64_t rank = 0; rank < 8; ++rank)
    CHECK(std::pow(localNorm(*plan, rank, (*local)[static_cast<std::size_t>(rank)])[0], 2) ==
          Approx(squares[rank]).epsilon(1e-13));
}

TEST_CASE("norm: any p, dimension and placement equals the undistributed one") {
  std::mt19937 random(6);
  const double powers[] = {2, 1, 3, 0.5, 0, kInfinity, -kInfinity, -1, -2.5};
  for (int trial = 0; trial < 600; ++trial) {
    const auto mesh = vsim::test::randomMesh(random, 3, 4);
    const auto shape = vsim::test::randomShape(random, 4, 6);
    const auto placed = vsim::test::randomSharding(random, mesh, shape, vsim::test::Partials::none);
    std::vector<double> values(static_cast<std::size_t>(elementsOf(shape)));
    for (double& x : values) x = random() % 8 == 0 ? 0 : static_cast<double>(random() % 2001) / 100 - 10;
    const double p = powers[random() % std::size(powers)];
    INFO("p " << p);
    CHECK(wholeNorm(placed, values, p) == Approx(plainNorm(values, p)).epsilon(1e-12));

    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto plan = planNorm(placed, static_cast<int>(d), p);
      REQUIRE(plan);
      const auto result = wholeResult(*plan, distribute(placed, values).value());
      std::int64_t inner = 1;
      for (std::size_t i = d + 1; i < shape.size(); ++i) inner *= shape[i];
      for (std::size_t out = 0; out < result.size(); ++out) {
        std::vector<double> line;
        const auto at = static_cast<std::int64_t>(out);
        for (std::int64_t i = 0; i < shape[d]; ++i)
          line.push_back(values[static_cast<std::size_t>((at / inner * shape[d] + i) * inner + at % inner)]);
        CHECK(result[out] == Approx(plainNorm(line, p)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("norm: placements of results") {
  const auto tensor =
      Sharding::make(meshOf({2, 2, 2}), {8, 6, 4}, {ragged({0}, {1, 3}), Shard{2}, Replicate{}});
  REQUIRE(tensor);
  const auto placements = [&](std::optional<int> dim) {
    std::string all;
    const auto plan = planNorm(*tensor, dim, 2);
    for (const Placement& placement : plan->result.placements()) all += text(placement) + " ";
    return all;
  };
  CHECK(placements({}) == "Partial Partial Replicate ");
  CHECK(placements(0) == "Partial Shard(1) Replicate ");
  CHECK(placements(1) == "RaggedShard((0), units 1:3) Shard(1) Replicate ");
  CHECK(placements(2) == "RaggedShard((0), units 1:3) Partial Replicate ");
  const auto owner =
      Sharding::make(meshOf({2, 2}), {4, 4}, {*makeStridedRaggedShard({}, {0, 1}, 2), Shard{0}});
  CHECK(text(planNorm(*owner, 0, 2)->result.placements()[0]) == "RaggedShard((), units 0:1)");
  CHECK(text(planNorm(*owner, 1, 2)->result.placements()[0]) == "StridedRaggedShard((), units 0:1, split 2)");
  // A result's interval comes from its own size: no columns, still four rows.
  const auto empty = planNorm(*Sharding::make(meshOf({2}), {4, 0}, {ragged({0}, {4, 0})}), 1, 2);
  CHECK(localNorm(*empty, 0, {}) == std::vector<double>(4, 0));
  CHECK(localNorm(*empty, 1, {}).empty());
  CHECK_FALSE(planNorm(*tensor, 3, 2));
  CHECK_FALSE(planNorm(*tensor, -1, 2));
  CHECK_FALSE(planNorm(*tensor, 0, std::nan("")));
  CHECK_FALSE(planNorm(*Sharding::make(meshOf({2}), {4}, {Partial{}}), 0, 2));
}

TEST_CASE("norm: extreme values stay in range and NaN is not lost") {
  const auto placed = *Sharding::make(meshOf({2}), {4}, {ragged({0}, {1, 1})});
  CHECK(wholeNorm(placed, {3e300, 4e300, 0, 0}, 2) == Approx(5e300));
  CHECK(wholeNorm(placed, {3e-300, 4e-300, 0, 0}, 2) == Approx(5e-300));
  CHECK(wholeNorm(placed, {1, kInfinity, 0, 2}, 2) == kInfinity);
  for (const double p : {2.0, kInfinity, -kInfinity, 0.0, -1.0, 3.0}) {
    for (std::size_t at = 0; at < 4; ++at) {
      std::vector<double> values{1, 2, 3, 4};
      values[at] = std::nan("");
      const auto plan = planNorm(placed, std::nullopt, p);
      std::vector<std::vector<double>> parts;
      const auto local = distribute(placed, values);
      for (std::int64_t rank = 0; rank < 2; ++rank)
        parts.push_back(localNorm(*plan, rank, (*local)[static_cast<std::size_t>(rank)]));
      CHECK(std::isnan(combineNorms(*plan, parts)[0][0]));
    }
  }
}

TEST_CASE("norm: mean and variance are merged, not averaged") {
  const auto placed = *Sharding::make(meshOf({4}), {128}, {ragged({0}, {8, 104, 16, 0})});
  Moments merged;
  const auto parts = distribute(placed, arange(128));
  for (const auto& local : *parts) merged = merge(merged, momentsOf(local));
  CHECK(merged.count == 128);
  CHECK(merged.mean == Approx(63.5).epsilon(1e-14));
  CHECK(merged.variance() == Approx(1376.0).epsilon(1e-13));  // n (n + 1) / 12
  CHECK(merged.variance(0) == Approx(1365.25).epsilon(1e-13));
  CHECK(std::isnan(Moments{}.variance(0)));
  CHECK(std::isnan(momentsOf(std::vector<double>{4}).variance()));

  // A large offset: the textbook formula with squares would lose all digits.
  std::mt19937 random(7);
  Moments shifted, plain;
  for (int part = 0; part < 10; ++part) {
    std::vector<double> values(random() % 50);
    for (double& x : values) x = static_cast<double>(random() % 1000) / 64;
    plain = merge(plain, momentsOf(values));
    for (double& x : values) x += 1e9;
    shifted = merge(shifted, momentsOf(values));
  }
  CHECK(shifted.variance() == Approx(plain.variance()).epsilon(1e-7));
}
