#include "traces/checkpoint.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/random_sharding.h"
#include "tests/support/temporary_folder.h"

namespace vsim::traces {
namespace {

using core::DType;
using core::Placement;
using core::RaggedShard;
using core::Replicate;
using core::Shard;
using core::Sharding;
using test::meshOf;
using test::TemporaryFolder;
using Bytes = std::vector<std::byte>;
using Json = nlohmann::json;
using Shape = std::vector<std::int64_t>;

Sharding sharding(const Shape& mesh, const Shape& shape, std::vector<Placement> placements) {
  auto made = Sharding::make(meshOf(mesh), shape, std::move(placements));
  REQUIRE(made);
  return *made;
}
RaggedShard ragged(std::vector<int> dims, Shape units) {
  auto made = RaggedShard::make(std::move(dims), std::move(units));
  REQUIRE(made);
  return *made;
}

Bytes randomBytes(std::mt19937& random, std::size_t count) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 255);
  return bytes;
}

// The bytes that a rank holds of a whole tensor, straight from the definition.
Bytes localBytes(const CheckpointTensor& tensor, const Bytes& whole, std::int64_t rank) {
  const std::int64_t size = core::bytesOf(tensor.dtype);
  Bytes local;
  for (const std::int64_t at : test::globalPositions(tensor.sharding, rank))
    local.insert(local.end(), whole.begin() + at * size, whole.begin() + (at + 1) * size);
  return local;
}

core::Result<void> saveRank(const std::string& folder, const std::vector<CheckpointTensor>& tensors,
                            const std::vector<Bytes>& whole, std::int64_t rank,
                            const std::string& label = "a") {
  std::vector<Bytes> local;
  for (std::size_t t = 0; t < tensors.size(); ++t) local.push_back(localBytes(tensors[t], whole[t], rank));
  const std::vector<std::span<const std::byte>> views(local.begin(), local.end());
  return saveCheckpointRank(folder, label, rank, tensors, views);
}

void save(const std::string& folder, const std::vector<CheckpointTensor>& tensors,
          const std::vector<Bytes>& whole) {
  for (std::int64_t rank = 0; rank < tensors.front().sharding.mesh().ranks(); ++rank)
    REQUIRE(saveRank(folder, tensors, whole, rank));
  const auto saved = saveCheckpointIndex(folder, "a", tensors);
  INFO((saved ? "" : saved.error().text()));
  REQUIRE(saved);
}

void checkLoads(Checkpoint& checkpoint, const CheckpointTensor& wanted, const Bytes& whole) {
  for (std::int64_t rank = 0; rank < wanted.sharding.mesh().ranks(); ++rank) {
    const std::int64_t before = checkpoint.bytesLoaded();
    const auto local = checkpoint.load(wanted, rank);
    INFO((local ? "" : local.error().text()));
    REQUIRE(local);
    CHECK(*local == localBytes(wanted, whole, rank));
    CHECK(checkpoint.bytesLoaded() - before == static_cast<std::int64_t>(local->size()));
  }
}

// A checkpoint of one tensor of eight rows on two ranks.
struct Small {
  TemporaryFolder folder;
  std::vector<CheckpointTensor> tensors{{"w", DType::fp32, sharding({2}, {8, 4}, {ragged({0}, {1, 3})})}};
  std::vector<Bytes> whole;
  Small() {
    std::mt19937 random(11);
    whole = {randomBytes(random, 128)};
    save(folder.path(), tensors, whole);
  }
  [[nodiscard]] std::string index() const { return folder / kCheckpointIndexFile; }
  [[nodiscard]] std::string rankFile(int rank) const { return folder / checkpointRankFile(rank); }
  void changeIndex(const std::function<void(Json&)>& change) const {
    Json json = Json::parse(test::readFile(index()));
    change(json);
    test::writeFile(index(), json.dump());
  }
  void changeHeader(const std::function<void(Json&)>& change) const {
    const std::string text = test::readFile(rankFile(1));
    std::uint64_t length = 0;
    std::memcpy(&length, text.data(), 8);
    Json json = Json::parse(text.substr(8, length));
    change(json);
    const std::string header = json.dump();
    length = header.size();
    std::string prefix(8, '\0');
    std::memcpy(prefix.data(), &length, 8);
    test::writeFile(rankFile(1), prefix + header + text.substr(text.size() - 96));
  }
  // The first error of opening and loading everything.
  [[nodiscard]] core::Error error() const {
    auto checkpoint = Checkpoint::open(folder.path());
    if (!checkpoint) return checkpoint.error();
    for (std::int64_t rank = 0; rank < 2; ++rank)
      if (const auto local = checkpoint->load(tensors[0], rank); !local) return local.error();
    return {};
  }
  void refused(const std::string& file, const std::string& what) const {
    const core::Error found = error();
    CHECK(found.file == file);
    CHECK_THAT(found.message, Catch::Contains(what));
  }
};

}  // namespace

