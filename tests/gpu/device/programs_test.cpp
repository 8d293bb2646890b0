// The programs as users start them, on the stand-in in place of the CUDA plug-in: vsim run --real, vsim
// calibrate, vsim-gpu-check, vsim-device-conformance. Products do nothing there and times mean nothing: what
// is checked is what is said and written, that processes end alike, and that nothing is left on a device.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/real_processes.h"
#include "tests/folders.h"
#include "tests/gpu/device/program/collective_conformance.h"
#include "tests/gpu/stand_in/stand_in.h"

using namespace vsim;
using namespace vsim::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

constexpr const char* kScenario = R"(vsim: 1
name: little
model: {name: little, layers: 2, hidden: 32, heads: 2, kv_heads: 2, intermediate: 64, vocabulary: 128}
cluster: {preset: h100-rail-optimized, gpus: 2}
parallel: {fsdp: 2}
systems: [vescale]
batch: {sequence: 32, micro_batch: 1}
real: {scale: 1, steps: 3, warmup: 1}
)";

/// A folder for files, the data folder of the programs and the mail of the devices.
class Here {
 public:
  Here() {
    writeFile(scenario(), kScenario);
    std::filesystem::create_directory(file("mail"));
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::string scenario() const { return file("little.yaml"); }
  [[nodiscard]] std::vector<std::string> environment(int devices, bool mail = false) const {
    std::vector<std::string> all{"XDG_DATA_HOME=" + file("data"), "VSIM_PLUGIN_PATH=" VSIM_STAND_IN_FOLDER,
                                 "VSIM_STAND_IN_DEVICES=" + std::to_string(devices),
                                 "VSIM_STAND_IN_MEMORY=67108864", "VSIM_STAND_IN_THROTTLED=power cap"};
    if (mail) all.push_back("VSIM_STAND_IN_MAIL=" + file("mail"));
    return all;
  }
  [[nodiscard]] std::vector<std::string> run(int ranks, const std::vector<std::string>& more = {}) const {
    const std::string n = std::to_string(ranks);
    std::vector<std::string> all{
        "run",   scenario(),          "--real", "--executor",        "cuda", "--budget", "1s",
        "--set", "cluster.gpus=" + n, "--set",  "parallel.fsdp=" + n};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] Json json(const std::string& name) const { return Json::parse(readFile(file(name))); }

 private:
  TemporaryFolder folder_;
};

const std::string kClean = "STAND-IN";  // what the stand-in begins its complaints with

}  // namespace

TEST_CASE("vsim run --real on one, two and four devices of one process: verdict, JSON, profile") {
  const int devices = GENERATE(1, 2, 4);
  const Here here;
  const auto done =
      runProcess(VSIM_EXECUTABLE,
                 here.run(devices, {"--json", here.file("out.json"), "--trace", here.file("trace.json"),
                                    "--save-profile", here.file("costs.yaml")}),
                 here.environment(devices));
  INFO(done.out << done.err);
  REQUIRE(done.exitCode == 0);
  CHECK_THAT(done.err, !Contains(kClean));
  CHECK_THAT(done.out, Contains("together: the step"));
  CHECK_THAT(done.out, Contains(std::to_string(devices) + (devices == 1 ? " rank" : " ranks")));
  CHECK_FALSE(here.json("out.json").empty());
  CHECK_FALSE(here.json("trace.json").empty());
  const std::string profile = readFile(here.file("costs.yaml"));
  CHECK_THAT(profile, Contains("stand-in"));
  CHECK_THAT(profile, Contains("clocks throttled: power cap"));
}

TEST_CASE("vsim run --real: a step that is off by more than --max-error is an exit code, not a crash") {
  const Here here;
  const auto done =
      runProcess(VSIM_EXECUTABLE, here.run(1, {"--max-error", "0.000001"}), here.environment(1));
  INFO(done.out << done.err);
  CHECK(done.exitCode == 1);
  CHECK_THAT(done.err, !Contains(kClean));
}

