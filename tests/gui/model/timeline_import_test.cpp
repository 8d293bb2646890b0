#include <zlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "app/run.h"
#include "gui/model/exposed.h"
#include "gui/model/imported_timeline.h"
#include "traces/chrome_trace.h"

using namespace vsim;
using gui::SliceClass;

namespace {

core::Result<traces::ImportedTrace> read(const std::string& text) {
  return traces::importChromeTraceText(text, "trace.json");
}

std::string listOf(const std::string& events) { return "{\"traceEvents\":[" + events + "]}"; }

const std::string kOne = R"({"ph":"X","name":"a","pid":1,"tid":2,"ts":1.5,"dur":2.000001})";

}  // namespace

TEST_CASE("chrome import: our own traces come back slice by slice, to the picosecond") {
  const auto results = app::run({.scenario = "tiny", .keepLogs = true}, {});
  REQUIRE(results);
  const auto log = results->front().log;
  const traces::TraceSource source{"tiny", log.get()};
  auto trace = read(traces::chromeTrace(std::span(&source, 1)));
  REQUIRE(trace);
  CHECK(trace->unfinished == 0);
  const auto written = gui::timelineOf(log);
  const auto imported = gui::importedTimeline(std::move(*trace));
  CHECK(imported.notes.empty());
  const gui::TimelineData& back = *imported.data;
  CHECK(back.slices() == written->slices());
  CHECK(back.whole == written->whole);
  CHECK(back.steps.size() == log->ranks.front().stepEnd.size());
  REQUIRE(back.lanes.size() == written->lanes.size());
  for (std::size_t l = 0; l < back.lanes.size(); ++l) {
    CHECK(back.lanes[l].begin == written->lanes[l].begin);
    CHECK(back.lanes[l].end == written->lanes[l].end);
    CHECK(back.lanes[l].kind == written->lanes[l].kind);
    for (std::size_t i = 0; i < back.lanes[l].size(); i += 7)
      CHECK(back.sliceName(static_cast<std::int64_t>(l), static_cast<std::int64_t>(i)) ==
            written->sliceName(static_cast<std::int64_t>(l), static_cast<std::int64_t>(i)));
  }
}

TEST_CASE("chrome import: events of other profilers") {
  const auto trace = read(listOf(
      R"({"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"python","labels":{"name":"deep"}}},
         {"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7"}},
         {"ph":"X","cat":"kernel","name":"ampere_gemm","pid":0,"tid":7,"ts":1722160000000000.250,"dur":10,"args":{"grid":[1,2,{"name":"x"}],"device":0}},
         {"ph":"X","cat":"kernel","name":"ncclDevKernel_AllGather_RING_LL","pid":0,"tid":"20","ts":1722160000000005.25,"dur":20.5},
         {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":1722160000000012.250,"dur":1},
         {"ph":"i","name":"mark","ts":1722160000000000,"s":"g"},
         {"ph":"B","name":"outer","pid":1,"tid":1,"ts":1722160000000001},
         {"ph":"B","name":"inner","pid":1,"tid":1,"ts":1722160000000002},
         {"ph":"E","pid":1,"tid":1,"ts":1722160000000003},
         {"ph":"E","pid":1,"tid":1,"ts":1722160000000004},
         {"ph":"B","name":"never ends","pid":1,"tid":1,"ts":1722160000000004},
         {"ph":"E","pid":9,"tid":1,"ts":1722160000000004})"));
  REQUIRE(trace);
  CHECK(trace->otherEvents == 1);
  CHECK(trace->unfinished == 2);
  const auto imported = gui::importedTimeline(*trace);
  CHECK(imported.notes.size() == 1);
  const gui::TimelineData& data = *imported.data;
  REQUIRE(data.tracks.size() ==
          6);  // python: stream 7, thread 20; process 1: thread 1 and a row of inner calls
  CHECK(data.tracks[0].title == "python");
  CHECK(data.tracks[1].title == "stream 7");
  CHECK(data.tracks[1].compute);
  CHECK(data.tracks[2].communication);
  CHECK(data.tracks[5].title == "thread 1 (2)");
  const gui::LaneColumns& kernels = data.lanes[0];
  CHECK(kernels.begin[0] == 0);
  CHECK(kernels.end[0] == 10'000'000);
  CHECK(kernels.kind[0] == SliceClass::forward);
  CHECK(kernels.kind[1] == SliceClass::copy);
  CHECK(data.lanes[1].kind[0] == SliceClass::allGather);
  for (const std::size_t host : {2, 3}) CHECK(data.lanes[host].kind[0] == SliceClass::host);
  CHECK(data.lanes[1].begin[0] == 5'000'000);
  const auto exposed = gui::exposedOf(data);
  // 5 to 25.5 us, hidden until 10 and while the copy on the same stream (not a kernel of compute class) is
  // not.
  REQUIRE(exposed[0].steps.size() == 1);
  CHECK(exposed[0].steps[0].communication == 20'500'000);
}

