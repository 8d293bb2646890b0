#include <catch2/catch.hpp>

#include "sim/compute/attention_time.h"
#include "sim/compute/gemm_time.h"
#include "sim/compute/grouped_time.h"
#include "sim/compute/memory_time.h"

using namespace vsim;

namespace {

const sim::Device kDevice{312e12, 2e12, 108};

}  // namespace

TEST_CASE("waves round between the fractional and the whole") {
  CHECK(sim::mixedWaves(0.2, 0.5) == 1);
  CHECK(sim::mixedWaves(1.5, 1) == 2);
  CHECK(sim::mixedWaves(1.5, 0) == 1.5);
  CHECK(sim::mixedWaves(1.5, 0.5) == 1.75);
}

TEST_CASE("the fourth-power sum is the larger one, rounded off") {
  CHECK(sim::fourthPowerSum(0, 0) == 0);
  CHECK(sim::fourthPowerSum(3, 0) == 3);
  CHECK(sim::fourthPowerSum(1, 1) == Approx(1.189207));
  CHECK(sim::fourthPowerSum(1e-200, 1e200) == Approx(1e200));
}

TEST_CASE("one tile more than a wave costs a step on whole waves") {
  sim::GemmParameters p;
  p.waveRounding = 1;
  const auto time = [&](double tiles) {
    return sim::gemmSeconds({.m = 256, .n = 128 * tiles, .k = 16384}, kDevice, p, 1);
  };
  CHECK(time(109) > 1.2 * time(108));
  CHECK(time(108) == Approx(time(107)).epsilon(0.02));
}

TEST_CASE("attention work follows the mask") {
  sim::AttentionShape shape{
      .batch = 2, .heads = 8, .kvHeads = 8, .queries = 4096, .keys = 4096, .causal = false};
  const double full = sim::attentionFlops(shape);
  CHECK(full == 2.0 * 2 * 8 * 4096 * 4096 * 256);
  shape.causal = true;
  CHECK(sim::attentionFlops(shape) == full / 2);
  shape.window = 512;
  CHECK(sim::attentionFlops(shape) == full / 8);
  shape.direction = sim::Direction::backward;
  CHECK(sim::attentionFlops(shape) == full / 8 * 2.5);

  const sim::AttentionParameters p;
  const double windowed = sim::attentionSeconds(shape, kDevice, p, 1);
  shape.window = 0;
  const double causal = sim::attentionSeconds(shape, kDevice, p, 1);
  shape.deterministic = true;
  CHECK(windowed < causal);
  CHECK(sim::attentionSeconds(shape, kDevice, p, 1) == Approx(causal * (1 + p.deterministic)));
}

TEST_CASE("rows spread over groups") {
  const auto balanced = sim::GroupedRows::balanced(1000, 7);
  CHECK(balanced.rows == 1000);
  CHECK(balanced.groups == 7);
  CHECK(balanced.tiles[1] == 14);  // 142 or 143 rows: two tiles of 128 each
  CHECK(sim::GroupedRows::balanced(3, 8).groups == 3);
  CHECK(sim::GroupedRows::balanced(0, 8).rows == 0);

  const auto skewed = sim::GroupedRows::powerLaw(8192, 64, 1024, 1.2);
  CHECK(skewed.rows == Approx(8192).epsilon(0.02));
  CHECK(skewed.groups <= 64);
  const auto many = sim::GroupedRows::powerLaw(1'000'000, 1'000'000'000, 1000, 1.01);
  CHECK(many.groups <= 1e9);
}

TEST_CASE("the cache factor acts below the cache only") {
  sim::MemoryParameters p;
  p.efficiency = 1;
  p.cacheFactor = 1.5;
  const double peak = kDevice.bandwidth;
  CHECK(sim::memorySeconds({.bytes = 50e6}, kDevice, p, 1) < 50e6 / peak);
  CHECK(sim::memorySeconds({.bytes = 70e6}, kDevice, p, 1) > 70e6 / peak);
  CHECK(sim::memorySeconds({.bytes = 1e9}, kDevice, p, 5) >= 1e9 / peak);
}
