#include <catch2/catch.hpp>
#include <random>

#include "core/profile/profile.h"
#include "tests/core/profile/random_profile.h"
#include "tests/folders.h"

using namespace vsim::core;

namespace {

const std::string kHead = "vsim_profile: 1\nsource: test\n";

Errors errorsOf(const std::string& text) {
  const auto profile = parseProfile(text, "p.yaml");
  return profile ? Errors{} : profile.error();
}

/// The only error of `body`, as text.
std::string onlyError(const std::string& body) {
  const Errors errors = errorsOf(kHead + body);
  return errors.size() == 1 ? errors[0].text() : text(errors) + fmt::format("[{} errors]", errors.size());
}

}  // namespace

TEST_CASE("a whole profile is read", "[profile]") {
  const auto profile = parseProfile(R"(
vsim_profile: 1
name: small
cluster: {gpu: H800-SXM, gpus: 64, gpus_per_node: 8}
source: paper
provenance: published
collectives:
  - {kind: all_gather, bytes: 6.4GB, ranks: 64, ranks_per_node: 8, dtype: bf16, time: 43.71ms}
  - {kind: reduce_scatter, bytes: 1GiB, ranks: 8, ranks_per_node: 8, bus_bandwidth: 300GB/s, provenance: measured, error: 0.02}
operations:
  - {name: copy_out, bytes: 12k, time: 5us, dtype: bf16}
terms:
  - {kind: all_gather, term: inter_node_latency, value: 38us, provenance: fitted}
  - {term: intra_node_bandwidth, value: 1600Gb/s}
)",
                                    "p.yaml");
  REQUIRE(profile.has_value());
  CHECK(profile->gpus == 64);
  REQUIRE(profile->collectives.size() == 2);
  CHECK(profile->collectives[0].bytes == 6'400'000'000);
  CHECK(profile->collectives[0].seconds == Approx(43.71e-3));
  CHECK(profile->collectives[0].origin.provenance == Provenance::published);
  CHECK(profile->collectives[0].origin.source == "paper");
  CHECK(profile->collectives[0].nodes() == 8);
  CHECK(profile->collectives[1].seconds == Approx((1 << 30) * 7.0 / 8 / 300e9));
  CHECK(profile->collectives[1].origin.relativeError == 0.02);
  CHECK(profile->operations[0].bytes == 12'000);
  CHECK(profile->terms[0].value == Approx(38e-6));
  CHECK(profile->terms[1].value == Approx(200e9));
  CHECK_FALSE(profile->terms[1].kind.has_value());
}

TEST_CASE("mistakes are told with their place", "[profile]") {
  CHECK(
      onlyError("collectives:\n  - {kind: all_gathr, bytes: 1k, ranks: 8, ranks_per_node: 8, time: 1us}\n") ==
      "p.yaml:4:12: unknown kind 'all_gathr' (did you mean 'all_gather'?)");
  CHECK(onlyError("colectives: []\n")
            .find("p.yaml:3:1: unknown key 'colectives' in the profile (did you mean "
                  "'collectives'?)") == 0);
  CHECK(onlyError("collectives:\n  - {kind: all_gather, bytes: -5, ranks: 8, ranks_per_node: 8, time: 1us}\n")
            .find("p.yaml:4:31: 'bytes' must be between 1 and") == 0);
  CHECK(
      onlyError("collectives:\n  - {kind: all_gather, bytes: 1e30, ranks: 8, ranks_per_node: 8, time: 1us}\n")
          .find("'bytes' must be") != std::string::npos);
  CHECK(
      onlyError("collectives:\n  - {kind: all_gather, bytes: 1k, ranks: 8, ranks_per_node: 16, time: 1us}\n")
          .find("'ranks_per_node' is larger than 'ranks'") != std::string::npos);
  CHECK(
      onlyError("collectives:\n  - {kind: all_gather, bytes: 1k, ranks: 8, ranks_per_node: 8, time: 5}\n") ==
      "p.yaml:4:70: 'time' must be a number with a unit, not '5' (for example 43.71ms)");
  CHECK(
      onlyError("collectives:\n  - {kind: all_gather, bytes: 1k, ranks: 8, ranks_per_node: 8, time: -5us}\n")
          .find("'time' must be positive") != std::string::npos);
  CHECK(onlyError("collectives:\n  - {kind: all_gather, bytes: 1k, ranks: 8, ranks_per_node: 8}\n")
            .find("either 'time' or 'bus_bandwidth'") != std::string::npos);
  CHECK(onlyError("collectives:\n  - {kind: all_gather, bytes: 1k, ranks: 8, ranks_per_node: 8, time: 1us, "
                  "bus_bandwidth: 1GB/s}\n")
            .find("either 'time' or 'bus_bandwidth'") != std::string::npos);
  CHECK(onlyError("collectives:\n  - [1, 2]\n").find("a collective must be a map") != std::string::npos);
  CHECK(onlyError("collectives: 3\n").find("'collectives' must be a list") != std::string::npos);
  CHECK(onlyError("operations:\n  - {name: a, time: 1us, dtype: bf17}\n").find("unknown dtype 'bf17'") !=
        std::string::npos);
  CHECK(onlyError("operations:\n  - {name: a, time: 1us, m: 1.5}\n").find("'m' must be a whole number") !=
        std::string::npos);
  CHECK(onlyError("operations:\n  - {name: a, time: 1us, error: 2}\n").find("fraction between 0 and 1") !=
        std::string::npos);
  CHECK(onlyError("operations:\n  - {time: 1us}\n").find("an operation needs 'name'") != std::string::npos);
  CHECK(onlyError("operations:\n  - {name: a, name: b, time: 1us}\n").find("'name' appears twice") !=
        std::string::npos);
  CHECK(onlyError("terms:\n  - {term: inter_node_latency, value: 5GB/s}\n").find("number with a unit") !=
        std::string::npos);
  CHECK(onlyError("terms:\n  - {term: latency, value: 5us}\n").find("unknown term 'latency'") !=
        std::string::npos);
  const std::string points = "operations:\n  - {name: a, time: 1us}\n";
  CHECK(onlyError("hardware: {clocks: {processors: 1.7}}\n" + points).find("number with a unit") !=
        std::string::npos);
  CHECK(onlyError("hardware: {clocks: {celsius: 70C}}\n" + points).find("'celsius' must be") !=
        std::string::npos);
  CHECK(onlyError("hardware: {clocks: {speed: 1GHz}}\n" + points).find("unknown key 'speed'") !=
        std::string::npos);
  CHECK(onlyError("hardware: {clocks: 5}\n" + points).find("clocks must be a map") != std::string::npos);
  CHECK(onlyError("name: x\n").find("holds no operation") != std::string::npos);
}

TEST_CASE("what calibration adds is read", "[profile]") {
  const auto profile = parseProfile(R"(
vsim_profile: 1
source: run
cluster: {gpu: NVIDIA H200, gpus: 16, gpus_per_node: 8, compute_capability: 90, sms: 132, memory: 140GiB, bf16_peak: 800TFLOP/s, hbm: 4.1TB/s, nvlink: 450GB/s, nics_per_node: 4, nic: 400Gb/s, fabric: clos}
hardware:
  executor: cuda
  device: "NVIDIA H200"
  started: 2026-11-30T12:00:00Z
  remark: "clocks throttled"
  versions: {driver: 580.65, nccl: "2.28.3"}
  clocks: {rated: 1980MHz, processors: 1.7 GHz, power: 650W, celsius: 70.5}
  measured: [node, nodes]
  missing: [racks]
host: {launch: 4.1us, call: 0.8us, driver_allocate: 210us, error: 0.1}
collectives:
  - {kind: all_gather, bytes: 9007199254740993, ranks: 8, ranks_per_node: 1, stride: 8, aligned: false, time: 1ms}
  - {kind: all_gather, bytes: 9007199254740993, ranks: 8, ranks_per_node: 1, stride: 8, aligned: true, time: 1ms}
  - {kind: all_gather, bytes: 9007199254740993, ranks: 8, ranks_per_node: 1, stride: 16, aligned: true, time: 1ms}
interference:
  - {kind: reduce_scatter, bytes: 64MiB, ranks: 16, ranks_per_node: 8, compute_slowdown: 0.12, stretch: 0, error: 0.2}
operations:
  - {name: a, kind: attention_backward, sequence: 4096, head_dim: 128, time: 1ms}
)",
                                    "p.yaml");
  INFO((profile ? std::string() : text(profile.error())));
  REQUIRE(profile.has_value());
  REQUIRE(profile->hardware.has_value());
  const ProfiledHardware& hardware = *profile->hardware;
  CHECK(hardware.executor == "cuda");
  CHECK(hardware.cluster.gpu.name == "NVIDIA H200");
  CHECK(hardware.cluster.gpu.memory == Bytes{140} << 30);
  CHECK(hardware.cluster.gpu.peakBf16 == 800e12);
  CHECK(hardware.cluster.gpusPerNode == 8);
  CHECK(hardware.cluster.nvlinkDomain == 8);
  CHECK(hardware.cluster.nvSwitch);
  CHECK(hardware.cluster.nicBytesPerSecond == 50e9);
  CHECK(hardware.cluster.fabric == FabricKind::clos);
  CHECK(hardware.versions ==
        std::vector<std::pair<std::string, std::string>>{{"driver", "580.65"}, {"nccl", "2.28.3"}});
  CHECK(hardware.clocks ==
        ProfiledClocks{.ratedHertz = 1.98e9, .processorHertz = 1.7e9, .powerWatts = 650, .celsius = 70.5});
  CHECK(hardware.missing == std::vector{Locality::racks});
  CHECK(profile->host->launch == 4.1e-6);
  CHECK(profile->host->origin.relativeError == 0.1);
  CHECK(profile->collectives[0].bytes == 9'007'199'254'740'993);
  CHECK_FALSE(profile->collectives[0].aligned);
  CHECK_FALSE(profile->collectives[0].anyAlignment);
  CHECK(profile->collectives[2].stride == 16);
  CHECK(profile->interference[0].computeSlowdown == 0.12);
  CHECK(profile->operations[0].kind == OpKind::attentionBackward);
}

TEST_CASE("an older file states no alignment and describes no hardware", "[profile]") {
  const auto profile = readProfile(std::string(VSIM_SOURCE_DIR) + "/traces/data/h800_64.yaml");
  REQUIRE(profile.has_value());
  CHECK_FALSE(profile->hardware.has_value());
  CHECK_FALSE(profile->host.has_value());
  for (const ProfiledCollective& point : profile->collectives) CHECK(point.anyAlignment);
}

TEST_CASE("mistakes in what calibration adds are told with their place", "[profile]") {
  const std::string gather =
      "collectives: [{kind: all_gather, bytes: 1k, ranks: 8, ranks_per_node: 8, time: 1us, ";
  CHECK(onlyError(gather + "aligned: maybe}]\n") ==
        "p.yaml:3:94: 'aligned' must be true or false, not 'maybe'");
  CHECK(onlyError(gather + "stride: 0}]\n").find("'stride' must be between 1 and") != std::string::npos);
  CHECK(onlyError("host: {launch: 5}\n").find("p.yaml:3:16: 'launch' must be a number with a unit") == 0);
  CHECK(onlyError("host: {launch: -5us}\n").find("'launch' must be positive") != std::string::npos);
  CHECK(onlyError("host: {launch: 61s}\n").find("'launch' must be below a minute") != std::string::npos);
  CHECK(onlyError("host: [1]\n").find("host must be a map") != std::string::npos);
  CHECK(onlyError("host: {lunch: 1us}\n").find("did you mean 'launch'?") != std::string::npos);
  const std::string entry = "interference: [{kind: all_gather, bytes: 1k, ranks: 8, ranks_per_node: 8, ";
  CHECK(onlyError(entry + "compute_slowdown: -1, stretch: 0}]\n").find("between 0 and 1000, not '-1'") !=
        std::string::npos);
  CHECK(onlyError(entry + "compute_slowdown: nan, stretch: 0}]\n").find("not 'nan'") != std::string::npos);
  CHECK(onlyError(entry + "compute_slowdown: 1}]\n").find("an interference needs 'stretch'") !=
        std::string::npos);
  CHECK(onlyError("hardware: {executor: [1]}\n").find("'executor' must be a text") != std::string::npos);
  CHECK(onlyError("hardware: {scale: 0}\n").find("above 0 and at most 1") != std::string::npos);
  CHECK(onlyError("hardware: {measured: [nod]}\n").find("did you mean 'node'?") != std::string::npos);
  CHECK(onlyError("hardware: {measured: [node, node]}\n").find("'node' appears twice in 'measured'") !=
        std::string::npos);
  CHECK(onlyError("hardware: {measured: [node], missing: [node]}\n").find("both measured and missing") !=
        std::string::npos);
  CHECK(onlyError("hardware: {measured: node}\n").find("'measured' must be a list") != std::string::npos);
  CHECK(onlyError("hardware: {versions: [1]}\n").find("'versions' must be a map") != std::string::npos);
  CHECK(onlyError("hardware: {versions: {a: [1]}}\n").find("'versions' must be a map of texts") !=
        std::string::npos);
  CHECK(onlyError("hardware: {versions: {a: 1, a: 2}}\n").find("'a' appears twice in versions") !=
        std::string::npos);
  CHECK(onlyError("cluster: {gpu: x, hbm: 3}\n").find("'hbm' must be a number with a unit") !=
        std::string::npos);
  CHECK(onlyError("cluster: {gpu: x, bf16_peak: 3GB/s}\n").find("for example 989TFLOP/s") !=
        std::string::npos);
  CHECK(onlyError("cluster: {sms: 1e7}\n").find("'sms' must be between 1 and") != std::string::npos);
  CHECK(onlyError("cluster: {fabric: close}\n").find("did you mean 'clos'?") != std::string::npos);
  CHECK(onlyError("cluster: {sms: 1, gpus_per_node: 100000}\n").find("'gpus_per_node' must be between") !=
        std::string::npos);
  CHECK(onlyError("operations: [{name: a, kind: gem, time: 1us}]\n").find("did you mean 'gemm'?") !=
        std::string::npos);
}

TEST_CASE("random bytes in a written profile end in a profile or in errors, never in anything else",
          "[profile]") {
  std::mt19937 random(3);
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const std::string good = profileText(vsim::test::RandomProfile(seed).make());
    for (int i = 0; i < 10; ++i) {
      std::string bad = good;
      for (int changes = 0; changes < 3; ++changes) {
        const std::size_t at = random() % bad.size();
        switch (random() % 3) {
          case 0:
            bad[at] = static_cast<char>(random() % 256);
            break;
          case 1:
            bad.erase(at, random() % 20);
            break;
          default:
            bad.insert(at, bad.substr(random() % bad.size(), random() % 20));
        }
      }
      const auto profile = parseProfile(bad, "p.yaml");
      if (profile) {
        CHECK(parseProfile(profileText(*profile), "p.yaml").has_value());
      } else {
        CHECK_FALSE(profile.error().empty());
      }
    }
  }
}

