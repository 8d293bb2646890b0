#include "traces/chrome_trace.h"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/sample_log.h"
#include "traces/slice_text.h"

namespace vsim::traces {
namespace {

using Json = nlohmann::json;

Json traceOf(const core::ExecutionLog& log, const std::string& title = "vescale") {
  const TraceSource source{title, &log};
  return Json::parse(chromeTrace({&source, 1}));
}

}  // namespace

TEST_CASE("The trace holds every slice with its exact times") {
  const core::ExecutionLog log = test::sampleLog();
  const Json trace = traceOf(log);
  std::vector<Json> slices;
  for (const Json& event : trace.at("traceEvents"))
    if (event.at("ph") == "X" && event.at("cat") != "step") slices.push_back(event);
  const auto& expected = log.ranks[0].slices;
  REQUIRE(slices.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(slices[i].at("name") == sliceName(*log.program, expected[i].instruction));
    CHECK(slices[i].at("ts").get<double>() == Approx(static_cast<double>(expected[i].begin) * 1e-6));
    CHECK(slices[i].at("dur").get<double>() ==
          Approx(static_cast<double>(expected[i].end - expected[i].begin) * 1e-6));
    CHECK(slices[i].at("tid") == expected[i].stream + 1);
    CHECK(slices[i].at("args").at("provenance") == std::string(core::name(expected[i].provenance)));
    CHECK(slices[i].at("args").at("bytes") == sliceBytes(*log.program, expected[i].instruction));
    CHECK(slices[i].at("args").at("unit") == "L1");
  }
}

TEST_CASE("Streams, ranks and steps are named") {
  const Json trace = traceOf(test::sampleLog());
  std::map<int, std::string> threads;
  std::string process;
  int steps = 0;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M" && event.at("name") == "thread_name")
      threads[event.at("tid").get<int>()] = event.at("args").at("name");
    if (event.at("ph") == "M" && event.at("name") == "process_name") process = event.at("args").at("name");
    if (event.at("ph") == "X" && event.at("cat") == "step") ++steps;
  }
  CHECK(threads ==
        std::map<int, std::string>{{0, "steps"}, {1, "stream default"}, {2, "stream AG"}, {3, "stream RS"}});
  CHECK(process == "vescale: all (8 ranks, first 0)");
  CHECK(steps == 2);
}

TEST_CASE("The memory counter follows the log") {
  const core::ExecutionLog log = test::sampleLog();
  const Json trace = traceOf(log);
  std::vector<core::Bytes> allocated;
  for (const Json& event : trace.at("traceEvents"))
    if (event.at("ph") == "C") allocated.push_back(event.at("args").at("allocated").get<core::Bytes>());
  std::vector<core::Bytes> expected;
  for (const core::MemoryEvent& event : log.ranks[0].memory) expected.push_back(event.allocated);
  CHECK(allocated == expected);
}

TEST_CASE("Arrows lead from what is waited for to what waits, with ids of their own") {
  const core::ExecutionLog log = test::sampleLog();
  const std::vector<TraceSource> sources{{"a", &log}, {"b", &log}};
  const Json trace = Json::parse(chromeTrace(sources));
  std::map<int, Json> starts, ends;
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "s") CHECK(starts.emplace(event.at("id").get<int>(), event).second);
    if (event.at("ph") == "f") CHECK(ends.emplace(event.at("id").get<int>(), event).second);
  }
  REQUIRE(starts.size() == 8);  // per step: all-gather to forward, cast to optimizer; two steps, two logs
  REQUIRE(ends.size() == starts.size());
  for (const auto& [id, start] : starts) {
    CHECK(start.at("tid") != ends.at(id).at("tid"));
    CHECK(start.at("pid") == ends.at(id).at("pid"));
    CHECK(start.at("ts").get<double>() <= ends.at(id).at("ts").get<double>());
  }
}

TEST_CASE("Names with quotes, controls and broken UTF-8 still make valid JSON") {
  core::ExecutionLog log = test::sampleLog();
  auto program = *log.program;
  program.operations[0].name = "a\"b\\c\n\x01\xff";
  program.streams[1] = "\"";
  log.program = std::make_shared<const core::StepProgram>(program);
  CHECK_NOTHROW(traceOf(log, "\"\xc3"));
}

TEST_CASE("A trace without logs is valid") { CHECK(Json::parse(chromeTrace({})).at("traceEvents").empty()); }

}  // namespace vsim::traces
