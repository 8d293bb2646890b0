#include "gpu/job/frames.h"

#include <catch2/catch.hpp>

#include <random>

#include "gpu/job/messages.h"
#include "gpu/job/round.h"

using namespace vsim;
using namespace vsim::gpu;
using Catch::Matchers::Contains;

namespace {

std::string randomBytes(std::mt19937_64& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& each : bytes) each = static_cast<char>(random());
  return bytes;
}

/// Feeds `bytes` in random pieces; the frames before the end or the first error.
std::pair<std::vector<Frame>, bool> readAll(std::string_view bytes, std::size_t maximum,
                                            std::mt19937_64& random) {
  FrameReader reader(maximum);
  std::vector<Frame> frames;
  while (!bytes.empty()) {
    const std::size_t piece = 1 + random() % std::min<std::size_t>(bytes.size(), 64);
    reader.feed(bytes.substr(0, piece));
    bytes.remove_prefix(piece);
    while (true) {
      auto frame = reader.next();
      if (!frame) return {std::move(frames), false};
      if (!*frame) break;
      frames.push_back(std::move(**frame));
    }
  }
  return {std::move(frames), true};
}

}  // namespace

TEST_CASE("frames: streams in any pieces give the frames that went in") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Frame> sent;
    std::string stream;
    for (std::size_t i = random() % 8; i > 0; --i) {
      sent.push_back(
          {static_cast<FrameKind>(1 + random() % kLastFrameKind), randomBytes(random, random() % 300)});
      stream += encodeFrame(sent.back().kind, sent.back().payload);
    }
    const auto [frames, whole] = readAll(stream, 300, random);
    REQUIRE(whole);
    REQUIRE(frames.size() == sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      CHECK(frames[i].kind == sent[i].kind);
      CHECK(frames[i].payload == sent[i].payload);
    }
  }
}

TEST_CASE("frames: what is no frame is an error at once, and a length reserves nothing") {
  FrameReader garbage(100);
  garbage.feed("G");
  CHECK_FALSE(garbage.next());

  FrameReader tooLong(100);
  tooLong.feed(encodeFrame(FrameKind::Status, std::string(101, 'x')).substr(0, kFrameHeader));
  const auto refused = tooLong.next();
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Contains("101 bytes, more than the 100"));

  FrameReader huge(100);
  huge.feed(encodeFrame(FrameKind::Status, "").substr(0, 5) + std::string(8, '\xff'));
  CHECK_FALSE(huge.next());

  std::string kind = encodeFrame(FrameKind::Status, "");
  for (const int number : {0, kLastFrameKind + 1, 255}) {
    kind[4] = static_cast<char>(number);
    FrameReader unknown(100);
    unknown.feed(kind);
    const auto frame = unknown.next();
    REQUIRE_FALSE(frame);
    CHECK_THAT(frame.error().message, Contains("unknown kind " + std::to_string(number)));
  }

  FrameReader half(100);
  half.feed(encodeFrame(FrameKind::Status, "abc").substr(0, kFrameHeader + 2));
  const auto frame = half.next();
  REQUIRE(frame);
  CHECK_FALSE(*frame);
  CHECK(half.pending() == kFrameHeader + 2);
}

TEST_CASE("frames: mutated streams never give more than went in, nor a payload beyond the limit") {
  std::mt19937_64 random(2);
  int errors = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string stream;
    const std::size_t count = 1 + random() % 4;
    for (std::size_t i = 0; i < count; ++i)
      stream += encodeFrame(static_cast<FrameKind>(1 + random() % kLastFrameKind),
                            randomBytes(random, random() % 50));
    for (std::size_t change = 1 + random() % 4; change > 0 && !stream.empty(); --change) {
      const std::size_t at = random() % stream.size();
      if (random() % 3 == 0)
        stream.erase(at, 1 + random() % 5);
      else
        stream[at] = static_cast<char>(random());
    }
    const auto [frames, whole] = readAll(stream, 64, random);
    errors += whole ? 0 : 1;
    CHECK(frames.size() * kFrameHeader <= stream.size());
    for (const Frame& frame : frames) CHECK(frame.payload.size() <= 64);
  }
  CHECK(errors > 1000);  // most changes hit a header
}

