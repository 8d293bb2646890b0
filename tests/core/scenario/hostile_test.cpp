#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "core/scenario/document.h"
#include "tests/core/scenario/base_scenario.h"

using namespace vsim;
namespace fs = std::filesystem;

namespace {

/// The one error of a text that cannot be read.
std::string problem(const std::string& text) {
  const auto result = test::read(text);
  REQUIRE_FALSE(result.has_value());
  INFO(core::text(result.error()));
  REQUIRE(result.error().size() == 1);
  return result.error().front().text();
}

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(fs::temp_directory_path() / fmt::format("vsim scenario {}", getpid())) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() { fs::remove_all(path_); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path(const std::string& name = "") const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string repeated(const std::string& text, std::size_t count) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("texts that are not YAML") {
  using Catch::Contains;
  CHECK(problem("") == "base.yaml:1:1: the file is empty (it begins with 'vsim: 1')");
  CHECK_THAT(problem("# only a comment\n"), Contains("the file is empty"));
  CHECK_THAT(problem(std::string("vsim: 1\nna\0me: x\n", 17)), Contains("base.yaml:2:3: a NUL byte"));
  CHECK_THAT(problem("vsim: 1\nname: \xff\xfe\n"), Contains("base.yaml:2:7: byte 0xff is not UTF-8 text"));
  CHECK_THAT(problem("name: \xc0\x80\n"), Contains("byte 0xc0 is not UTF-8"));
  CHECK_THAT(problem("name: \xed\xa0\x80\n"), Contains("byte 0xed is not UTF-8"));
  CHECK_THAT(problem("name: \xe2\x82"), Contains("byte 0xe2 is not UTF-8"));
  CHECK_THAT(problem("vsim: 1\n\tname: x\n"), Contains("base.yaml:2:1: a tab in the indentation"));
  CHECK_THAT(problem("batch:\n  \tsequence: 1\n"), Contains("base.yaml:2:3: a tab in the indentation"));
  CHECK_THAT(problem("name: \x1b[31m\n"), Contains("the control character 0x1b"));
  CHECK_THAT(problem("vsim: 1\nmodel: {layers: 3\n"),
             Contains("base.yaml:2:1: not valid YAML: end of map flow not found"));
  CHECK_THAT(problem("vsim: 1\n name: x\n"), Contains("not valid YAML"));
  CHECK_THAT(problem("name: \"open\n"), Contains("not valid YAML"));
  CHECK_THAT(problem("name: !!python/object:os.system x\n"), Contains("base.yaml:1:7: the tag"));
  CHECK_THAT(problem("name: !evil x\n"), Contains("the tag '!evil' means nothing here (leave it out)"));
  CHECK_THAT(problem(test::kBase + "---\nvsim: 1\n"),
             Contains("base.yaml:15:1: a second document begins here"));
}

TEST_CASE("anchors and aliases") {
  using Catch::Contains;
  CHECK_THAT(problem("vsim: &a [*a]\n"), Contains("base.yaml:1:11: this alias stands inside the value"));
  CHECK_THAT(problem("model: &m {x: {y: *m}}\n"), Contains("this alias stands inside the value"));
  CHECK_THAT(problem("name: *unknown\n"), Contains("base.yaml:1:7: not valid YAML: the referenced anchor"));
  const auto shared = test::read(test::changed({{"params: fp32", "params: &wide fp32"},
                                                {"reduce: fp32", "reduce: *wide"},
                                                {"compute: bf16", "compute: bf16"}}));
  if (!shared) FAIL(core::text(shared.error()));
  CHECK(shared->precision.reduce == core::DType::fp32);
}

TEST_CASE("nested aliases do not grow") {
  std::string text = "vsim: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i)
    text += fmt::format("a{0}: &a{0} [{1}]\n", i,
                        repeated(fmt::format("*a{}, ", i - 1), 9) + fmt::format("*a{}", i - 1));
  const auto result = test::read(text + "systems: *a29\nname: *a29\nsweep: {cluster.gpus: *a29}\n");
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().size() < 60);
}

TEST_CASE("depth and numbers are limited") {
  using Catch::Contains;
  for (const char* open : {"[", "{a: ", "{? ", "[{"})
    CHECK_THAT(problem("x: " + repeated(open, 20'000)), Contains("nested more than 32 levels deep"));
  for (const char* open : {"- ", "? "}) {
    const auto result = test::read(repeated(open, 100'000));
    CHECK_FALSE(result.has_value());
  }
  CHECK_THAT(problem("x: [" + repeated("1,", 60'000) + "]"), Contains("more than 20000 values in one file"));
  CHECK_THAT(problem("x: &a 1\ny: [" + repeated("*a,", 60'000) + "]"), Contains("too many aliases"));
  const auto many = test::read(repeated("k: 1\n", 9'000));
  REQUIRE_FALSE(many.has_value());
  CHECK(many.error().size() <= 101);
  CHECK_THAT(many.error().back().text(), Contains("more problems"));
}

TEST_CASE("files that cannot be scenarios") {
  using Catch::Contains;
  const TemporaryFolder folder;
  const auto options = test::baseOptions();
  const auto problemOf = [&](const std::string& path) {
    const auto result = core::readScenario(path, options);
    REQUIRE_FALSE(result.has_value());
    return core::text(result.error());
  };
  CHECK(problemOf(folder.path("none.yaml")) == folder.path("none.yaml") + ": no such file");
  CHECK_THAT(problemOf(folder.path()), Contains("is a folder, not a file"));
  CHECK_THAT(problemOf(std::string(100'000, 'x')), Contains("name too long"));
  const std::string large = folder.write("large.yaml", "");
  fs::resize_file(large, 100'000'000);  // sparse
  CHECK_THAT(problemOf(large), Contains("larger than 256 KiB: not a scenario"));
  CHECK_THAT(problemOf("/dev/zero"), Contains("larger than 256 KiB"));
  CHECK_THAT(problemOf(folder.write("bytes.yaml",
                                    "\x7f"
                                    "ELF\x02\x01")),
             Contains("bytes.yaml:1:1: the control character"));
  CHECK_FALSE(core::readSweep(folder.path("none.yaml"), options).has_value());
}

TEST_CASE("no text makes the reader fail otherwise than by its errors") {
  // Every prefix, and every byte replaced by each of the characters that mean something in YAML.
  for (std::size_t i = 0; i < test::kBase.size(); i += 3) (void)test::read(test::kBase.substr(0, i));
  for (std::size_t i = 0; i < test::kBase.size(); i += 7)
    for (const char c : std::string("[]{}:,-?*&!|>'\"%@`#~ \n0")) {
      std::string text = test::kBase;
      text[i] = c;
      const auto result = test::read(text);
      if (!result) CHECK_FALSE(result.error().empty());
    }
}