TEST_CASE("vsim calibrate on one device: every level of collectives is marked as missing") {
  const Here here;
  const auto done =
      runProcess(VSIM_EXECUTABLE,
                 {"calibrate", "--executor", "cuda", "--budget", "1s", "--output", here.file("profile.yaml")},
                 here.environment(1));
  INFO(done.out << done.err);
  REQUIRE(done.exitCode == 0);
  CHECK_THAT(done.err, !Contains(kClean));
  const std::string profile = readFile(here.file("profile.yaml"));
  CHECK_THAT(profile, Contains("measured: []") && Contains("missing: [node, nodes, racks]"));
  CHECK_THAT(done.out + done.err, Contains("clocks throttled: power cap"));
  CHECK_THAT(profile,
             Contains("clocks: {rated: 1GHz, processors: 900MHz, lowest: 900MHz, memory: 2GHz, power: "
                      "300W, highest_power: 300W, celsius: 50}"));
  CHECK_THAT(done.out, Contains("clocks: processors at 0.9 GHz of 1 GHz (at least 0.9 GHz), memory at 2 GHz, "
                                "300 W (at most 300 W), 50 C"));
}

TEST_CASE("two processes as torchrun starts them, one device each: both end alike") {
  const Here here;
  Torchrun job(VSIM_EXECUTABLE, 2, here.environment(2, true));
  for (int process : {0, 1}) job.start(process, here.run(2, {"--timeout", "60s"}));
  for (int process : {0, 1}) {
    const int code = job.exitCode(process);
    INFO("process " << process << ": " << job.out(process) << job.err(process));
    CHECK(code == 0);
    CHECK_THAT(job.err(process), !Contains(kClean));
  }
  CHECK_THAT(job.out(0), Contains("together: the step"));
  CHECK(job.out(1).empty());
}

TEST_CASE("two processes of which one finds no device, or no plug-in: both end with its error") {
  const Here here;
  const bool withoutDevice = GENERATE(true, false);
  const std::string words = withoutDevice ? "has no stand-in device" : "cannot be loaded";
  std::filesystem::create_directory(here.file("broken"));
  writeFile(here.file("broken/libvsim_cuda.so"), "no library");
  std::vector<std::string> broken = here.environment(2, true);  // the later setting of a variable counts
  broken.push_back(withoutDevice ? "VSIM_STAND_IN_DEVICES=0" : "VSIM_PLUGIN_PATH=" + here.file("broken"));
  const int port = freePort();
  Torchrun good(VSIM_EXECUTABLE, 2, here.environment(2, true), port), bad(VSIM_EXECUTABLE, 2, broken, port);
  good.start(0, here.run(2, {"--timeout", "20s"}));
  bad.start(1, here.run(2, {"--timeout", "20s"}));
  CHECK(bad.exitCode(1) != 0);
  CHECK(good.exitCode(0) == 1);
  INFO(good.out(0) << good.err(0) << bad.err(1));
  CHECK_THAT(good.err(0), Contains("process 1 on ") && Contains(words));
  CHECK_THAT(good.err(0), !Contains(kClean));
}

TEST_CASE("vsim-gpu-check on the stand-in as a plug-in: all passes, rows are written") {
  const Here here;
  const auto done =
      runProcess(VSIM_GPU_CHECK, {"--no-speed", "--json", here.file("checks.json")}, here.environment(2));
  INFO(done.out << done.err);
  CHECK(done.exitCode == 0);
  CHECK_THAT(done.err, !Contains(kClean));
  const Json json = here.json("checks.json");
  CHECK(json["failed"] == 0);
  CHECK(json["checks"].size() > 20);
}

TEST_CASE("vsim-device-conformance on one device: every system and option, to the last bit") {
  const Here here;
  const auto done =
      runProcess(VSIM_DEVICE_CONFORMANCE, {"--json", here.file("rows.json")}, here.environment(1));
  INFO(done.out << done.err);
  CHECK(done.exitCode == 0);
  CHECK_THAT(done.err, !Contains(kClean));
  const Json json = here.json("rows.json");
  CHECK(json["failed"] == 0);
  CHECK(json["rows"].size() == 1 + conformanceCases().size() * core::systems().size());
  CHECK(json["rows"][0]["case"] == "collectives of groups of one rank");
  for (const Json& row : json["rows"]) {
    CHECK(row["exact"] == true);
    CHECK(row["checked"] > 0);
  }
}