TEST_CASE("the same point twice is refused", "[profile]") {
  CHECK(onlyError("collectives:\n  - {kind: all_gather, bytes: 1k, ranks: 8, ranks_per_node: 8, time: 1us}\n"
                  "  - {kind: all_gather, bytes: 1000, ranks: 8, ranks_per_node: 8, time: 2us}\n") ==
        "p.yaml:5:1: all_gather of 1000 bytes on 8 ranks appears twice");
  CHECK(onlyError("operations: [{name: a, time: 1us}, {name: a, time: 2us}]\n").find("appears twice") !=
        std::string::npos);
}

TEST_CASE("all mistakes are told at once", "[profile]") {
  const Errors errors = errorsOf(
      "vsim_profile: 2\ncolour: red\ncollectives:\n  - {kind: gather, bytes: 0, ranks: 1, ranks_per_node: 0, "
      "time: 1}\n");
  CHECK(errors.size() == 8);  // version, key, kind, bytes, ranks, ranks_per_node, time, source
}

TEST_CASE("hostile files end in an error", "[profile]") {
  CHECK(errorsOf("").size() == 1);
  CHECK(errorsOf("\n# nothing\n")[0].message == "the profile is empty");
  CHECK(errorsOf("{").size() == 1);
  CHECK(errorsOf("a: &a [*a]\n").size() >= 1);
  CHECK(errorsOf("- 1\n- 2\n").size() == 1);
  CHECK(errorsOf("? [1, 2]\n: 3\n").size() >= 1);
  CHECK(errorsOf(std::string(100'000, '[')).size() == 1);
  CHECK(errorsOf(std::string(20 << 20, 'x'))[0].message.find("at most") != std::string::npos);
  std::string binary;
  for (int i = 0; i < 4096; ++i) binary += static_cast<char>(i * 37 % 256);
  CHECK_FALSE(errorsOf(binary).empty());
  std::string many = kHead + "operations:\n";
  for (int i = 0; i < 5000; ++i) many += "  - {nme: a}\n";
  CHECK(errorsOf(many).size() == 100);
  const auto missing = readProfile("/nonexistent/p.yaml");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error()[0].message.find("No such file") != std::string::npos);
  CHECK_FALSE(readProfile("/").has_value());
}
