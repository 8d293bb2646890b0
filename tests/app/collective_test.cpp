#include "app/collective.h"

#include <catch2/catch.hpp>

using namespace vsim;

TEST_CASE("Sizes follow nccl-tests: powers of 1,024", "[app]") {
  CHECK(app::ncclTestsSize("8") == 8);
  CHECK(app::ncclTestsSize("512K") == 512 * 1024);
  CHECK(app::ncclTestsSize("1M") == 1 << 20);
  CHECK(app::ncclTestsSize("8G") == std::int64_t{8} << 30);
  for (const char* wrong : {"", "M", "-1M", "0", "1T", "1.5M", "1e30", "99999999999G", "9223372036854775807"})
    CHECK_FALSE(app::ncclTestsSize(wrong));
}

TEST_CASE("One collective in nccl-tests' columns", "[app]") {
  app::CollectiveOptions options;
  options.bytes = "1M..4M";
  const auto text = app::collectiveText(options);
  REQUIRE(text);
  CHECK(text->find("busbw") != std::string::npos);
  CHECK(text->find(" 1048576 ") != std::string::npos);
  CHECK(text->find(" 4194304 ") != std::string::npos);
  options.kind = "all-reduce";  // hyphens serve as well
  CHECK(app::collectiveText(options));
}

TEST_CASE("All mistakes of a call at once", "[app]") {
  app::CollectiveOptions options;
  options.kind = "all_gathr";
  options.cluster = "h100-rail";
  options.bytes = "4M..1M";
  options.dtype = "fp64";
  options.ranks = 0;
  const auto text = app::collectiveText(options);
  REQUIRE_FALSE(text);
  CHECK(text.error().size() == 5);
}
