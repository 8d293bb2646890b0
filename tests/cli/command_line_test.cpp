#include "cli/command_line.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/run_process.h"

namespace vsim::cli {
namespace {

using Json = nlohmann::json;

constexpr const char* kScenario = R"(vsim: 1
name: small
model: {preset: llama-3-8b}
cluster: {preset: h100-rail-optimized, gpus: 16}
parallel: {fsdp: 16}
systems: [vescale, fsdp2]
batch: {sequence: 4096, micro_batch: 1}
activation_checkpointing: full
)";

/// The binary with a data folder of its own and a small scenario.
class Vsim {
 public:
  Vsim() { test::writeFile(scenario(), kScenario); }
  [[nodiscard]] std::string scenario() const { return folder_ / "small.yaml"; }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }
  test::ProcessResult operator()(const std::vector<std::string>& arguments) const {
    return test::runProcess(VSIM_EXECUTABLE, arguments, {"XDG_DATA_HOME=" + (folder_ / "data")});
  }

 private:
  test::TemporaryFolder folder_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("Help and version go to standard output") {
  const Vsim vsim;
  const auto version = vsim({"--version"});
  CHECK(version.exitCode == 0);
  CHECK(version.out.starts_with("vsim "));
  CHECK(version.err.empty());
  for (const char* word : {"--help", "-h", "help"}) {
    const auto help = vsim({word});
    CHECK(help.exitCode == 0);
    CHECK(contains(help.out, "examples:"));
    CHECK(help.err.empty());
  }
  for (const char* command : {"run", "plan", "program", "topo", "validate", "runs", "show", "calibrate"}) {
    const auto help = vsim({command, "--help"});
    CHECK(help.exitCode == 0);
    CHECK(contains(help.out, std::string("vsim ") + command));
    CHECK(contains(vsim({"--help"}).out, std::string("\n  ") + command));
  }
}

TEST_CASE("Mistakes on the command line: exit code 2, one clear line, nothing on standard output") {
  struct Mistake {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::vector<Mistake> mistakes{
      {{}, "usage:"},
      {{"rnu"}, "did you mean run?"},
      {{"valdate", "x"}, "did you mean validate?"},
      {{"zzzzzzzz"}, "--help"},
      {{"-x"}, "a command comes first"},
      {{""}, "unknown command"},
      {{"run"}, "SCENARIO is required"},
      {{"run", "a", "b"}, "b"},
      {{"run", "a", "--jsn", "x"}, "did you mean --json?"},
      {{"run", "a", "--jsn=x"}, "did you mean --json?"},
      {{"run", "a", "--zzzzzzzz"}, "unknown option --zzzzzzzz"},
      {{"run", "a", "--json"}, "--json"},
      {{"run", "a", "--set"}, "--set"},
      {{"run", "a", "--set", "x"}, "key=value"},
      {{"run", "a", "--set", "=x"}, "key=value"},
      {{"run", "a", "--db", "x", "--no-store"}, "exclude each other"},
      {{"run", "a", "--json", "-", "--trace", "-"}, "standard output"},
      {{"run", "a", "--no-store", "--no-store=maybe"}, "no-store"},
      {{"topo"}, "--list"},
      {{"show"}, "RUN is required"},
      {{"runs", "--limit", "0"}, "limit"},
      {{"runs", "--limit", "many"}, "limit"},
      {{"validate"}, "TABLE is required"},
      {{"validate", "a", "--folds", "x"}, "folds"},
      {{"validate", "/nowhere/table.csv"}, "/nowhere/table.csv"},
      {{"run", "/nowhere/scenario_without_name.yaml"}, "scenario_without_name"},
      {{"plan", "/nowhere/scenario_without_name.yaml"}, "scenario_without_name"},
      {{"program", "/nowhere/scenario_without_name.yaml"}, "scenario_without_name"},
      {{"topo", "/nowhere/scenario_without_name.yaml"}, "scenario_without_name"},
  };
  const Vsim vsim;
  for (const Mistake& mistake : mistakes) {
    std::string typed;
    for (const std::string& argument : mistake.arguments) typed += " " + argument;
    const auto result = vsim(mistake.arguments);
    INFO("vsim" << typed << ": " << result.err);
    CHECK(result.exitCode == kWrongInput);
    CHECK(result.out.empty());
    CHECK(contains(result.err, mistake.message));
  }
  CHECK_FALSE(std::filesystem::exists(vsim.file("data")));
}

TEST_CASE("Commands of later versions say so and what serves instead") {
  const Vsim vsim;
  for (const char* command : {"sweep", "tune", "memory", "import", "export", "compare"}) {
    const auto result = vsim({command, "anything"});
    CHECK(result.exitCode == kWrongInput);
    CHECK(contains(result.err, std::string(command) + " is not part of this version ("));
    CHECK(result.out.empty());
  }
}

TEST_CASE("JSON on standard output is nothing but JSON with the documented names") {
  const Vsim vsim;
  const auto result = vsim({"run", vsim.scenario(), "--json", "-", "--set", "batch.micro_batch=1"});
  INFO(result.err);
  REQUIRE(result.exitCode == 0);
  const Json json = Json::parse(result.out);
  CHECK(json.at("scenario") == "small");
  REQUIRE(json.at("runs").size() == 2);
  for (const Json& run : json.at("runs")) {
    for (const char* name : {"system",
                             "gpus",
                             "step_time_s",
                             "tokens_per_s",
                             "tokens_per_s_per_gpu",
                             "mfu",
                             "hfu",
                             "compute_s",
                             "comm_s",
                             "exposed_comm_s",
                             "padding_ratio",
                             "peak_allocated_bytes",
                             "peak_reserved_bytes",
                             "memory_by_category",
                             "capacity_bytes",
                             "fits",
                             "provenance",
                             "overrides",
                             "parameters",
                             "simulated_ranks",
                             "wall_s"})
      CHECK(run.contains(name));
    CHECK(run.size() == 21);
    double shares = 0;
    for (const auto& [name, share] : run.at("provenance").items()) shares += share.get<double>();
    CHECK(shares == Approx(1));
    CHECK(run.at("memory_by_category").size() == 9);
    CHECK(run.at("overrides").at("batch.micro_batch") == 1);
  }
}

TEST_CASE("Files, store, and what is shown again agree with the run") {
  const Vsim vsim;
  const std::string json = vsim.file("out.json"), trace = vsim.file("trace.json"),
                    again = vsim.file("again.json");
  CHECK(contains(vsim({"runs"}).out, "no runs are stored yet"));
  CHECK(vsim({"show", "last"}).exitCode != 0);
  const auto run = vsim({"run", vsim.scenario(), "--json", json, "--trace", trace, "--explain"});
  INFO(run.err);
  REQUIRE(run.exitCode == 0);
  CHECK(contains(run.err, "stored as run 1"));
  CHECK(contains(run.out, "FLOPs per token"));
  CHECK_FALSE(Json::parse(test::readFile(trace)).at("traceEvents").empty());

  const auto list = vsim({"runs"});
  CHECK(list.exitCode == 0);
  CHECK(contains(list.out, "small"));
  CHECK(contains(list.out, "fsdp2"));
  const auto shown = vsim({"show", "1", "--explain"});
  CHECK(shown.exitCode == 0);
  CHECK(contains(shown.out, run.out));
  CHECK(vsim({"show", "last", "--json", "-"}).out == test::readFile(json));
  CHECK(vsim({"show", "1", "--trace", again}).exitCode == 0);
  CHECK(test::readFile(again) == test::readFile(trace));
  CHECK(contains(vsim({"show", "1", "--scenario"}).out, kScenario));
  CHECK(vsim({"show", "2"}).exitCode == kWrongInput);
  CHECK(vsim({"show", "first"}).exitCode == kWrongInput);
}

TEST_CASE("The same run prints the same") {
  const Vsim vsim;
  const auto one = vsim({"run", vsim.scenario()});
  const auto two = vsim({"run", vsim.scenario()});
  REQUIRE(one.exitCode == 0);
  CHECK(one.out == two.out);
  CHECK_FALSE(one.out.empty());
}

TEST_CASE("Where a run is stored may fail it only when it was named") {
  const Vsim vsim;
  const auto byDefault =
      test::runProcess(VSIM_EXECUTABLE, {"run", vsim.scenario()}, {"XDG_DATA_HOME=/proc/nowhere"});
  CHECK(byDefault.exitCode == 0);
  CHECK(contains(byDefault.err, "warning: the run is not stored"));
  CHECK(vsim({"run", vsim.scenario(), "--db", "/proc/nowhere/runs.sqlite"}).exitCode == kFailed);
  test::writeFile(vsim.file("text.sqlite"), "not a database");
  const auto foreign = vsim({"run", vsim.scenario(), "--db", vsim.file("text.sqlite")});
  CHECK(foreign.exitCode == kFailed);
  CHECK(contains(foreign.err, "is not a run store"));
  CHECK(contains(foreign.out, "small"));  // the result is not lost
  CHECK(test::readFile(vsim.file("text.sqlite")) == "not a database");
  CHECK(vsim({"run", vsim.scenario(), "--no-store"}).exitCode == 0);
  CHECK_FALSE(std::filesystem::exists(vsim.file("data")));
}

TEST_CASE("Results that cannot be written fail the command") {
  const Vsim vsim;
  for (const char* option : {"--json", "--trace"}) {
    const auto result = vsim({"run", vsim.scenario(), "--no-store", option, "/nowhere/file"});
    CHECK(result.exitCode == kFailed);
    CHECK(contains(result.err, "/nowhere/file"));
  }
}

TEST_CASE("A pipe sees no progress") {
  const Vsim vsim;
  const auto result = vsim({"run", vsim.scenario(), "--no-store"});
  CHECK_FALSE(contains(result.err, "\r"));
  CHECK_FALSE(contains(result.out, "\r"));
}

}  // namespace vsim::cli
