#include "traces/log_codec.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "tests/support/sample_log.h"
#include "traces/byte_archive.h"
#include "traces/slice_text.h"

namespace vsim::traces {

TEST_CASE("Numbers of all sizes survive the archive") {
  ByteWriter writer;
  const std::vector<std::int64_t> values{0,
                                         1,
                                         -1,
                                         63,
                                         64,
                                         -65,
                                         1 << 20,
                                         std::numeric_limits<std::int64_t>::max(),
                                         std::numeric_limits<std::int64_t>::min()};
  for (const std::int64_t value : values) writer.number(value);
  writer(0.1);
  writer(std::string("a\0b", 3));
  const std::string bytes = std::move(writer).take();
  ByteReader reader(bytes);
  for (const std::int64_t value : values) CHECK(reader.number() == value);
  double real = 0;
  std::string text;
  reader(real);
  reader(text);
  CHECK(real == 0.1);
  CHECK(text == std::string("a\0b", 3));
  CHECK((reader.ok() && reader.atEnd()));
  CHECK(reader.number() == 0);
  CHECK_FALSE(reader.ok());
}

TEST_CASE("A log survives the blob") {
  core::ExecutionLog log = test::sampleLog();
  log.ranks[0].peak.outOfMemory = true;
  log.ranks[0].peak.outOfMemoryBuffer = "x";
  auto program = *log.program;
  program.tensorTables = {{{"w", 64, 8, 1, 2, 3}}};
  program.units[0].tensorTable = 0;
  program.kernels[0].reads = {0, 1};
  program.kernels[0].writes = {2};
  program.buffers[0].extraBytes = 7;
  program.addLabel("hook");
  log.program = std::make_shared<const core::StepProgram>(program);
  const std::string blob = encodeLog(log);
  const auto read = decodeLog(blob);
  REQUIRE(read.has_value());
  CHECK(encodeLog(*read) == blob);
  CHECK(print(*read->program) == print(*log.program));
  CHECK(read->executor == log.executor);
  CHECK(read->instructionsExecuted == log.instructionsExecuted);
  REQUIRE(read->ranks.size() == 1);
  const core::RankLog& ranks = read->ranks[0];
  CHECK(ranks.ranks == 8);
  CHECK(ranks.stepEnd == log.ranks[0].stepEnd);
  REQUIRE(ranks.slices.size() == log.ranks[0].slices.size());
  for (std::size_t i = 0; i < ranks.slices.size(); ++i) {
    CHECK(ranks.slices[i].begin == log.ranks[0].slices[i].begin);
    CHECK(ranks.slices[i].end == log.ranks[0].slices[i].end);
    CHECK(ranks.slices[i].provenance == log.ranks[0].slices[i].provenance);
  }
  REQUIRE(ranks.memory.size() == log.ranks[0].memory.size());
  CHECK(ranks.memory.back().allocated == log.ranks[0].memory.back().allocated);
  CHECK(ranks.peak.byCategory == log.ranks[0].peak.byCategory);
  CHECK(ranks.peak.outOfMemoryBuffer == "x");
  CHECK(read->program->tensorTables[0][0].shardOffset == 3);
  CHECK(read->program->buffers[0].extraBytes == 7);
}

TEST_CASE("Damaged blobs are refused") {
  const std::string blob = encodeLog(test::sampleLog());
  CHECK_FALSE(decodeLog("").has_value());
  CHECK_FALSE(decodeLog("vlog").has_value());
  for (std::size_t size = 0; size < blob.size(); size += 7)
    CHECK_FALSE(decodeLog(std::string_view(blob).substr(0, size)).has_value());
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    std::string damaged = blob;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    const auto read = decodeLog(damaged);
    if (read) CHECK(encodeLog(*read) == blob);
  }
}

TEST_CASE("Logs whose indices point nowhere are inconsistent") {
  const core::ExecutionLog good = test::sampleLog();
  REQUIRE(isConsistent(good));
  core::ExecutionLog log = good;
  SECTION("instruction") { log.ranks[0].slices[0].instruction = 1000; }
  SECTION("stream") { log.ranks[0].slices[0].stream = 9; }
  SECTION("slice of an allocation") { log.ranks[0].slices[0].instruction = 0; }
  SECTION("buffer") { log.ranks[0].memory[0].buffer = 77; }
  SECTION("steps") { log.ranks[0].stepBegin.clear(); }
  SECTION("no program") { log.program = nullptr; }
  SECTION("kernel") {
    auto program = *log.program;
    program.step[4].operand = 99;
    log.program = std::make_shared<const core::StepProgram>(program);
  }
  SECTION("group") {
    auto program = *log.program;
    program.collectives[0].group = 99;
    log.program = std::make_shared<const core::StepProgram>(program);
  }
  CHECK_FALSE(isConsistent(log));
  if (log.program != nullptr) CHECK_FALSE(decodeLog(encodeLog(log)).has_value());
}

}  // namespace vsim::traces