TEST_CASE("checkpoint: rows of the box lists load in any other placement of the same shape") {
  std::mt19937 random(8);
  const Shape small{2, 64}, four{5, 3, 6, 7};
  const std::vector<std::pair<Shape, Placement>> rows{{small, ragged({0, 1}, {21, 21, 22, 0})},
                                                      {small, ragged({0, 1}, {1, 1, 1, 1})},
                                                      {small, ragged({0}, {1, 1, 0, 0})},
                                                      {small, ragged({}, {0, 1, 0, 0})},
                                                      {small, ragged({}, {0, 0, 0, 1})},
                                                      {small, Replicate{}},
                                                      {small, Shard{1}},
                                                      {four, ragged({0, 1}, {3, 7, 4, 1})},
                                                      {four, ragged({0, 1}, {5, 3, 7, 0})},
                                                      {four, ragged({0, 1, 2}, {43, 23, 7, 17})},
                                                      {four, ragged({0, 1, 2, 3}, {17, 13, 31, 2})},
                                                      {four, Replicate{}},
                                                      {four, Shard{2}}};
  for (const auto& [shape, from] : rows) {
    const auto elements = static_cast<std::size_t>(test::elementsOf(shape));
    // On four ranks; with dimension 0 doubled and an inner Shard(0); with dimension 1 doubled and Shard(1).
    const auto variants = [](Shape s, const Placement& placement) {
      std::vector<CheckpointTensor> tensors{{"t", DType::bf16, sharding({4}, s, {placement})}};
      for (const int d : {0, 1}) {
        Shape doubled = s;
        doubled[static_cast<std::size_t>(d)] *= 2;
        if (placement == Placement{Shard{d}}) continue;
        tensors.push_back({"t", DType::bf16, sharding({4, 2}, doubled, {placement, Shard{d}})});
        if (const auto* plain = std::get_if<RaggedShard>(&placement); plain && d == 0)
          tensors.push_back(
              {"t", DType::bf16, sharding({4, 2}, doubled, {core::StridedRaggedShard{*plain, 2}, Shard{0}})});
      }
      return tensors;
    };
    for (const CheckpointTensor& tensor : variants(shape, from)) {
      const Bytes whole = randomBytes(random, elements * 4);
      TemporaryFolder folder;
      save(folder.path(), {tensor}, {whole});
      auto checkpoint = Checkpoint::open(folder.path());
      REQUIRE(checkpoint);
      for (const auto& [other, to] : rows)
        if (other == shape)
          for (const CheckpointTensor& wanted : variants(shape, to))
            if (wanted.sharding.shape() == tensor.sharding.shape()) checkLoads(*checkpoint, wanted, whole);
    }
  }
}

TEST_CASE("checkpoint: every distinct division of twelve parts saves and loads") {
  std::mt19937 random(9);
  const Shape shape{2, 3, 2, 7};
  const Bytes whole = randomBytes(random, 84 * 4);
  const CheckpointTensor replicated{"t", DType::fp32, sharding({1}, shape, {Replicate{}})};
  std::vector<Shape> divisions;
  for (std::int64_t a = 0; a <= 12; ++a)
    for (std::int64_t b = 0; a + b <= 12; ++b)
      for (std::int64_t c = 0; a + b + c <= 12; ++c) {
        const std::int64_t d = 12 - a - b - c;
        if (std::set<std::int64_t>{a, b, c, d}.size() == 4) divisions.push_back({a, b, c, d});
      }
  CHECK(divisions.size() == 216);
  for (std::size_t i = 0; i < divisions.size(); ++i) {
    TemporaryFolder folder;
    const CheckpointTensor tensor{"t", DType::fp32, sharding({4}, shape, {ragged({0, 1, 2}, divisions[i])})};
    save(folder.path(), {tensor}, {whole});
    auto checkpoint = Checkpoint::open(folder.path());
    REQUIRE(checkpoint);
    checkLoads(*checkpoint, replicated, whole);
    const auto& next = divisions[(i + 1) % divisions.size()];
    checkLoads(*checkpoint, {"t", DType::fp32, sharding({4}, shape, {ragged({0, 1, 2}, next)})}, whole);
  }
}

