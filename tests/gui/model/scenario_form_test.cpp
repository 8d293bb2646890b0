#include "gui/model/scenario_form.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "gui/model/scenario_check.h"
#include "tests/folders.h"

namespace vsim::gui {
namespace {

std::string changed(const std::string& text, const std::string& key, const std::string& value) {
  const auto result = withField(text, key, value);
  return result ? *result : "error: " + result.error().message;
}

std::string bundledText(const std::string& name) {
  std::ifstream in(std::string(VSIM_SOURCE_DIR) + "/scenarios/" + name + ".yaml");
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("A value is replaced where it stands") {
  CHECK(changed("a: 1 # keep\nbatch:\n  sequence: 4Ki # tokens\n", "batch.sequence", "8192") ==
        "a: 1 # keep\nbatch:\n  sequence: 8192 # tokens\n");
  CHECK(changed("cluster: {preset: \"x y\", gpus: 8}\n", "cluster.preset", "z") ==
        "cluster: {preset: z, gpus: 8}\n");
  CHECK(changed("cluster: {preset: 'it''s', gpus: 8}\n", "cluster.preset", "z") ==
        "cluster: {preset: z, gpus: 8}\n");
}

TEST_CASE("A value that is missing is added to its section, or with it") {
  CHECK(changed("batch: {sequence: 1}\n", "batch.micro_batch", "2") ==
        "batch: {sequence: 1, micro_batch: 2}\n");
  CHECK(changed("batch: {}\n", "batch.micro_batch", "2") == "batch: {micro_batch: 2}\n");
  CHECK(changed("batch:\n    sequence: 1\n", "batch.micro_batch", "2") ==
        "batch:\n    micro_batch: 2\n    sequence: 1\n");
  CHECK(changed("vsim: 1", "batch.micro_batch", "2") == "vsim: 1\nbatch: {micro_batch: 2}\n");
  CHECK(changed("{vsim: 1}", "activation_checkpointing", "full") ==
        "{vsim: 1, activation_checkpointing: full}");
  CHECK(changed("optimizer: sgd\n", "optimizer.name", "adamw") == "optimizer: adamw\n");
}

TEST_CASE("Systems keep their options") {
  const std::string list = "systems: [{name: vescale, layers_per_bucket: 2}, fsdp2]\n";
  CHECK(changed(list, "systems", "vescale") == "systems: [{name: vescale, layers_per_bucket: 2}]\n");
  CHECK(changed(list, "systems", "fsdp2") == "systems: [fsdp2]\n");
  CHECK(changed(list, "systems", "vescale, fsdp2") == list);
  CHECK(changed("systems: vescale\n", "systems", "vescale, fsdp2") == "systems: [vescale, fsdp2]\n");
  CHECK(changed("systems: {name: vescale, prefetch: 2}\n", "systems", "vescale, fsdp2") ==
        "systems: [{name: vescale, prefetch: 2}, fsdp2]\n");
  CHECK(changed("systems:\n  - vescale\n", "systems", "fsdp2").starts_with("error: "));
}

TEST_CASE("What cannot be changed safely is refused") {
  CHECK(
      changed("batch: {sequence: &n 1, micro_batch: *n}\n", "batch.micro_batch", "2").starts_with("error: "));
  CHECK(changed("batch: [\n", "batch.sequence", "2").starts_with("error: "));
  CHECK(changed("- a\n", "batch.sequence", "2").starts_with("error: "));
  CHECK(changed("batch: 7\n", "batch.sequence", "2").starts_with("error: "));
  CHECK(changed("", "batch.sequence", "2").starts_with("error: "));
}

TEST_CASE("All fields of all bundled scenarios can be set to what they are") {
  const auto names = bundledScenarios();
  REQUIRE(names.size() > 5);
  for (const char* name : {"tiny", "moe_10k", "llama3_70b_256", "mixtral_hsdp", "sweep_moe_10k"}) {
    const std::string text = bundledText(name);
    const ScenarioCheck check =
        checkScenario(text, std::string(VSIM_SOURCE_DIR) + "/scenarios/" + name + ".yaml");
    INFO(name << ": " << core::text(check.errors));
    REQUIRE(check.scenario.has_value());
    for (const FormGroup& group : formGroups())
      for (const FormField& field : group.fields) {
        const std::string value = fieldValue(*check.scenario, field.key);
        if (value.empty() || field.key == "batch.accumulation" || field.key == "parallel.tensor") continue;
        INFO(field.key << " = " << value);
        const auto result = withField(text, field.key, value);
        REQUIRE(result.has_value());
        const ScenarioCheck again = checkScenario(*result, check.scenario->path);
        INFO(*result << core::text(again.errors));
        REQUIRE(again.scenario.has_value());
        CHECK(fieldValue(*again.scenario, field.key) == value);
      }
  }
}

}  // namespace vsim::gui