TEST_CASE(
    "chrome import: overlapping events of a thread get rows of their own; too many are left out and said") {
  std::string events;
  for (int i = 0; i < 40; ++i)
    events += (i == 0 ? "" : ",") + std::string(R"({"ph":"X","name":"n","pid":0,"tid":0,"ts":)") +
              std::to_string(i) + R"(,"dur":1000})";
  const auto trace = read("[" + events + "]");
  REQUIRE(trace);
  const auto imported = gui::importedTimeline(*trace);
  CHECK(imported.data->lanes.size() == gui::kMaxRows);
  CHECK(imported.data->slices() == gui::kMaxRows);
  REQUIRE(imported.notes.size() == 1);
  CHECK(imported.notes[0].find("16 events") != std::string::npos);
  for (const gui::LaneColumns& lane : imported.data->lanes)
    for (std::size_t i = 1; i < lane.size(); ++i) CHECK(lane.begin[i] >= lane.end[i - 1]);
}

TEST_CASE("chrome import: what is no trace is an error that says why") {
  const auto error = [](const std::string& text) {
    const auto trace = read(text);
    return trace ? std::string() : trace.error().text();
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(error(""), Contains("cut off"));
  CHECK_THAT(error("hello"), Contains("byte"));
  CHECK_THAT(error(listOf(kOne).substr(0, 50)), Contains("cut off"));
  CHECK_THAT(error("{}"), Contains("no list of events"));
  CHECK_THAT(error("3"), Contains("no list of events"));
  CHECK_THAT(error(R"({"traceEvents":17})"), Contains("no list of events"));
  CHECK_THAT(error(listOf("")), Contains("no slices"));
  CHECK_THAT(error("[1,2,[3,{\"ph\":\"X\"}],null]"), Contains("no slices"));
  CHECK_THAT(error(listOf(R"({"ph":"X","name":"a","pid":1,"tid":2,"dur":2})")), Contains("\"ts\""));
  CHECK_THAT(error(listOf(R"({"ph":"X","name":"a","ts":"late","dur":2})")), Contains("\"ts\""));
  CHECK_THAT(error(listOf(R"({"ph":"X","name":"a","ts":1e300,"dur":2})")), Contains("1e300"));
  CHECK_THAT(error(listOf(R"({"ph":"X","name":"a","ts":1,"dur":-2})")), Contains("-2"));
  CHECK_THAT(error(listOf(R"({"ph":"X","name":"a","ts":1,"dur":[]})") + "x"), Contains("byte"));
  CHECK_THAT(error(listOf(R"({"ph":"X","name":"a","ts":1,"dur":1},{"ph":"X","name":"b","ts":9e14,"dur":1})")),
             Contains("100 days"));
  CHECK_THAT(error(listOf(R"({"ph":"B","name":"a","ts":5},{"ph":"E","ts":4})")), Contains("before"));
  CHECK(error(listOf(kOne)).empty());
  CHECK(error("[" + kOne + "]").empty());
  CHECK(error(std::string(200'000, '[') + std::string(200'000, ']')).find("no slices") != std::string::npos);
}

TEST_CASE("chrome import: files, plain and gzip, cut off, missing, cancelled") {
  const auto folder = std::filesystem::temp_directory_path() / "vsim_chrome_import_test";
  std::filesystem::create_directories(folder);
  std::string text = "[" + kOne;
  for (int i = 0; i < 20'000; ++i) text += ",\n" + kOne;
  text += "]";
  const std::string plain = folder / "a.json", packed = folder / "a.json.gz", cut = folder / "cut.json.gz";
  std::ofstream(plain) << text;
  const gzFile out = gzopen(packed.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  std::filesystem::copy_file(packed, cut, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(cut, std::filesystem::file_size(packed) / 2);
  for (const std::string& path : {plain, packed}) {
    const auto trace = traces::importChromeTrace(path);
    REQUIRE(trace);
    CHECK(trace->threads.at(0).slices.size() == 20'001);
    CHECK(trace->threads[0].slices[0].begin == 1'500'000);
    CHECK(trace->threads[0].slices[0].end == 3'500'001);
  }
  CHECK_FALSE(traces::importChromeTrace(cut));
  CHECK_FALSE(traces::importChromeTrace(folder / "none.json"));
  CHECK_FALSE(traces::importChromeTrace(folder));
  const auto cancelled = traces::importChromeTrace(plain, [] { return true; });
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().message == "cancelled");
  std::filesystem::remove_all(folder);
}