TEST_CASE("checkpoint: any tensors, world sizes and placements, bit for bit") {
  std::mt19937 random(10);
  const DType dtypes[] = {DType::fp32, DType::bf16, DType::fp8, DType::int64};
  for (int trial = 0; trial < 60; ++trial) {
    const auto mesh = test::randomMesh(random, 3, 3), other = test::randomMesh(random, 3, 4);
    std::vector<CheckpointTensor> tensors, wanted;
    std::vector<Bytes> whole;
    for (std::size_t t = 0, n = 1 + random() % 3; t < n; ++t) {
      const auto shape = test::randomShape(random, 4, 8);
      const std::string name = "layers." + std::to_string(t) + ".weight";
      const DType dtype = dtypes[random() % std::size(dtypes)];
      tensors.push_back({name, dtype, test::randomSharding(random, mesh, shape, test::Partials::none)});
      wanted.push_back({name, dtype, test::randomSharding(random, other, shape, test::Partials::none)});
      whole.push_back(
          randomBytes(random, static_cast<std::size_t>(test::elementsOf(shape) * core::bytesOf(dtype))));
    }
    TemporaryFolder folder;
    save(folder / "step", tensors, whole);
    CHECK(std::distance(std::filesystem::directory_iterator(folder / "step"), {}) == mesh.ranks() + 1);
    auto checkpoint = Checkpoint::open(folder / "step");
    REQUIRE(checkpoint);
    CHECK(checkpoint->ranks() == mesh.ranks());
    CHECK(checkpoint->label() == "a");
    CHECK(checkpoint->tensors().size() == tensors.size());
    for (std::size_t t = 0; t < tensors.size(); ++t) checkLoads(*checkpoint, wanted[t], whole[t]);
  }
}

TEST_CASE("checkpoint: a loading rank needs only the files with its part") {
  Small small;
  std::filesystem::remove(small.rankFile(1));
  auto checkpoint = Checkpoint::open(small.folder.path());
  REQUIRE(checkpoint);
  CHECK(checkpoint->load(small.tensors[0], 0));
  CHECK(checkpoint->bytesLoaded() == 32);
  const CheckpointTensor first{"w", DType::fp32, sharding({8}, {8, 4}, {Shard{0}})};
  CHECK(checkpoint->load(first, 1));
  CHECK(checkpoint->bytesLoaded() == 48);
  const auto missing = checkpoint->load(first, 2);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().file == small.rankFile(1));
  CHECK_THAT(missing.error().message, Catch::Contains("No such file"));
}

TEST_CASE("checkpoint: narrow columns are read in pieces") {
  std::mt19937 random(12);
  const Shape shape{3000, 9, 5};
  const Bytes whole = randomBytes(random, 3000 * 45 * 4);
  TemporaryFolder folder;
  save(folder.path(), {{"t", DType::fp32, sharding({2}, shape, {Shard{0}})}}, {whole});
  auto checkpoint = Checkpoint::open(folder.path());
  REQUIRE(checkpoint);
  checkLoads(*checkpoint, {"t", DType::fp32, sharding({3}, shape, {Shard{1}})}, whole);
  checkLoads(*checkpoint, {"t", DType::fp32, sharding({2, 5}, shape, {Shard{0}, Shard{2}})}, whole);
}

TEST_CASE("checkpoint: rank files are safetensors files") {
  Small small;
  const std::string text = test::readFile(small.rankFile(1));
  std::uint64_t length = 0;
  std::memcpy(&length, text.data(), 8);
  CHECK((8 + length) % 8 == 0);
  CHECK(text.size() == 8 + length + 96);
  const Json header = Json::parse(text.substr(8, length));
  CHECK(header["w@2,0"] == Json{{"dtype", "F32"}, {"shape", {6, 4}}, {"data_offsets", {0, 96}}});
  for (const auto& [key, value] : header["__metadata__"].items()) CHECK(value.is_string());
  CHECK(std::memcmp(text.data() + 8 + length, small.whole[0].data() + 32, 96) == 0);
}

