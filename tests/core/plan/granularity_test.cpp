#include "core/plan/granularity.h"

#include <catch2/catch.hpp>

using namespace vsim::core;
using Shape = std::vector<std::int64_t>;

TEST_CASE("granularity: patterns") {
  CHECK(matches("*", ""));
  CHECK(matches("*", "anything"));
  CHECK(matches("layers.*.weight", "layers.12.mlp.weight"));
  CHECK(matches("*experts*", "layers.3.mlp.experts.7.up_proj.weight"));
  CHECK(matches("a*b*c", "aXbYbZc"));
  CHECK(matches("**", "x"));
  CHECK(!matches("layers.*.weight", "layers.12.mlp.bias"));
  CHECK(!matches("a*b*c", "aXbYcZ"));
  CHECK(!matches("", "x"));
  CHECK(matches("", ""));
  CHECK(!matches("abc", "ab"));
}

TEST_CASE("granularity: blocks of shapes") {
  const auto block = [](BlockRule rule, Shape shape) { return *blockElements(rule, shape); };
  CHECK(block({}, {64, 32}) == 1);
  CHECK(block({.elements = 256}, {64, 32}) == 256);
  CHECK(block({.rows = 1}, {64, 32}) == 32);
  CHECK(block({.rows = 16}, {8, 64, 32}) == 512);
  CHECK(block({.tile = {128, 128}}, {4096, 7168}) == 128 * 7168);
  CHECK(block({.tile = {32, 8}}, {8, 64, 32}) == 32 * 32);
  CHECK(block({.whole = true}, {8, 64, 32}) == 8 * 64 * 32);
  // One-dimensional tensors are element-wise unless elements or whole say otherwise.
  CHECK(block({.rows = 16}, {4096}) == 1);
  CHECK(block({.tile = {32, 32}}, {4096}) == 1);
  CHECK(block({.elements = 64}, {4096}) == 64);
  CHECK(block({.whole = true}, {4096}) == 4096);
  CHECK(block({.whole = true}, {}) == 1);
  CHECK(block({.whole = true}, {0, 4}) == 1);
}

TEST_CASE("granularity: the last matching rule wins") {
  const std::vector<BlockRule> rules{{.match = "*", .rows = 1},
                                     {.match = "*.experts.*", .tile = {32, 32}},
                                     {.match = "*.bias", .whole = true}};
  CHECK(*blockElements(rules, "l.q.weight", Shape{64, 10}) == 10);
  CHECK(*blockElements(rules, "l.experts.3.up", Shape{64, 10}) == 320);
  CHECK(*blockElements(rules, "l.experts.3.bias", Shape{64}) == 64);
  CHECK(*blockElements(std::vector<BlockRule>{}, "x", Shape{64, 10}) == 1);
}

TEST_CASE("granularity: impossible rules are refused") {
  const auto refused = [](BlockRule rule) { return !blockElements(rule, Shape{64, 32}); };
  CHECK(refused({.elements = 4, .rows = 1}));
  CHECK(refused({.rows = 1, .whole = true}));
  CHECK(refused({.elements = -4}));
  CHECK(refused({.rows = -1}));
  CHECK(refused({.tile = {32}}));
  CHECK(refused({.tile = {32, 0}}));
  CHECK(refused({.rows = std::int64_t{1} << 62}));
}