TEST_CASE("collectives by themselves: groups of one rank and of all devices, and what goes wrong is told") {
  const auto standIn = std::make_shared<StandIn>();
  ConformanceOptions options;
  options.devices = 4;
  const auto rows = checkCollectives(standIn, options);
  REQUIRE(rows.size() == 2);
  for (const ConformanceRow& row : rows) {
    INFO(row.name << ": " << fmt::format("{}", fmt::join(row.problems, "; ")));
    CHECK(row.problems.empty());
    CHECK(row.checked > 3 * 20 * 4 * 1000);
  }
  // All kinds twice in place, twice not, in three steps of four ranks, in groups of one and of four.
  CHECK(standIn->calls("allGather") == 2 * 4 * 3 * 4);
  CHECK(standIn->calls("broadcast") == 2 * 4 * 3 * 4);
  CHECK(standIn->calls("join") == 2 * 4);
  CHECK(standIn->calls("leave") == 2 * 4);
  CHECK(standIn->calls("registerBuffer") > 0);
  CHECK(fmt::format("{}", fmt::join(standIn->violations(), "; ")) == "");
  CHECK(fmt::format("{}", fmt::join(standIn->leaks(), "; ")) == "");

  // A library that moves nothing.
  struct Idle : StandIn {
    Status allReduce(const void*, void*, std::size_t, DType, core::ReduceOp, Comm, Stream) override {
      return {};
    }
  };
  options.devices = 1;
  const auto bad = checkCollectives(std::make_shared<Idle>(), options);
  REQUIRE(bad.size() == 1);
  INFO(fmt::format("{}", fmt::join(bad.front().problems, "; ")));
  REQUIRE(bad.front().problems.size() == 1);
  CHECK_THAT(bad.front().problems.front(), Contains("all_reduce of bf16, two buffers: element 0"));
}

TEST_CASE("vsim-device-conformance without a plug-in or device says what is missing") {
  const Here here;
  const auto none = runProcess(VSIM_DEVICE_CONFORMANCE, {}, here.environment(0));
  CHECK(none.exitCode == 1);
  CHECK_THAT(none.err, Contains("has no stand-in device"));
  const auto lost = runProcess(VSIM_DEVICE_CONFORMANCE, {here.file("libnothing.so")}, here.environment(1));
  CHECK(lost.exitCode == 1);
  CHECK_THAT(lost.err, Contains("cannot be loaded"));
  const auto broken = runProcess(VSIM_DEVICE_CONFORMANCE, {}, [&] {
    auto all = here.environment(1);
    all.emplace_back("VSIM_STAND_IN_FAULT=adamW");
    return all;
  }());
  CHECK(broken.exitCode == 1);
  CHECK_THAT(broken.out, Contains("FAILED") && Contains("unknown error (999)"));
}

TEST_CASE("tests/gpu/run: a budget that is none, a plug-in without devices, libraries that are not there") {
  const std::string script = VSIM_SOURCE_DIR "/tests/gpu/run";
  const auto run = [&](const std::vector<std::string>& arguments) { return runProcess(script, arguments); };
  for (const char* budget : {"5", "m", "0m", "1.2.3h", "-5m", "5d"}) {
    const auto done = run({"--budget", budget});
    INFO(budget << done.err);
    CHECK(done.exitCode == 2);
    CHECK_THAT(done.err, Contains("is no time"));
  }
  CHECK(run({"--plugin", VSIM_STAND_IN_FOLDER}).exitCode == 2);
  CHECK(run({"--gpus", "2"}).exitCode == 2);

  const TemporaryFolder package;
  std::filesystem::create_directories(package / "bin");
  std::filesystem::copy("/bin/true", package / "bin/vsim-gpu-check");
  std::filesystem::copy(VSIM_TEST_PLUGINS "/libvsim_test_needs_absent.so", package / "bin/libvsim_cuda.so");
  const auto lacks = run({"--prebuilt", package.path(), "--plugin", package / "bin", "--gpus", "1"});
  INFO(lacks.out << lacks.err);
  CHECK(lacks.exitCode == 1);
  CHECK_THAT(lacks.err, Contains("lacks libvsim_test_absent.so") && Contains("--with-cuda-libraries"));
  CHECK_FALSE(std::filesystem::exists(package / "results/gpu_checks.json"));
}

TEST_CASE("conformance cases fit on fewer devices, with the options that they are for") {
  for (const ConformanceCase& any : conformanceCases())
    for (const int devices : {1, 2, 3, 8}) {
      const ConformanceCase fitted = fittedTo(any, devices);
      INFO(any.name << " on " << devices);
      CHECK(fitted.ranks() <= devices);
      CHECK((fitted.name == any.name) == (any.ranks() <= devices));
      CHECK(fitted.options.parallel.expert <= fitted.options.parallel.fsdp);
      for (const auto& system : core::systems()) CHECK(programOf(*system, fitted)->step.size() > 10);
    }
}
