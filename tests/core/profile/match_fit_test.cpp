#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "core/profile/collective_fit.h"
#include "core/profile/profile.h"

using namespace vsim::core;

namespace {

ProfiledCollective point(CollectiveKind kind, Bytes bytes, std::int64_t ranks, std::int64_t perNode,
                         double seconds) {
  ProfiledCollective p;
  p.kind = kind;
  p.bytes = bytes;
  p.ranks = ranks;
  p.ranksPerNode = perNode;
  p.seconds = seconds;
  return p;
}

double truth(CollectiveKind kind, Bytes bytes, std::int64_t ranks, std::int64_t perNode) {
  const auto f = linkFactors(kind, bytes, ranks, perNode);
  return f[0] * 3e-6 + f[1] * 40e-6 + f[2] / 330e9 + f[3] / 40e9;
}

}  // namespace

TEST_CASE("a measured point is taken as it is, its neighbourhood scaled", "[profile]") {
  Profile profile;
  profile.collectives = {point(CollectiveKind::allGather, 1'000'000, 64, 8, 1e-3),
                         point(CollectiveKind::allGather, 4'000'000, 64, 8, 2e-3)};
  profile.collectives[0].origin.provenance = Provenance::published;
  const auto match = [&](Bytes bytes, std::int64_t ranks = 64, std::int64_t perNode = 8) {
    return matchCollective(
        profile,
        {.kind = CollectiveKind::allGather, .bytes = bytes, .ranks = ranks, .ranksPerNode = perNode});
  };
  REQUIRE(match(1'000'000));
  CHECK(match(1'000'000)->time == picosecondsFromSeconds(1e-3));
  CHECK(match(1'000'000)->provenance == Provenance::published);
  CHECK(match(1'010'000)->time == picosecondsFromSeconds(1.01e-3));
  CHECK(match(2'000'000)->provenance == Provenance::fitted);
  CHECK(secondsFromPicoseconds(match(2'000'000)->time) == Approx(std::sqrt(2.0) * 1e-3));
  CHECK_FALSE(match(500'000));
  CHECK_FALSE(match(8'000'000));
  CHECK_FALSE(match(0));
  CHECK_FALSE(match(1'000'000, 32));
  CHECK_FALSE(match(1'000'000, 64, 4));
  profile.collectives[0].dtype = DType::fp32;
  CHECK_FALSE(match(1'000'000));
  CHECK_FALSE(matchCollective(profile, {.kind = CollectiveKind::reduceScatter,
                                        .bytes = 1'000'000,
                                        .ranks = 64,
                                        .ranksPerNode = 8,
                                        .dtype = DType::fp32}));
}

TEST_CASE("operations match by name and stated sizes", "[profile]") {
  Profile profile;
  ProfiledOperation copy;
  copy.name = "copy_out";
  copy.bytes = 1000;
  copy.seconds = 1e-6;
  ProfiledOperation gemm;
  gemm.name = "q_proj";
  gemm.m = 64;
  gemm.seconds = 2e-6;
  gemm.origin.provenance = Provenance::measured;
  profile.operations = {copy, gemm};
  Operation op;
  op.name = "copy_out";
  op.bytesRead = op.bytesWritten = 500;
  REQUIRE(matchOperation(profile, op));
  CHECK(matchOperation(profile, op)->time == 1'000'000);
  CHECK(matchOperation(profile, op)->provenance == Provenance::measured);
  op.bytesRead = op.bytesWritten = 2000;
  CHECK(matchOperation(profile, op)->time == 4'000'000);
  CHECK(matchOperation(profile, op)->provenance == Provenance::fitted);
  op.bytesRead = op.bytesWritten = 20'000;
  CHECK_FALSE(matchOperation(profile, op));
  op = {};
  op.kind = OpKind::gemm;
  op.name = "q_proj";
  op.m = 64;
  op.n = 128;
  op.count = 3;
  CHECK(matchOperation(profile, op)->time == 6'000'000);
  op.m = 65;
  CHECK_FALSE(matchOperation(profile, op));
}

TEST_CASE("the fit finds the terms behind exact points and carries them to larger groups", "[profile]") {
  for (const CollectiveKind kind : {CollectiveKind::allGather, CollectiveKind::reduceScatter,
                                    CollectiveKind::allReduce, CollectiveKind::allToAll}) {
    Profile profile;
    for (const auto& [ranks, perNode] :
         {std::pair{8, 8}, std::pair{16, 8}, std::pair{64, 8}, std::pair{8, 1}}) {
      for (const Bytes bytes : {1 << 20, 32 << 20, 1 << 30}) {
        profile.collectives.push_back(point(kind, bytes, ranks, perNode, truth(kind, bytes, ranks, perNode)));
      }
    }
    const auto fit = fitCollective(profile, kind);
    REQUIRE(fit);
    CHECK(fit->points == 12);
    CHECK(fit->value[0] == Approx(3e-6).epsilon(1e-6));
    CHECK(fit->value[1] == Approx(40e-6).epsilon(1e-6));
    CHECK(1 / fit->value[3] == Approx(40e9).epsilon(1e-6));
    const auto large = fit->predict(1 << 28, 1024, 8);
    REQUIRE(large);
    CHECK(large->seconds == Approx(truth(kind, 1 << 28, 1024, 8)).epsilon(1e-6));
  }
}

TEST_CASE("noise shows in the standard errors", "[profile]") {
  Profile profile;
  std::mt19937 random(7);
  std::normal_distribution<double> noise(1.0, 0.05);
  for (const int ranks : {16, 32, 64}) {
    for (Bytes bytes = 1 << 20; bytes <= Bytes{1} << 31; bytes *= 4) {
      profile.collectives.push_back(point(CollectiveKind::allGather, bytes, ranks, 8,
                                          truth(CollectiveKind::allGather, bytes, ranks, 8) * noise(random)));
    }
  }
  const auto fit = fitCollective(profile, CollectiveKind::allGather);
  REQUIRE(fit);
  const auto prediction = fit->predict(Bytes{1} << 30, 512, 8);
  REQUIRE(prediction);
  const double expected = truth(CollectiveKind::allGather, Bytes{1} << 30, 512, 8);
  CHECK(std::abs(prediction->seconds / expected - 1) < 0.1);
  CHECK(prediction->relativeError > 0.01);
  CHECK(prediction->relativeError < 0.3);
  CHECK_FALSE(fit->predict(1 << 20, 8, 8).has_value());  // nothing known inside one node
}

TEST_CASE("one point and stated latencies are enough for the same kind of group", "[profile]") {
  Profile profile;
  profile.collectives = {point(CollectiveKind::allGather, 6'400'000'000, 64, 8, 43.71e-3)};
  const auto term = [](LinkTerm which, double value) {
    ProfiledTerm t;
    t.term = which;
    t.value = value;
    return t;
  };
  profile.terms = {term(LinkTerm::intraNodeLatency, 3.4e-6), term(LinkTerm::interNodeLatency, 38e-6)};
  const auto fit = fitCollective(profile, CollectiveKind::allGather);
  REQUIRE(fit);
  CHECK(fit->predict(6'400'000'000, 64, 8)->seconds == Approx(43.71e-3));
  CHECK(fit->predict(6'400'000'000, 1024, 8)->seconds > 43.71e-3);
  CHECK(fit->predict(6'400'000'000, 64, 8)->relativeError > 0.04);
  CHECK_FALSE(fit->predict(1'000'000, 8, 8));
  CHECK_FALSE(fitCollective(Profile{}, CollectiveKind::allGather).has_value());
}

TEST_CASE("small messages tell nothing of the bandwidth of large ones", "[profile]") {
  Profile profile;
  for (const Bytes bytes : {Bytes{1} << 10, Bytes{1} << 16})
    profile.collectives.push_back(point(CollectiveKind::allGather, bytes, 8, 8, 60e-6));
  auto fit = fitCollective(profile, CollectiveKind::allGather);
  REQUIRE(fit);
  CHECK(fit->predict(Bytes{1} << 20, 8, 8));
  CHECK_FALSE(fit->predict((Bytes{1} << 20) + 16, 8, 8));
  CHECK_FALSE(fit->predict(Bytes{1} << 40, 8, 8));
  // A large message, or a stated bandwidth, carries any size.
  Profile large = profile;
  large.collectives.push_back(point(CollectiveKind::allGather, Bytes{4} << 20, 8, 8, 1e-3));
  CHECK(fitCollective(large, CollectiveKind::allGather)->predict(Bytes{1} << 34, 8, 8));
  ProfiledTerm stated;
  stated.term = LinkTerm::intraNodeBandwidth;
  stated.value = 1e11;
  profile.terms = {stated};
  CHECK(fitCollective(profile, CollectiveKind::allGather)->predict(Bytes{1} << 34, 8, 8));
}

TEST_CASE("messages of one size tell nothing of much smaller ones, unless the latency is stated",
          "[profile]") {
  Profile profile;
  profile.collectives = {point(CollectiveKind::reduceScatter, Bytes{1} << 30, 8, 8, 6e-3),
                         point(CollectiveKind::reduceScatter, Bytes{1} << 29, 8, 8, 3e-3)};
  const auto fit = fitCollective(profile, CollectiveKind::reduceScatter);
  REQUIRE(fit);
  CHECK(fit->predict(Bytes{1} << 28, 8, 8));
  CHECK_FALSE(fit->predict(Bytes{1} << 10, 8, 8));
  ProfiledTerm stated;
  stated.term = LinkTerm::intraNodeLatency;
  stated.value = 5e-6;
  profile.terms = {stated};
  const auto small = fitCollective(profile, CollectiveKind::reduceScatter)->predict(Bytes{1} << 10, 8, 8);
  REQUIRE(small);
  CHECK(small->seconds == Approx(7 * 5e-6).epsilon(0.01));
}

TEST_CASE("terms stay non-negative", "[profile]") {
  Profile profile;  // faster on more ranks: no latency explains that
  profile.collectives = {point(CollectiveKind::allGather, 1 << 20, 16, 8, 1e-3),
                         point(CollectiveKind::allGather, 1 << 20, 32, 8, 0.5e-3),
                         point(CollectiveKind::allGather, 1 << 28, 64, 8, 1e-2)};
  const auto fit = fitCollective(profile, CollectiveKind::allGather);
  REQUIRE(fit);
  for (const double value : fit->value) CHECK(value >= 0);
}