TEST_CASE("checkpoint: what cannot be saved is refused and leaves nothing") {
  Small small;
  TemporaryFolder folder;
  const auto& [name, dtype, placed] = small.tensors[0];
  const auto refused = [&](const std::vector<CheckpointTensor>& tensors, const std::string& what) {
    std::vector<Bytes> whole(tensors.size(), small.whole[0]);
    const auto saved = saveRank(folder / "new", tensors, whole, 0),
               index = saveCheckpointIndex(folder / "new", "a", tensors);
    REQUIRE_FALSE(saved);
    REQUIRE_FALSE(index);
    CHECK(saved.error().file == folder / "new");
    CHECK_THAT(saved.error().message, Catch::Contains(what));
    CHECK(std::filesystem::is_empty(folder.path()));
  };
  for (const std::string bad : {"", "../w", "a/../../w", "/etc/w", "..", "a\\b", "a\nb", "__metadata__"})
    refused({{bad, dtype, placed}}, "name");
  refused({}, "without tensors");
  refused({small.tensors[0], small.tensors[0]}, "twice");
  refused({{"w", dtype, sharding({2}, {8, 4}, {core::Partial{}})}}, "Partial");
  refused({small.tensors[0], {"v", dtype, sharding({1}, {8, 4}, {Replicate{}})}}, "on 1 ranks, others on 2");
  refused({{"w", dtype, sharding({2}, Shape(9, 1), {Replicate{}})}}, "dimensions");

  CHECK_FALSE(saveRank(folder / "new", small.tensors, small.whole, 2));
  const std::span<const std::byte> shortLocal(small.whole[0].data(), 31);
  CHECK_FALSE(saveCheckpointRank(folder / "new", "a", 0, small.tensors, std::span(&shortLocal, 1)));
  CHECK_FALSE(saveCheckpointRank(folder / "new", "a", 0, small.tensors, {}));
  CHECK(std::filesystem::is_empty(folder.path()));
  // A name and a label that are no text.
  CHECK_FALSE(saveRank(folder / "new", {{"w\xff", dtype, placed}}, small.whole, 0));
  CHECK_FALSE(saveRank(folder / "new", small.tensors, small.whole, 0, "\xff"));
  CHECK_FALSE(std::filesystem::exists(folder / "new"));
  test::writeFile(folder / "file", "");
  CHECK_FALSE(saveRank(folder / "file", small.tensors, small.whole, 0));
  // A checkpoint is never overwritten.
  const auto again = saveRank(small.folder.path(), small.tensors, small.whole, 0);
  REQUIRE_FALSE(again);
  CHECK_THAT(again.error().message, Catch::Contains("already"));
  CHECK(small.error().message.empty());
}

TEST_CASE("checkpoint: it is complete only once every rank has saved the same state") {
  Small small;
  TemporaryFolder folder;
  REQUIRE(saveRank(folder.path(), small.tensors, small.whole, 0));
  const auto early = saveCheckpointIndex(folder.path(), "a", small.tensors);
  REQUIRE_FALSE(early);
  CHECK(early.error().file == folder / checkpointRankFile(1));
  CHECK_FALSE(Checkpoint::open(folder.path()));
  REQUIRE(saveRank(folder.path(), small.tensors, small.whole, 1, "b"));
  const auto mixed = saveCheckpointIndex(folder.path(), "a", small.tensors);
  REQUIRE_FALSE(mixed);
  CHECK_THAT(mixed.error().message, Catch::Contains("not what this rank would save"));
  REQUIRE(saveRank(folder.path(), small.tensors, small.whole, 1));
  CHECK(saveCheckpointIndex(folder.path(), "a", small.tensors));
}

