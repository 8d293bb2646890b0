#include "traces/run_time.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>

namespace vsim::traces {

TEST_CASE("SOURCE_DATE_EPOCH is when runs are made, anything else in it is not") {
  const std::int64_t before = std::time(nullptr);
  ::setenv("SOURCE_DATE_EPOCH", "1750000000", 1);
  CHECK(runTime() == 1'750'000'000);
  for (const char* wrong : {"", "yesterday", "12h", "-5", "99999999999999999999"}) {
    INFO(wrong);
    ::setenv("SOURCE_DATE_EPOCH", wrong, 1);
    CHECK(runTime() >= before);
    CHECK(runTime() <= std::time(nullptr));
  }
  ::unsetenv("SOURCE_DATE_EPOCH");
  CHECK(runTime() >= before);
}

}  // namespace vsim::traces
