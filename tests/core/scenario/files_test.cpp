#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "core/scenario/reader.h"
#include "tests/core/scenario/base_scenario.h"
#include "tests/folders.h"

using namespace vsim;
using namespace vsim::core;
namespace fs = std::filesystem;

namespace {

/// A checkout in small: scenarios/, traces/data/ and a folder of the user's own.
class Checkout {
 public:
  Checkout() : root_(fs::temp_directory_path() / fmt::format("vsim checkout {}", getpid())) {
    for (const char* folder : {"scenarios", "traces/data", "mine"}) fs::create_directories(root_ / folder);
    write("scenarios/small.yaml", test::kBase);
    write("traces/data/h800_64.yaml", "x");
  }
  ~Checkout() { fs::remove_all(root_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(root_ / name) << text; }
  [[nodiscard]] std::string path(const std::string& name) const { return (root_ / name).string(); }
  [[nodiscard]] ReadOptions options() const {
    ReadOptions options = test::baseOptions();
    options.searchFolders = {root_.string()};
    return options;
  }

 private:
  fs::path root_;
};

}  // namespace

TEST_CASE("scenarios are found by path, then by file name") {
  const Checkout checkout;
  const auto options = checkout.options();
  CHECK(findScenario(checkout.path("scenarios/small.yaml"), options) ==
        checkout.path("scenarios/small.yaml"));
  for (const char* name :
       {"small", "small.yaml", "scenario/small.yaml", "./elsewhere/small", "/nowhere/small.yaml"})
    CHECK(findScenario(name, options) == checkout.path("scenarios/small.yaml"));
  const auto missing = findScenario("smal", options);
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().hint == "did you mean 'small'?");
  CHECK_FALSE(findScenario("", options).has_value());
  CHECK_FALSE(findScenario("/", options).has_value());
  CHECK_FALSE(findScenario(std::string("a\0b", 3), options).has_value());
  CHECK_THAT(findScenario(checkout.path("mine"), options).error().message, Catch::Contains("is a folder"));
}

TEST_CASE("profiles are looked up beside the scenario, then in traces/data, then among the bundled ones") {
  const Checkout checkout;
  const std::string text = test::kBase + "profile: h800_64.yaml\n";
  const auto profile = [&](const std::string& path, const ReadOptions& options) {
    const auto result = parseScenario(text, path, options);
    if (!result) FAIL(core::text(result.error()));
    return result->profilePath;
  };
  const std::string bundled = checkout.path("traces/data/h800_64.yaml");
  CHECK(profile(checkout.path("scenarios/small.yaml"), test::baseOptions()) == bundled);
  CHECK(profile("/nowhere/small.yaml", checkout.options()) == bundled);
  checkout.write("mine/h800_64.yaml", "y");
  CHECK(profile(checkout.path("mine/s.yaml"), checkout.options()) == checkout.path("mine/h800_64.yaml"));
  const auto missing =
      parseScenario(test::kBase + "profile: h800_46.yaml\n", "/nowhere/s.yaml", checkout.options());
  REQUIRE_FALSE(missing.has_value());
  CHECK_THAT(core::text(missing.error()), Catch::Contains("(did you mean 'h800_64.yaml'?)"));
}

TEST_CASE("a profile may describe the cluster in place of a preset") {
  const Checkout checkout;
  const std::string text = test::changed("preset: h100-rail-optimized", "profile: h800_64.yaml");
  const auto result = parseScenario(text, checkout.path("scenarios/small.yaml"), test::baseOptions());
  if (!result) FAIL(core::text(result.error()));
  CHECK(result->cluster.profilePath == checkout.path("traces/data/h800_64.yaml"));
  CHECK(result->cluster.preset.empty());
  CHECK(result->cluster.gpus == 16);
  CHECK(result->profilePath.empty());
}

