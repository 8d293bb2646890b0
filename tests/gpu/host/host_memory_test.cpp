#include "gpu/host/host_memory.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace vsim;
using namespace vsim::core;

TEST_CASE("memory is spoiled where its pool's stream may reuse it, and handed out after that") {
  StepProgram program;
  program.streams = {"default", "side"};
  const auto category = MemoryCategory::temporary;
  program.buffers = {{.name = "a", .stream = 0, .category = category, .dtype = DType::fp32, .elements = 4},
                     {.name = "b", .stream = 0, .category = category, .dtype = DType::fp32, .elements = 4},
                     {.name = "c", .stream = 1, .category = category, .dtype = DType::fp32, .elements = 4}};
  gpu::HostMemory memory(program);
  const auto spoiled = [](gpu::HostBlock& block) { return std::ranges::all_of(block.data(), gpu::isPoison); };

  const auto a = memory.allocate(0, 0);
  REQUIRE(a);
  CHECK(spoiled(*a->block));
  CHECK(!memory.allocate(0, 0));
  std::ranges::fill(a->block->data(), 1.0F);
  REQUIRE(memory.release(0));
  CHECK(!memory.release(0));
  CHECK(memory.allocated() == 0);
  CHECK(memory.allocate(2, 0)->spoil.empty());  // another pool's request does not concern it

  const auto b = memory.allocate(1, 0);
  REQUIRE(b->spoil == std::vector{a->block});
  CHECK(b->block != a->block);  // the stream has not come to that place yet
  CHECK(!spoiled(*a->block));
  b->spoil.front()->spoil();
  CHECK(spoiled(*a->block));
  CHECK(memory.allocate(0, 0)->block == a->block);
  CHECK(memory.peak().allocated == 3 * 16);
  CHECK(memory.peak().byCategory[static_cast<std::size_t>(category)] == 3 * 16);
}

TEST_CASE("memory of real runs is not spoiled, reused all the same, and limited") {
  StepProgram program;
  program.streams = {"default"};
  for (const char* name : {"a", "b", "c"})
    program.buffers.push_back({.name = name,
                               .stream = 0,
                               .category = MemoryCategory::temporary,
                               .dtype = DType::bf16,
                               .elements = 4});
  gpu::HostMemory memory(program, gpu::Leftover::kept, 32);
  const auto a = memory.allocate(0, 0);
  REQUIRE(a);
  std::ranges::fill(a->block->data(), 1.0F);
  REQUIRE(memory.release(0));
  const auto b = memory.allocate(1, 0);
  REQUIRE(b);
  REQUIRE(b->spoil == std::vector{a->block});
  b->spoil.front()->spoil();
  CHECK(std::ranges::all_of(a->block->data(), [](float value) { return value == 1.0F; }));
  CHECK(memory.allocate(0, 0)->block == a->block);
  CHECK(memory.taken() == 32);
  CHECK(!memory.fits(2));
  REQUIRE(memory.release(0));
  CHECK(!memory.fits(2));  // released, not yet spoiled by the stream
  REQUIRE(memory.takeReleased(2) == std::vector{a->block});
  CHECK(memory.takeReleased(2).empty());
  CHECK(!memory.fits(2));
  a->block->spoil();
  CHECK(memory.fits(2));
  CHECK(memory.allocate(0, 0)->block == a->block);
  const auto c = memory.allocate(2, 0);
  REQUIRE(!c);
  CHECK(c.error().message.find("out of memory for buffer 'c' of 8 B: 32 B of 32 B are taken") !=
        std::string::npos);
}
