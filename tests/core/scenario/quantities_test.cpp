#include <catch2/catch.hpp>

#include "core/scenario/reader.h"

using namespace vsim::core;

TEST_CASE("counts") {
  CHECK(parseCount("0") == 0);
  CHECK(parseCount("128M") == 128'000'000);
  CHECK(parseCount("4Ki") == 4096);
  CHECK(parseCount("1.5k") == 1500);
  CHECK(parseCount("0.5Ki") == 512);
  CHECK(parseCount("1e3") == 1000);
  CHECK(parseCount("1.25e2") == 125);
  CHECK(parseCount("0.000000000001T") == 1);
  CHECK(parseCount("9223372036854775807") == INT64_MAX);
  CHECK(parseCount("-3") == -3);
  for (const char* wrong :
       {"", "x", "1.5", "9223372036854775808", "1e30", "1e999999999", "1K", "5 %", "1e-1", ".", "-", "1..2",
        "0x10", "nan", "inf", "1MM", "99999999999999999999999999999999999999999"})
    CHECK_FALSE(parseCount(wrong).has_value());
  CHECK(parseCount("3m").error().hint == "did you mean 'M'?");
}

TEST_CASE("sizes") {
  CHECK(parseBytes("80GiB") == 85'899'345'920);
  CHECK(parseBytes("80 GiB") == 85'899'345'920);
  CHECK(parseBytes("1MB") == 1'000'000);
  CHECK(parseBytes("16b") == 2);
  CHECK(parseBytes("8Gb") == 1'000'000'000);
  CHECK(parseBytes("512") == 512);
  CHECK_FALSE(parseBytes("9b").has_value());
  CHECK_FALSE(parseBytes("80GIB").has_value());
  CHECK_FALSE(parseBytes("99999999TiB").has_value());
}

TEST_CASE("rates") {
  CHECK(*parseBytesPerSecond("400Gb/s") == Approx(50e9));
  CHECK(*parseBytesPerSecond("3.35TB/s") == Approx(3.35e12));
  CHECK(*parseBytesPerSecond("1GiB/s") == Approx(1073741824.0));
  for (const char* wrong : {"400", "400G", "400Gb", "400Gbps", "fast", "1e99999GB/s"})
    CHECK_FALSE(parseBytesPerSecond(wrong).has_value());
}

TEST_CASE("times") {
  CHECK(parseDuration("2us") == 2'000'000);
  CHECK(parseDuration("1.5ms") == 1'500'000'000);
  CHECK(parseDuration("1 s") == 1'000'000'000'000);
  CHECK(parseDuration("0.3ps") == 0);
  CHECK(parseDuration("0") == 0);
  for (const char* wrong : {"2", "2 minutes", "x", "1e9s", "99999999s"})
    CHECK_FALSE(parseDuration(wrong).has_value());
}
