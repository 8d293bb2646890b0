// Streams as worker threads: order, waits, ends good and bad; under -fsanitize=thread the data written
// through them shows whether a wait is one.

#include "gpu/host/host_stream.h"

#include <catch2/catch.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

using namespace vsim;
using gpu::HostStream;
using gpu::RunControl;
using gpu::WorkQueue;
using Streams = std::vector<std::unique_ptr<HostStream>>;
using namespace std::chrono_literals;

namespace {

Streams streams(int count, RunControl& control) {
  Streams result;
  for (int s = 0; s < count; ++s) result.push_back(std::make_unique<HostStream>(control));
  return result;
}

/// Counts the lives of what it is copied and moved into.
struct Life {
  explicit Life(int& count) : alive(&count) { ++*alive; }
  Life(const Life& other) : alive(other.alive) { ++*alive; }
  Life(Life&& other) noexcept : alive(other.alive) { ++*alive; }
  Life& operator=(const Life&) = delete;
  ~Life() { --*alive; }
  int* alive;
};

}  // namespace

TEST_CASE("a queue of work keeps pieces of any size in order") {
  WorkQueue queue;
  std::mt19937 random(3);
  std::vector<int> seen;
  int next = 0, alive = 0;
  for (int round = 0; round < 300; ++round) {
    const int count = static_cast<int>(random() % 40);
    for (int i = 0; i < count; ++i) {
      const int number = next++;
      switch (random() % 4) {
        case 0:
          queue.push([&seen, number] { seen.push_back(number); });
          break;
        case 1:
          queue.push([&seen, held = std::make_unique<int>(number)] { seen.push_back(*held); });
          break;
        case 2:
          queue.push([&seen, number, life = Life(alive), large = std::array<char, 4000>{}] {
            seen.push_back(number + large[3999]);
          });
          break;
        default:
          queue.push([&seen, number, middle = std::array<double, 17>{}] {
            seen.push_back(number + static_cast<int>(middle[16]));
          });
      }
    }
    for (std::size_t left = random() % 50; left > 0 && queue.has(seen.size()); --left) queue.runNext();
  }
  REQUIRE(queue.pushed() == static_cast<std::uint64_t>(next));
  while (queue.has(seen.size())) queue.runNext();
  REQUIRE(seen.size() == static_cast<std::size_t>(next));
  for (std::size_t i = 0; i < seen.size(); ++i) REQUIRE(seen[i] == static_cast<int>(i));
  CHECK(alive == 0);
}

TEST_CASE("work is destroyed once, whether it has run, thrown or stayed in the queue") {
  int alive = 0, ran = 0;
  {
    WorkQueue queue;
    for (int i = 0; i < 1000; ++i)
      queue.push([&ran, life = Life(alive), room = std::array<char, 200>{}] {
        if (++ran == 2) throw std::runtime_error(room.data());
      });
    CHECK(alive == 1000);
    queue.runNext();
    CHECK(alive == 999);
    CHECK_THROWS_AS(queue.runNext(), std::runtime_error);
    CHECK(alive == 998);
    queue.runNext();
    CHECK(ran == 3);
    CHECK(queue.has(3));
    CHECK(!queue.has(1000));
  }
  CHECK(alive == 0);
  CHECK(ran == 3);
}

TEST_CASE("a stream runs its work in order") {
  RunControl control;
  HostStream stream(control);
  std::vector<int> seen;
  constexpr int kPieces = 20'000;
  for (int i = 0; i < kPieces; ++i) {
    stream.push([&seen, i] { seen.push_back(i); });
    if (i % 5000 == 0) {  // both while the worker runs and while it sleeps
      REQUIRE(stream.waitUntil(stream.issued()));
      std::this_thread::sleep_for(1ms);
    }
  }
  CHECK(stream.issued() == kPieces);
  REQUIRE(stream.waitUntil(kPieces));
  CHECK(stream.reached(kPieces));
  CHECK(!stream.reached(kPieces + 1));
  REQUIRE(seen.size() == kPieces);
  for (int i = 0; i < kPieces; ++i) REQUIRE(seen[static_cast<std::size_t>(i)] == i);
  CHECK(stream.waitUntil(0));
}

TEST_CASE("finish runs what is left, and may be called again") {
  RunControl control;
  int ran = 0;
  HostStream stream(control);
  stream.push([] { std::this_thread::sleep_for(5ms); });
  for (int i = 0; i < 100; ++i) stream.push([&ran] { ++ran; });
  stream.finish();
  CHECK(ran == 100);
  stream.finish();
  CHECK(!control.stopped());
}

TEST_CASE("an exception ends the execution with its text") {
  RunControl control;
  int after = 0, alive = 0;
  {
    HostStream stream(control);
    stream.push([] { throw std::runtime_error("disk is on fire"); });
    for (int i = 0; i < 50; ++i) stream.push([&after, life = Life(alive)] { ++after; });
    CHECK(!stream.waitUntil(51));
    CHECK(!stream.reached(1));
    stream.finish();
  }
  REQUIRE(control.error().has_value());
  CHECK(control.error()->message == "disk is on fire");
  CHECK(after == 0);
  CHECK(alive == 0);
}

