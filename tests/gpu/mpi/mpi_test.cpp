// Ranks as processes of one mpirun: the same data, order and memory as ranks that are threads; and failures
// of one rank end all of them, with an error that says what happened.

#include <catch2/catch.hpp>

#include <cstdio>
#include <sstream>

#include "tests/gpu/mpi/mpirun.h"

using namespace vsim::test;

namespace {

bool skipped() {
  if (mpiIsThere()) return false;
  std::puts("SKIPPED: built without MPI");
  return true;
}

/// The lines of ranks: MPI and what is below it may say things of the machine in between.
std::string toldByRanks(const std::string& output) {
  std::istringstream in(output);
  std::string told;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("rank ")) told += line + "\n";
  return told;
}

void allIsWell(int ranks, const std::string& check) {
  if (skipped()) return;
  const MpirunResult result = mpirun(ranks, {check});
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(toldByRanks(result.output) == "");
  CHECK(result.leftBehind == 0);
}

/// Every rank of `tellers` tells an error in which all of `parts` occur.
MpirunResult failsAtAll(int ranks, const std::string& check, const std::vector<int>& tellers,
                        const std::vector<std::string>& parts) {
  MpirunResult result = mpirun(ranks, {check}, 60);
  INFO(result.output);
  CHECK(result.status != 0);
  CHECK(result.status != 124);
  CHECK(result.leftBehind == 0);
  for (const int rank : tellers) {
    // The line's beginning: others name this rank, too.
    const std::string output = "\n" + result.output, name = "\nrank " + std::to_string(rank) + ": ";
    const std::size_t begin = output.find(name);
    REQUIRE(begin != std::string::npos);
    const std::string line = output.substr(begin, output.find('\n', begin + 1) - begin);
    INFO(line);
    for (const std::string& part : parts) CHECK(line.find(part) != std::string::npos);
  }
  return result;
}

}  // namespace

TEST_CASE("conformance suite over MPI") { allIsWell(8, "conformance"); }

TEST_CASE("collectives over MPI do what their names say, whatever their sizes") {
  allIsWell(4, "collectives");
  allIsWell(3, "collectives");
  allIsWell(1, "collectives");
}

TEST_CASE("the tiny mixture of experts on eight ranks") { allIsWell(8, "tiny_moe"); }

TEST_CASE("a machine of processes: facts, logs at the leader, timed data and compute") {
  allIsWell(8, "machine");
}

TEST_CASE("a rank that dies ends all others, named") {
  if (skipped()) return;
  const MpirunResult result = failsAtAll(4, "dies", {0, 1, 3}, {"node2"});
  CHECK(result.seconds < 20);
}

TEST_CASE("a rank that hangs is named by all") {
  if (skipped()) return;
  const MpirunResult result =
      failsAtAll(4, "hangs", {0, 1, 2, 3}, {"nothing moved for 1500 ms", "rank 2 (node2)", "instruction"});
  CHECK(result.seconds < 30);
}

TEST_CASE("a rank out of memory ends all, with the buffer's name") {
  if (skipped()) return;
  failsAtAll(4, "memory", {0, 1, 2, 3}, {"rank 2 on node2: step ", "out of memory for buffer '"});
}

TEST_CASE("ranks with different programs are refused by all") {
  if (skipped()) return;
  failsAtAll(4, "differs", {0, 1, 2, 3}, {"programs", "2"});
}

TEST_CASE("collectives that do not fit each other name both ranks") {
  if (skipped()) return;
  failsAtAll(2, "mismatch", {0},
             {"mismatched collective in group dp_shard of ranks 0, 1", "rank 1: reduce_scatter(",
              "rank 0: reduce_scatter("});
}
