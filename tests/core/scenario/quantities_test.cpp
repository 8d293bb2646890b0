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