TEST_CASE("checkpoint: wrong requests are refused") {
  Small small;
  auto checkpoint = Checkpoint::open(small.folder.path());
  REQUIRE(checkpoint);
  const auto refused = [&](const CheckpointTensor& wanted, std::int64_t rank, const std::string& what) {
    const auto local = checkpoint->load(wanted, rank);
    REQUIRE_FALSE(local);
    CHECK(local.error().file == small.index());
    CHECK_THAT(local.error().message, Catch::Contains(what));
  };
  const Sharding placed = small.tensors[0].sharding;
  refused({"v", DType::fp32, placed}, 0, "not in this checkpoint");
  refused({"w", DType::int32, placed}, 0, "saved as fp32, wanted as int32");
  refused({"w", DType::fp32, sharding({2}, {4, 8}, {Replicate{}})}, 0, "saved with shape (8, 4)");
  refused({"w", DType::fp32, placed}, 2, "rank 2 of 2");
  refused({"w", DType::fp32, sharding({2}, {8, 4}, {core::Partial{}})}, 0, "summands");
  const auto none = Checkpoint::open(small.folder / "none");
  REQUIRE_FALSE(none);
  CHECK(none.error().file == small.folder / "none/checkpoint.json");
}

TEST_CASE("checkpoint: a hostile index is refused with what is wrong") {
  const auto refused = [](const std::string& what, const std::function<void(Json&)>& change) {
    Small small;
    small.changeIndex(change);
    INFO(what);
    small.refused(small.index(), what);
  };
  const auto box = [](Json& json) -> Json& { return json["tensors"]["w"]["boxes"][1]; };
  refused("not the index", [](Json& json) { json = 3; });
  refused("not the index", [](Json& json) { json["format"] = "other"; });
  refused("version 2", [](Json& json) { json["version"] = 2; });
  refused("without a version", [](Json& json) { json["version"] = "1"; });
  refused("without a label", [](Json& json) { json.erase("label"); });
  refused("without files", [](Json& json) { json["files"] = Json::array(); });
  for (const char* name : {"../rank-00001.safetensors", "/etc/passwd", "..", "", "a/b", "a\\b"})
    refused("does not name a file", [&](Json& json) { json["files"][1] = name; });
  refused("does not name a file", [](Json& json) { json["files"][1] = 7; });
  refused("twice", [](Json& json) { json["files"][1] = json["files"][0]; });
  refused("looks like a path", [](Json& json) { json["tensors"]["../w"] = json["tensors"]["w"]; });
  refused("unknown dtype", [](Json& json) { json["tensors"]["w"]["dtype"] = "F33"; });
  for (const Json& size : {Json("NaN"), Json(-8), Json(8.0), Json(1.5), Json(nullptr), Json(1ull << 63)})
    refused("shape that is no list of sizes", [&](Json& json) { json["tensors"]["w"]["shape"][0] = size; });
  refused("more than 2^63 bytes", [](Json& json) {
    json["tensors"]["w"]["shape"] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  });
  refused("more than 8 dimensions", [](Json& json) { json["tensors"]["w"]["shape"] = Shape(9, 1); });
  refused("do not cover", [](Json& json) { json["tensors"]["w"]["boxes"].erase(0); });
  refused("overlap", [&](Json& json) { box(json)["offset"][0] = 1; });
  refused("outside", [&](Json& json) { box(json)["offset"][0] = 3; });
  refused("outside", [&](Json& json) { box(json)["offset"][0] = std::int64_t{1} << 62; });
  refused("empty", [&](Json& json) { box(json)["size"][0] = 0; });
  refused("outside", [&](Json& json) { box(json)["size"] = {6}; });
  refused("no list of sizes", [&](Json& json) { box(json)["size"] = "6"; });
  refused("unknown file", [&](Json& json) { box(json)["file"] = 2; });
  refused("serves two boxes", [&](Json& json) {
    json["tensors"]["w"]["boxes"][0]["file"] = 1;
    json["tensors"]["w"]["boxes"][0]["entry"] = box(json)["entry"];
  });
  Small small;
  const std::string text = test::readFile(small.index());
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    test::writeFile(small.index(), text.substr(0, length));
    small.refused(small.index(), "not valid JSON");
  }
  test::writeFile(small.index(), std::string(1'000'000, '['));
  small.refused(small.index(), "nested");
  test::writeFile(small.index(), R"({"format": "vsim-checkpoint", "format": "vsim-checkpoint"})");
  small.refused(small.index(), "key 'format' twice");
  test::writeFile(small.index(), "{\n \"format\": NaN}");
  CHECK(small.error().line == 2);
}

