#include "core/report/text.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/report/json.h"
#include "tests/folders.h"
#include "tests/support/sample_log.h"

namespace vsim::core {
namespace {

/// Compares with tests/core/report/golden/NAME; VSIM_UPDATE_GOLDEN=1 writes it anew.
void checkGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(VSIM_SOURCE_DIR) + "/tests/core/report/golden/" + name;
  if (std::getenv("VSIM_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  std::ostringstream expected;
  expected << file.rdbuf();
  CHECK(text == expected.str());
}

std::vector<RunReport> twoSystems() {
  CostErrors errors;
  errors.operations.assign(5, 0.04);
  errors.collectives.assign(2, 0.1);
  std::vector<RunReport> runs;
  runs.push_back(makeReport(test::sampleLog(), test::sampleFacts(), test::sampleHardware(), &errors));
  ExecutionLog log = test::sampleLog();
  log.ranks[0].stepEnd.back() += picosecondsFromSeconds(0.020);
  log.ranks[0].peak.reserved = 79'000'000;
  RunFacts facts = test::sampleFacts();
  facts.system = "fsdp2";
  runs.push_back(makeReport(log, facts, test::sampleHardware()));
  return runs;
}

}  // namespace

TEST_CASE("Report of one system") {
  const std::vector<RunReport> runs{twoSystems().front()};
  checkGolden("one_system.txt", toText(runs));
  checkGolden("one_system.json", toJson("sample", runs));
}

TEST_CASE("Systems side by side") {
  const std::vector<RunReport> runs = twoSystems();
  checkGolden("two_systems.txt", toText(runs));
  checkGolden("two_systems.json", toJson("sample", runs));
}

TEST_CASE("A sweep has a column per point") {
  std::vector<RunReport> runs;
  for (const char* gpus : {"1024", "2048", "4096", "8192", "10240"}) {
    RunFacts facts = test::sampleFacts();
    facts.gpus = std::atoll(gpus);
    facts.overrides = {{"cluster.gpus", gpus}, {"optimizer.name", "adam8bit"}};
    runs.push_back(makeReport(test::sampleLog(), facts, test::sampleHardware()));
  }
  checkGolden("sweep.txt", toText(runs));
  checkGolden("sweep.json", toJson("sample", runs));
}

TEST_CASE("Report of a run that ran out of memory") {
  ExecutionLog log = test::sampleLog();
  log.ranks[0].stepEnd.clear();
  log.ranks[0].peak.outOfMemory = true;
  log.ranks[0].peak.outOfMemoryBuffer = "ag_out(L1)";
  const std::vector<RunReport> runs{makeReport(log, test::sampleFacts(), test::sampleHardware())};
  checkGolden("out_of_memory.txt", toText(runs));
  checkGolden("out_of_memory.json", toJson("sample", runs));
}

TEST_CASE("Explanation shows the formulas with numbers") {
  checkGolden("explain.txt", explain(twoSystems().front()));
}

TEST_CASE("The complete form gives a report back unchanged") {
  std::vector<RunReport> runs = twoSystems();
  runs[1].facts.overrides = {{"cluster.gpus", "1024"}};
  const std::string text = toCompleteJson(runs);
  const auto read = reportsFromJson(text);
  REQUIRE(read.has_value());
  CHECK(toCompleteJson(*read) == text);
  CHECK(toText(*read) == toText(runs));
  CHECK(toJson("sample", *read) == toJson("sample", runs));
}

TEST_CASE("Damaged stored reports are refused") {
  const std::string text = toCompleteJson(twoSystems());
  CHECK_FALSE(reportsFromJson("").has_value());
  CHECK_FALSE(reportsFromJson("{}").has_value());
  CHECK_FALSE(reportsFromJson(text.substr(0, text.size() / 2)).has_value());
  std::string unknownPhase = text;
  const std::size_t at = unknownPhase.find("\"phase\":1");
  REQUIRE(at != std::string::npos);
  unknownPhase.replace(at, 9, "\"phase\":99");
  CHECK_FALSE(reportsFromJson(unknownPhase).has_value());
}

TEST_CASE("Names from outside that are not UTF-8 do not break the output") {
  std::vector<RunReport> runs{twoSystems().front()};
  runs[0].facts.overrides = {{"name", "\xff\xfe"}};
  CHECK_FALSE(toJson("\xff", runs).empty());
  CHECK_FALSE(toCompleteJson(runs).empty());
}

}  // namespace vsim::core
