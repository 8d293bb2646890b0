#include "gpu/rank_log_codec.h"

#include <catch2/catch.hpp>

#include <limits>
#include <random>

#include "gpu/byte_stream.h"

using namespace vsim;
using namespace vsim::core;

namespace {

class RandomLog {
 public:
  explicit RandomLog(unsigned seed) : random_(seed) {}

  gpu::ProcessLog make() {
    gpu::ProcessLog log{.ranks = std::vector<RankLog>(below(4)), .instructionsExecuted = random_()};
    for (RankLog& rank : log.ranks) {
      rank.name = std::string(below(20), 'r');
      rank.firstRank = static_cast<std::int64_t>(below(64));
      for (std::size_t i = below(50); i > 0; --i) rank.slices.push_back(slice());
      for (std::size_t i = below(50); i > 0; --i) rank.memory.push_back(event());
      for (std::size_t i = below(5); i > 0; --i) rank.stepBegin.push_back(any());
      rank.stepEnd = {any()};
      rank.peak = peak();
      rank.lastStepPeak = peak();
    }
    return log;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  /// Of every magnitude.
  std::int64_t any() {
    return static_cast<std::int64_t>(random_() >> below(63)) / 4 * (below(4) == 0 ? -1 : 1);
  }
  Slice slice() {
    return {.instruction = static_cast<Index>(random_()),
            .stream = static_cast<StreamId>(random_()),
            .step = static_cast<std::uint8_t>(random_()),
            .provenance = static_cast<Provenance>(below(4)),
            .issued = any(),
            .begin = any(),
            .end = any()};
  }
  MemoryEvent event() {
    return {.time = any(),
            .buffer = static_cast<Index>(random_()),
            .step = static_cast<std::uint8_t>(random_()),
            .allocate = below(2) == 0,
            .address = random_(),
            .allocated = any(),
            .active = any(),
            .reserved = any()};
  }
  MemoryPeak peak() {
    MemoryPeak result;
    for (Bytes* bytes : {&result.allocated, &result.active, &result.reserved}) *bytes = any();
    for (Bytes& bytes : result.byCategory) bytes = any();
    result.time = any();
    result.allocationRetries = any();
    result.outOfMemory = below(2) == 0;
    result.outOfMemoryBuffer = "ag_out";
    return result;
  }

  std::mt19937_64 random_;
};

}  // namespace

TEST_CASE("logs survive the way as bytes") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const gpu::ProcessLog log = RandomLog(seed).make();
    const std::string bytes = gpu::encodeProcessLog(log);
    const auto back = gpu::decodeProcessLog(bytes);
    REQUIRE(back);
    REQUIRE(back->ranks.size() == log.ranks.size());
    CHECK(back->instructionsExecuted == log.instructionsExecuted);
    // Encoding keeps everything that differs: equal bytes are equal logs, if fields are not left out ...
    CHECK(gpu::encodeProcessLog(*back) == bytes);
    for (std::size_t r = 0; r < log.ranks.size(); ++r) {  // ... which these would show.
      const RankLog &a = log.ranks[r], &b = back->ranks[r];
      CHECK((a.name == b.name && a.firstRank == b.firstRank && a.ranks == b.ranks));
      CHECK((a.stepBegin == b.stepBegin && a.stepEnd == b.stepEnd));
      REQUIRE((a.slices.size() == b.slices.size() && a.memory.size() == b.memory.size()));
      for (std::size_t i = 0; i < a.slices.size(); ++i) {
        const Slice &x = a.slices[i], &y = b.slices[i];
        CHECK((x.instruction == y.instruction && x.stream == y.stream && x.step == y.step &&
               x.provenance == y.provenance && x.issued == y.issued && x.begin == y.begin && x.end == y.end));
      }
      for (std::size_t i = 0; i < a.memory.size(); ++i) {
        const MemoryEvent &x = a.memory[i], &y = b.memory[i];
        CHECK((x.time == y.time && x.buffer == y.buffer && x.step == y.step && x.allocate == y.allocate &&
               x.address == y.address && x.allocated == y.allocated && x.active == y.active &&
               x.reserved == y.reserved));
      }
      CHECK((a.peak.allocated == b.peak.allocated && a.peak.byCategory == b.peak.byCategory &&
             a.peak.time == b.peak.time && a.peak.outOfMemory == b.peak.outOfMemory &&
             a.peak.outOfMemoryBuffer == b.peak.outOfMemoryBuffer));
      CHECK(a.lastStepPeak.reserved == b.lastStepPeak.reserved);
    }
  }
}

TEST_CASE("bytes that are no log are refused") {
  std::string bytes;
  for (unsigned seed = 0; bytes.size() < 500; ++seed) bytes = gpu::encodeProcessLog(RandomLog(seed).make());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    CHECK(!gpu::decodeProcessLog(std::string_view(bytes).substr(0, length)));
  CHECK(!gpu::decodeProcessLog(bytes + "x"));
  CHECK(!gpu::decodeRankFacts(bytes));
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {  // damaged bytes: any answer, but an answer
    std::string damaged = bytes;
    for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto read = gpu::decodeProcessLog(damaged);
    if (!read) CHECK(read.error().message.find("cannot read") != std::string::npos);
  }
}

TEST_CASE("facts about ranks survive the way as bytes") {
  gpu::RankFacts a;
  a.host = "node7";
  a.localRank = 3;
  a.device = "processor";
  a.computeCapability = 90;
  a.memory = Bytes{1} << 40U;
  a.freeMemory = Bytes{1} << 39U;
  a.clockHertz = 2.5e9;
  a.nics = {{"eth0", 1.25e9}, {"lo", 0}};
  const auto back = gpu::decodeRankFacts(gpu::encodeRankFacts({a, {}}));
  REQUIRE(back);
  REQUIRE(back->size() == 2);
  const gpu::RankFacts& b = back->front();
  CHECK((b.host == a.host && b.localRank == 3 && b.device == a.device && b.computeCapability == 90));
  CHECK((b.memory == a.memory && b.freeMemory == a.freeMemory && b.clockHertz == a.clockHertz &&
         b.nics.size() == 2));
  CHECK((b.nics[0].name == "eth0" && b.nics[0].bytesPerSecond == 1.25e9));
}

TEST_CASE("numbers of every size take the bytes they need") {
  gpu::ByteWriter out;
  const std::vector<std::int64_t> values{0,
                                         1,
                                         -1,
                                         63,
                                         -64,
                                         64,
                                         std::numeric_limits<std::int64_t>::max(),
                                         std::numeric_limits<std::int64_t>::min()};
  for (const std::int64_t value : values) out.signedNumber(value);
  const std::string bytes = out.take();
  CHECK(bytes.size() == 5 + 2 + 10 + 10);
  gpu::ByteReader in(bytes);
  for (const std::int64_t value : values) CHECK(in.signedNumber() == value);
  CHECK(!in.failed());
  CHECK(in.number() == 0);
  CHECK(in.failed());
}
