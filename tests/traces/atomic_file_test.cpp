#include "traces/atomic_file.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace vsim::traces {

TEST_CASE("Files are replaced as a whole and nothing else is left behind") {
  test::TemporaryFolder folder;
  const std::string path = folder / "out.json";
  REQUIRE(writeFileAtomically(path, "one").has_value());
  ::chmod(path.c_str(), 0640);
  REQUIRE(writeFileAtomically(path, "two").has_value());
  CHECK(test::readFile(path) == "two");
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0640);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("A symbolic link keeps pointing") {
  test::TemporaryFolder folder;
  test::writeFile(folder / "real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  REQUIRE(writeFileAtomically(folder / "link", "new").has_value());
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(test::readFile(folder / "real") == "new");
}

TEST_CASE("Failures name the path and leave nothing") {
  test::TemporaryFolder folder;
  for (const std::string& path :
       {folder / "missing/out", folder.path(), std::string("/dev/full"), std::string()}) {
    const auto written = writeFileAtomically(path, "x");
    REQUIRE_FALSE(written.has_value());
    CHECK(written.error().file == path);
  }
  CHECK(writeFileAtomically("/dev/null", "x").has_value());
  CHECK(std::filesystem::is_empty(folder.path()));
}

}  // namespace vsim::traces