TEST_CASE("models by preset and by config file") {
  const Checkout checkout;
  const auto read = [&](const std::string& model, ReadOptions options) {
    return parseScenario("vsim: 1\nmodel: " + model + "\ncluster: {preset: h100-clos, gpus: 8}\n",
                         checkout.path("mine/s.yaml"), options);
  };
  const auto preset = read("{preset: llama3-8b}", checkout.options());
  if (!preset) FAIL(core::text(preset.error()));
  CHECK(preset->model.layers == 32);
  const auto problem = [&](const std::string& model) {
    const auto result = read(model, checkout.options());
    REQUIRE_FALSE(result.has_value());
    return core::text(result.error());
  };
  using Catch::Contains;
  CHECK_THAT(problem("{preset: llama-3-8}"),
             Contains(":2:17: model.preset: 'llama-3-8' is not known (did you mean"));
  CHECK_THAT(problem("{hf_config: none.json}"), Contains(":2:20: model.hf_config: 'none.json' is not there"));
  CHECK_THAT(problem("{preset: llama-3-8b, layers: 3}"),
             Contains(":2:29: model.layers: a preset or a config file"));
  CHECK_THAT(problem("{preset: llama-3-8b, hf_config: x}"), Contains("either preset or hf_config, not both"));
  CHECK_THAT(problem("{preset: [a]}"), Contains("model.preset: expected a text, found a list"));
  checkout.write("mine/config.json", R"({"model_type": "llama", "hidden_size": 64, )");
  CHECK_THAT(problem("{hf_config: config.json}"), Contains("config.json:1:"));
  checkout.write(
      "mine/config.json",
      R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
  "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 256, "torch_dtype": "bfloat16"})");
  const auto config = read("{hf_config: config.json}", checkout.options());
  if (!config) FAIL(core::text(config.error()));
  CHECK(config->model.hidden == 64);
  ReadOptions options = checkout.options();
  options.overrides = {{"model.preset", "gpt2"}, {"batch.sequence", "1Ki"}};
  const auto replaced = read("{hf_config: config.json}", options);
  if (!replaced) FAIL(core::text(replaced.error()));
  CHECK(replaced->model.name == "gpt2");
  options.overrides.emplace_back("batch.sequence", "4k");
  CHECK_THAT(core::text(read("{preset: llama-3-8b}", options).error()),
             Contains("1024 positions that gpt2 has learned"));
}

TEST_CASE("the bundled scenarios are right") {
  const std::string root = VSIM_SOURCE_DIR;
  ReadOptions options;
  options.searchFolders = {root};
  int files = 0;
  for (const auto& entry : fs::directory_iterator(root + "/scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    auto points = readSweep(entry.path().string(), options);
    if (!points) {
      // The profile is another folder's file: without it everything else must still be right.
      options.overrides = {{"profile", entry.path().string()}};
      points = readSweep(entry.path().string(), options);
      options.overrides.clear();
    }
    if (!points) FAIL(core::text(points.error()));
    for (const Scenario& scenario : *points) CHECK(scenario.name == entry.path().stem().string());
  }
  CHECK(files >= 8);
}

TEST_CASE("moe_10k is what it says") {
  const std::string root = VSIM_SOURCE_DIR;
  ReadOptions options;
  options.searchFolders = {root};
  options.overrides = {{"profile", root + "/scenarios/moe_10k.yaml"}};
  const auto path = findScenario("scenario/moe_10k.yaml", options);
  REQUIRE(path.has_value());
  const auto s = readScenario(*path, options);
  if (!s) FAIL(core::text(s.error()));
  CHECK(s->cluster.gpus == 10240);
  CHECK(s->parallel.fsdp * s->parallel.replicate == 10240);
  CHECK(s->model.layers == 70);
  const auto sweep = readSweep(root + "/scenarios/sweep_moe_10k.yaml", options);
  if (!sweep) FAIL(core::text(sweep.error()));
  REQUIRE(sweep->size() == 5);
  CHECK(sweep->back().parallel.replicate == 10);
}
