// The 26 vectors of the allocator's specification, confirmed by PyTorch 2.15's own allocator.
#include <catch2/catch.hpp>
#include <sstream>

#include "tests/sim/memory/allocator_script.h"

namespace vsim::test {
namespace {

sim::Bytes bytesFrom(const std::string& text) {
  std::size_t used = 0;
  double value = std::stod(text, &used);
  if (used < text.size() && (text[used] == 'K' || text[used] == 'M'))
    value *= text[used++] == 'K' ? 1024 : 1024 * 1024;
  const auto whole = static_cast<sim::Bytes>(value);
  return used < text.size() ? whole + std::stol(text.substr(used)) : whole;
}

sim::AllocatorOptions optionsFrom(const std::string& settings, sim::Bytes capacity,
                                  std::optional<double> fraction) {
  sim::AllocatorOptions base;
  base.capacity = capacity;
  base.memoryFraction = fraction;
  const auto parsed = sim::parseAllocatorOptions(settings, base);
  REQUIRE(parsed);
  return *parsed;
}

}  // namespace

AllocatorScript::AllocatorScript(const std::string& settings, sim::Bytes capacity,
                                 std::optional<double> fraction)
    : allocator_(optionsFrom(settings, capacity, fraction)) {
  allocator_.setProgress([this](core::StreamId s) { return ++issued_[s]; },
                         [this](core::StreamId s, std::uint64_t ticket) { return ticket <= done_[s]; });
}

bool AllocatorScript::play(const std::string& text) {
  std::istringstream lines(text);
  bool fine = true;
  for (std::string line; std::getline(lines, line, ';');) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (!words.empty()) fine &= one(words);
  }
  return fine;
}

bool AllocatorScript::one(const std::vector<std::string>& words) {
  const std::string& op = words[0];
  if (op == "m") {
    const auto stream = words.size() > 3 ? std::stoi(words[3].substr(1)) : 0;
    const auto block = allocator_.allocate(bytesFrom(words[2]), static_cast<core::StreamId>(stream));
    if (block) addresses_[words[1]] = block->address;
    return block.has_value();
  }
  if (op == "f") allocator_.release(addresses_.at(words[1]));
  if (op == "r")
    allocator_.recordStream(addresses_.at(words[1]), static_cast<core::StreamId>(std::stoi(words[2])));
  if (op == "c") done_[std::stoul(words[1])] = issued_[std::stoul(words[1])];
  if (op == "e") allocator_.emptyCache();
  return true;
}

std::string AllocatorScript::state() const {
  const auto& s = allocator_.statistics().all;
  return fmt::format("{}/{}/{}/{}/{}/{}({})", s.allocatedBytes.current, s.activeBytes.current,
                     s.requestedBytes.current, s.reservedBytes.current, s.segment.current,
                     s.inactiveSplitBytes.current, s.inactiveSplit.current);
}

}  // namespace vsim::test

using vsim::sim::Bytes;
using vsim::sim::kUnlimited;
using Script = vsim::test::AllocatorScript;

namespace {

constexpr Bytes kM = 1 << 20;

// "=" stands for the allocated bytes.
std::string full(const std::string& text) {
  const std::string allocated = text.substr(0, text.find('/'));
  std::string result;
  for (const char c : text) result += c == '=' ? allocated : std::string(1, c);
  return result;
}

#define EXPECT_AFTER(script, ops, expected)    \
  do {                                         \
    INFO(ops);                                 \
    CHECK((script).play(ops));                 \
    CHECK((script).state() == full(expected)); \
  } while (false)

}  // namespace