TEST_CASE("a stop ends all waits, and what has not begun is not run") {
  RunControl control;
  int late = 0;
  Streams all = streams(3, control);
  std::atomic<bool> running = false, release = false;
  all[0]->push([&] {
    running = true;
    while (!release) std::this_thread::sleep_for(100us);
  });
  all[0]->push([&late] { ++late; });
  all[1]->push([&] { all[0]->waitUntil(2); });
  all[1]->push([&late] { ++late; });
  std::array<bool, 2> answers{true, true};
  std::thread first([&] { answers[0] = all[1]->waitUntil(2); });
  std::thread second([&] { answers[1] = all[2]->waitUntil(1); });  // nobody has pushed that
  while (!running) std::this_thread::sleep_for(100us);
  control.fail({.message = "stop"});
  first.join();
  second.join();
  CHECK((!answers[0] && !answers[1]));
  release = true;
  for (const auto& stream : all) stream->finish();
  CHECK(late == 0);
}

TEST_CASE("many wait for one stream, each for its own position") {
  RunControl control;
  HostStream stream(control);
  constexpr int kWaiters = 8, kPieces = 80;
  std::array<int, kPieces> values{};
  std::array<int, kWaiters> found{};
  std::vector<std::thread> waiters;
  for (int w = 0; w < kWaiters; ++w)
    waiters.emplace_back([&, w] {
      const int position = (w + 1) * kPieces / kWaiters;
      if (stream.waitUntil(static_cast<std::uint64_t>(position)))
        found[static_cast<std::size_t>(w)] = values[static_cast<std::size_t>(position - 1)];
    });
  for (int i = 0; i < kPieces; ++i)
    stream.push([&values, i] {
      if (i % 16 == 0) std::this_thread::sleep_for(300us);
      values[static_cast<std::size_t>(i)] = i + 1;
    });
  for (std::thread& waiter : waiters) waiter.join();
  for (int w = 0; w < kWaiters; ++w)
    CHECK(found[static_cast<std::size_t>(w)] == (w + 1) * kPieces / kWaiters);
}

namespace {

/// Random work on random streams of one host, in which every piece reads what its stream and the streams that
/// it waits for have written before. Answers how many pieces saw less than they had to.
struct Stress {
  Stress(RunControl& control, unsigned seed, int count)
      : all(streams(count, control)), written(all.size()), wrong(all.size()), random(seed) {}

  void issue(int pieces) {
    std::vector<std::uint64_t> done(all.size());  // pieces of work issued, waits not counted
    for (int i = 0; i < pieces; ++i) {
      const std::size_t s = random() % all.size(), other = random() % all.size();
      if (random() % 3 == 0 && other != s) {
        all[s]->push([this, s, other, position = all[other]->issued(), least = done[other]] {
          if (all[other]->waitUntil(position) && written[other].value < least) ++wrong[s];
        });
        // The other stream's next piece comes after ours has read.
        all[other]->push([this, s, position = all[s]->issued()] { all[s]->waitUntil(position); });
      }
      const bool slow = random() % 200 == 0;
      all[s]->push([this, s, slow] {
        if (slow) std::this_thread::sleep_for(200us);
        ++written[s].value;
      });
      ++done[s];
      if (random() % 500 == 0 && all[s]->waitUntil(all[s]->issued()) && written[s].value != done[s])
        ++wrong[s];
    }
    for (std::size_t s = 0; s < all.size(); ++s) {
      all[s]->finish();
      if (written[s].value != done[s]) ++wrong[s];
    }
  }
  [[nodiscard]] int failures() const {
    int sum = 0;
    for (const int count : wrong) sum += count;
    return sum;
  }

  struct Cell {
    std::uint64_t value = 0;
  };
  Streams all;
  std::vector<Cell> written;  // by stream, without a lock
  std::vector<int> wrong;
  std::mt19937 random;
};

}  // namespace

TEST_CASE("random work on many streams of several hosts keeps its order") {
  for (const unsigned seed : {1U, 2U, 3U}) {
    for (const int count : {2, 5, 24}) {
      RunControl control;
      std::vector<std::unique_ptr<Stress>> hosts;
      std::vector<std::thread> threads;
      for (unsigned h = 0; h < 3; ++h)
        hosts.push_back(std::make_unique<Stress>(control, 10 * seed + h, count));
      for (const auto& host : hosts) threads.emplace_back([stress = host.get()] { stress->issue(2000); });
      for (std::thread& thread : threads) thread.join();
      for (const auto& host : hosts) CHECK(host->failures() == 0);
      CHECK(!control.stopped());
    }
  }
}

TEST_CASE("a stop in the middle of random work ends it") {
  for (const unsigned seed : {4U, 5U}) {
    RunControl control;
    Stress stress(control, seed, 6);
    std::thread stopper([&] {
      std::this_thread::sleep_for(2ms);
      control.fail({.message = "enough"});
    });
    stress.all[0]->push([] { std::this_thread::sleep_for(10ms); });
    stress.issue(3000);  // ends, in whatever state
    stopper.join();
    CHECK(control.error()->message == "enough");
  }
}