TEST_CASE("messages: come back as they went, and random or cut bytes are none") {
  const Hello hello{"job 7", "0.1.0", 3, 16, {"hostB", 4711}};
  const auto same = decodeHello(encode(hello));
  REQUIRE(same);
  CHECK(same->jobName == "job 7");
  CHECK(same->version == "0.1.0");
  CHECK(same->process == 3);
  CHECK(same->processes == 16);
  CHECK(same->peer.host == "hostB");
  CHECK(same->peer.pid == 4711);

  const Failure failure{2, {.message = "m", .file = "f.yaml", .line = 3, .column = 4, .hint = "h"}};
  const auto failed = decodeFailure(encode(failure));
  REQUIRE(failed);
  CHECK(failed->process == 2);
  CHECK(failed->error.text() == failure.error.text());

  const std::vector<std::string> texts{"", "a", std::string(1000, 'b')};
  CHECK(decodeTexts(encode(texts)) == texts);
  CHECK(decodeTexts(encode(std::vector<std::string>())) == std::vector<std::string>());
  const auto peers = decodePeers(encode(std::vector<Peer>{{"a", 1}, {"", 2}}));
  REQUIRE(peers);
  CHECK(peers->size() == 2);
  CHECK((*peers)[1].pid == 2);

  const std::string wholeHello = encode(hello), wholeFailure = encode(failure), wholeTexts = encode(texts);
  for (std::size_t size = 0; size < wholeHello.size(); ++size)
    CHECK_FALSE(decodeHello(wholeHello.substr(0, size)));
  for (std::size_t size = 0; size < wholeFailure.size(); ++size)
    CHECK_FALSE(decodeFailure(wholeFailure.substr(0, size)));
  for (std::size_t size = 0; size < wholeTexts.size(); ++size)
    CHECK_FALSE(decodeTexts(wholeTexts.substr(0, size)));
  CHECK_FALSE(decodeHello(wholeHello + "x"));
  CHECK_FALSE(decodeTexts(wholeTexts + "x"));
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string bytes = wholeTexts.substr(0, 40);
    bytes[random() % bytes.size()] = static_cast<char>(random());
    CHECK_FALSE(decodeTexts(bytes));
    const std::string noise = randomBytes(random, random() % 60);
    CHECK_FALSE(decodeHello(noise));
    CHECK_FALSE(decodeFailure(noise));
  }
}

TEST_CASE("messages: names of ranks") {
  CHECK(namesOf({2}) == "rank 2");
  CHECK(namesOf({2, 5}) == "ranks 2 and 5");
  CHECK(namesOf({1, 2, 3}) == "ranks 1, 2 and 3");
  CHECK(namesOf({0, 1, 2, 3, 4, 5, 6, 7, 8}) == "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 8");
  CHECK(namesOf({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) == "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 2 more");
}

TEST_CASE("rounds: complete when all have given, broken when they do different things") {
  Round round(3);
  CHECK_FALSE(round.begun());
  REQUIRE(round.add(2, FrameKind::Exchange, "c"));
  CHECK(round.begun());
  CHECK(round.first() == 2);
  CHECK_FALSE(round.add(2, FrameKind::Exchange, "again"));
  const auto different = round.add(0, FrameKind::Broadcast, "");
  REQUIRE_FALSE(different);
  CHECK_THAT(different.error().message, Contains("rank 2 is at an exchange while rank 0 is at a broadcast"));
  REQUIRE(round.add(0, FrameKind::Exchange, "a"));
  CHECK_FALSE(round.complete());
  REQUIRE(round.add(1, FrameKind::Exchange, "b"));
  REQUIRE(round.complete());
  const auto result = round.take();
  REQUIRE(result);
  CHECK(decodeTexts(std::string_view(**result).substr(kFrameHeader)) ==
        std::vector<std::string>{"a", "b", "c"});
  CHECK_FALSE(round.begun());
  for (int process = 0; process < 3; ++process)
    REQUIRE(round.add(process, FrameKind::Broadcast, process == 0 ? "leader" : ""));
  const auto broadcast = round.take();
  REQUIRE(broadcast);
  CHECK(decodeTexts(std::string_view(**broadcast).substr(kFrameHeader)) ==
        std::vector<std::string>{"leader"});
}