TEST_CASE("V1 to V5: rounding, pools, splitting") {
  Script v1;
  EXPECT_AFTER(v1, "m a 1; m b 511; m c 513", "2048/2048/1025/2097152/1/2095104(1)");
  EXPECT_AFTER(v1, "f b", "1536/1536/514/2097152/1/2095616(2)");
  EXPECT_AFTER(v1, "f a", "1024/1024/513/2097152/1/2096128(2)");
  EXPECT_AFTER(v1, "f c", "0/0/0/2097152/1/0(0)");
  Script v2;
  EXPECT_AFTER(v2, "m a 1M; m b 1M", "2097152/=/=/2097152/1/0(0)");
  EXPECT_AFTER(v2, "m c 1M+1", "3146240/3146240/3145729/23068672/2/19922432(1)");
  Script v3;
  EXPECT_AFTER(v3, "m a 3M", "3145728/=/=/20971520/1/17825792(1)");
  EXPECT_AFTER(v3, "m b 9M", "12582912/=/=/20971520/1/8388608(1)");
  EXPECT_AFTER(v3, "m c 7.5M", "20971520/20971520/20447232/20971520/1/0(0)");
  Script v4;
  EXPECT_AFTER(v4, "m a 10M-1", "10485760/10485760/10485759/10485760/1/0(0)");
  EXPECT_AFTER(v4, "m b 10M", "20971520/20971520/20971519/20971520/2/0(0)");
  EXPECT_AFTER(v4, "m c 10M+1", "31457792/31457792/31457280/33554432/3/2096640(1)");
  Script v5;
  EXPECT_AFTER(v5, "m a 19M+512", "20971520/20971520/19923456/20971520/1/0(0)");
  EXPECT_AFTER(v5, "f a; m b 19M", "20971520/20971520/19922944/20971520/1/0(0)");
  EXPECT_AFTER(v5, "f b; m c 18M", "18874368/=/=/20971520/1/2097152(1)");
}

TEST_CASE("V6 to V8: best fit, coalescing, streams") {
  Script v6;
  EXPECT_AFTER(v6, "m a 64M; m b 32M; m g 12M; f a; f b; m c 30M", "44040192/=/=/113246208/3/2097152(1)");
  EXPECT_AFTER(v6, "m d 31M", "76546048/=/=/113246208/3/36700160(2)");
  Script v7;
  EXPECT_AFTER(v7, "m a 100M; f a; m b 40M; m c 40M; m d 20M", "104857600/=/=/104857600/1/0(0)");
  EXPECT_AFTER(v7, "f b; f d", "41943040/=/=/104857600/1/62914560(2)");
  EXPECT_AFTER(v7, "f c", "0/0/0/104857600/1/0(0)");
  Script v8;
  EXPECT_AFTER(v8, "m a 50M s0; f a; m b 50M s1", "52428800/=/=/104857600/2/0(0)");
  EXPECT_AFTER(v8, "f b; m c 50M s0; m d 50M s1", "104857600/=/=/104857600/2/0(0)");
}

TEST_CASE("V9 and V10: record_stream delays reuse") {
  Script v9;
  EXPECT_AFTER(v9, "m a 256M s7; r a 0; f a", "0/268435456/268435456/268435456/1/0(0)");
  EXPECT_AFTER(v9, "m b 256M s7", "268435456/536870912/536870912/536870912/2/0(0)");
  EXPECT_AFTER(v9, "c 0; m c 256M s7", "536870912/536870912/536870912/536870912/2/0(0)");
  EXPECT_AFTER(v9, "f b; f c; m d 128M s7", "134217728/=/=/536870912/2/134217728(1)");
  Script v10;
  EXPECT_AFTER(v10, "m a 256M s7; r a 7; f a; m b 256M s7", "268435456/=/=/268435456/1/0(0)");
}

TEST_CASE("V11 to V13: retry and out of memory") {
  Script v11("", 200 * kM);
  EXPECT_AFTER(v11, "m a 100M; m b 100M; f a; m c 40M; f b", "41943040/=/=/209715200/2/62914560(1)");
  CHECK_FALSE(v11.play("m d 110M"));
  CHECK(v11.state() == full("41943040/=/=/104857600/1/62914560(1)"));
  CHECK(v11.statistics().numAllocRetries == 1);
  CHECK(v11.statistics().numOoms == 1);
  Script v12("", 1024 * kM);
  EXPECT_AFTER(v12, "m a 600M s1; f a; m b 600M s0", "629145600/=/=/629145600/1/0(0)");
  CHECK(v12.statistics().numAllocRetries == 1);
  CHECK(v12.statistics().numDeviceFree == 1);
  Script v13("", 1024 * kM);
  EXPECT_AFTER(v13, "m a 600M s1; r a 0; f a; m b 600M s0", "629145600/=/=/629145600/1/0(0)");
  CHECK(v13.statistics().numAllocRetries == 1);
}

