// The listing of a program is an interface for its readers: three layers, both systems, held as files. To
// accept a change, run with VSIM_UPDATE_GOLDEN=1 and read the difference.

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/core/train/toy_model.h"
#include "tests/folders.h"

using namespace vsim;
using namespace vsim::core;

namespace {

void compare(const std::string& name, const std::string& text) {
  const std::string path = std::string(VSIM_SOURCE_DIR) + "/tests/core/train/golden/" + name;
  if (std::getenv("VSIM_UPDATE_GOLDEN")) std::ofstream(path) << text;
  std::ifstream in(path);
  INFO(path);
  REQUIRE(in);
  CHECK(text == std::string(std::istreambuf_iterator<char>(in), {}));
}

std::string listing(const std::string& system, const std::function<void(TrainOptions&)>& change = {}) {
  TrainOptions options = test::toyOptions(system);
  if (change) change(options);
  const auto built = findSystem(system)->build(test::toyModel(3, false), options);
  REQUIRE(built);
  return print(built->program);
}

}  // namespace

TEST_CASE("Golden programs", "[train][golden]") {
  compare("vescale.txt", listing("vescale"));
  compare("fsdp2.txt", listing("fsdp2"));
  compare("vescale_hsdp_bf16.txt", listing("vescale", [](TrainOptions& o) {
            o.parallel.fsdp = o.parallel.replicate = 2;
            o.precision.reduce = DType::bf16;
          }));
  compare("fsdp2_two_micro_batches.txt", listing("fsdp2", [](TrainOptions& o) { o.accumulation = 2; }));
}

TEST_CASE("veScale follows the order of FSDP2's collectives", "[train]") {
  const auto order = [](const std::string& system) {
    const auto built = findSystem(system)->build(test::toyModel(3, false), test::toyOptions(system));
    std::string result;
    for (const Instruction& i : built->program.step) {
      if (i.kind != InstructionKind::collective) continue;
      const Collective& c = built->program.collectives[i.operand];
      if (c.unit == kNone) continue;
      result +=
          (c.kind == CollectiveKind::allGather ? "AG " : "RS ") + built->program.units[c.unit].name + " ";
    }
    return result;
  };
  CHECK(order("fsdp2") == "AG R AG L1 AG L2 AG L3 AG L3 AG L2 RS L3 AG L1 RS L2 RS L1 RS R ");
  CHECK(order("vescale") == order("fsdp2"));
}

TEST_CASE("Every allocation of a step is released in it, but for what outlives it", "[train]") {
  for (const auto& system : systems()) {
    const auto built = system->build(test::toyModel(4, true), test::toyOptions(std::string(system->name())));
    REQUIRE(built);
    std::vector<int> live(built->program.buffers.size(), 0);
    for (const Instruction& i : built->program.step) {
      if (i.kind == InstructionKind::allocate && !i.firstStepOnly) CHECK(++live[i.operand] == 1);
      if (i.kind == InstructionKind::release) CHECK(--live[i.operand] == 0);
    }
  }
}