TEST_CASE("checkpoint: hostile rank files are refused with what is wrong") {
  const auto refused = [](const std::string& what, const std::function<void(Json&)>& change) {
    Small small;
    small.changeHeader(change);
    INFO(what);
    small.refused(small.rankFile(1), what);
  };
  const auto entry = [](Json& json) -> Json& { return json["w@2,0"]; };
  refused("is I32, the index says F32", [&](Json& json) { entry(json)["dtype"] = "I32"; });
  refused("unknown dtype", [&](Json& json) { entry(json)["dtype"] = 4; });
  refused("has shape (4, 6)", [&](Json& json) { entry(json)["shape"] = {4, 6}; });
  for (const Json& size : {Json("NaN"), Json(-6), Json(6.0), Json(nullptr)})
    refused("no list of sizes", [&](Json& json) { entry(json)["shape"][0] = size; });
  refused("do not fit", [&](Json& json) { entry(json)["shape"][0] = std::int64_t{1} << 60; });
  refused("do not fit", [&](Json& json) { entry(json)["data_offsets"][1] = 95; });
  refused("no range", [&](Json& json) { entry(json)["data_offsets"] = {96, 0}; });
  refused("a hole", [&](Json& json) { entry(json)["data_offsets"] = {8, 104}; });
  refused("overlap", [&](Json& json) {
    json["v"] = {{"dtype", "U8"}, {"shape", {1}}, {"data_offsets", {0, 1}}};
    json["x"] = {{"dtype", "U8"}, {"shape", {2}}, {"data_offsets", {0, 2}}};
  });
  refused("needs dtype", [&](Json& json) { entry(json).erase("shape"); });
  refused("no entry 'w@2,0'", [&](Json& json) {
    json["other"] = entry(json);
    json.erase("w@2,0");
  });
  refused("does not belong", [](Json& json) { json["__metadata__"]["label"] = "b"; });
  refused("does not belong", [](Json& json) { json["__metadata__"]["rank"] = "0"; });
  refused("does not belong", [](Json& json) { json.erase("__metadata__"); });
  refused("object of strings", [](Json& json) { json["__metadata__"]["rank"] = 1; });
  refused("no JSON object", [](Json& json) { json = Json::array(); });

  Small small;
  const std::string text = test::readFile(small.rankFile(1));
  for (std::size_t length = 0; length < text.size(); length += 5) {
    test::writeFile(small.rankFile(1), text.substr(0, length));
    small.refused(small.rankFile(1), "truncated");
  }
  test::writeFile(small.rankFile(1), text + "x");
  small.refused(small.rankFile(1), "the header lists only 96");
  const auto withLength = [&](std::uint64_t length, const std::string& rest) {
    std::string prefix(8, '\0');
    std::memcpy(prefix.data(), &length, 8);
    test::writeFile(small.rankFile(1), prefix + rest);
  };
  withLength(~std::uint64_t{0}, text.substr(8));
  small.refused(small.rankFile(1), "a header of 18446744073709551615 bytes");
  withLength(5, text.substr(8));
  small.refused(small.rankFile(1), "not valid JSON");
  withLength(100'000'000, "{");
  std::filesystem::resize_file(small.rankFile(1), 100'000'096);
  small.refused(small.rankFile(1), "a header of 100000000 bytes");
  withLength(1'000'000, std::string(1'000'000, '['));
  small.refused(small.rankFile(1), "nested");
  std::filesystem::remove(small.rankFile(1));
  small.refused(small.rankFile(1), "No such file");
  REQUIRE(::mkfifo(small.rankFile(1).c_str(), 0600) == 0);
  small.refused(small.rankFile(1), "not a regular file");
}

TEST_CASE("checkpoint: bytes changed at random never crash a load") {
  std::mt19937 random(13);
  Small small;
  for (const std::string& path : {small.index(), small.rankFile(0), small.rankFile(1)}) {
    const std::string text = test::readFile(path);
    for (int trial = 0; trial < 400; ++trial) {
      std::string changed = text;
      for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = static_cast<char>(random() & 255);
      if (random() % 4 == 0) changed.resize(random() % changed.size());
      test::writeFile(path, changed);
      const core::Error error = small.error();
      CHECK((error.message.empty() || !error.file.empty()));
    }
    test::writeFile(path, text);
  }
  CHECK(small.error().message.empty());
}

}  // namespace vsim::traces