TEST_CASE("V14 and V15: max_split_size") {
  Script v14("max_split_size_mb:128");
  EXPECT_AFTER(v14, "m a 256M; f a; m b 64M", "67108864/=/=/335544320/2/0(0)");
  EXPECT_AFTER(v14, "m c 250M", "335544320/335544320/329252864/335544320/2/0(0)");
  EXPECT_AFTER(v14, "f c; m d 230M", "308281344/=/=/576716800/3/0(0)");
  EXPECT_AFTER(v14, "f b; m e 140M", "387973120/=/=/723517440/4/0(0)");
  Script v15("max_split_size_mb:128", 600 * kM);
  EXPECT_AFTER(v15, "m a 256M; m b 256M; f a; f b; m c 300M", "314572800/=/=/314572800/1/0(0)");
  CHECK(v15.statistics().numAllocRetries == 0);
  CHECK(v15.statistics().numDeviceFree == 2);
}

TEST_CASE("V16 and V17: roundup_power2_divisions") {
  Script v16("roundup_power2_divisions:4");
  EXPECT_AFTER(v16, "m a 1200", "1536/1536/1200/2097152/1/2095616(1)");
  EXPECT_AFTER(v16, "m b 1500K", "1574400/1574400/1537200/23068672/2/21494272(2)");
  EXPECT_AFTER(v16, "m c 300M; m d 320M; m e 321M",
               "1075316224/1075316224/988247216/1096810496/5/21494272(2)");
  Script v17("roundup_power2_divisions:8");
  EXPECT_AFTER(v17, "m a 4096; m b 4097; m c 100M; m d 97M",
               "218112512/218112512/206577665/220200960/3/2088448(1)");
}

TEST_CASE("V18 to V21: expandable segments") {
  Script v18("expandable_segments:True");
  EXPECT_AFTER(v18, "m a 30M", "31457280/=/=/41943040/0/0(0)");
  EXPECT_AFTER(v18, "m b 5M", "36700160/=/=/41943040/0/0(0)");
  EXPECT_AFTER(v18, "m c 6M", "42991616/=/=/62914560/0/0(0)");
  EXPECT_AFTER(v18, "f b; m d 5M", "42991616/=/=/62914560/0/0(0)");
  EXPECT_AFTER(v18, "f a; f c; m e 36M", "42991616/=/=/83886080/0/0(0)");
  EXPECT_AFTER(v18, "f d; f e; e", "0/0/0/0/0/0(0)");
  Script v19("expandable_segments:True");
  EXPECT_AFTER(v19, "m a 700K; m b 700K; m c 700K; f a; f b; e", "716800/=/=/4194304/0/0(0)");
  EXPECT_AFTER(v19, "f c; e", "0/0/0/0/0/0(0)");
  const std::string growing = "m a 100M; f a; m b 130M; f b; m c 170M";
  Script v20("expandable_segments:True"), v21;
  EXPECT_AFTER(v20, growing, "178257920/=/=/188743680/0/0(0)");
  EXPECT_AFTER(v21, growing, "178257920/=/=/419430400/3/0(0)");
}

TEST_CASE("V22 and V23: a host that runs ahead") {
  const std::string use = "m u 400M s1; r u 0; f u; ";
  Script v22;
  EXPECT_AFTER(v22, use + use + use + use, "0/1677721600/1677721600/1677721600/4/0(0)");
  EXPECT_AFTER(v22, "c 0; m z 400M s1", "419430400/419430400/419430400/1677721600/4/0(0)");
  Script v23;
  EXPECT_AFTER(v23, use + use + "c 0; " + use + "m u3 400M s1",
               "419430400/838860800/838860800/838860800/2/0(0)");
}

TEST_CASE("V24 to V26: garbage collection, empty_cache, small blocks") {
  Script v24("garbage_collection_threshold:0.6", 4000 * kM, 0.25);
  EXPECT_AFTER(v24, "m a 300M s0; f a; m b 200M s1; f b; m c 150M s2; f c; m d 100M s3",
               "104857600/=/=/262144000/2/0(0)");
  Script v25;
  EXPECT_AFTER(v25, "m a 40M; f a; m b 10M; e", "10485760/=/=/41943040/1/31457280(1)");
  EXPECT_AFTER(v25, "f b; e", "0/0/0/0/0/0(0)");
  Script v26;
  for (int i = 0; i < 11; ++i) v26.play("m s" + std::to_string(i) + " 200K");
  EXPECT_AFTER(v26, "f s0; f s1", "1843200/=/=/4194304/2/2351104(3)");
}
