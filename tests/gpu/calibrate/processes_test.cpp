// Several processes of a job calibrate together: one leads, the others follow.

#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "gpu/calibrate/calibration.h"
#include "tests/gpu/calibrate/simulated_machine.h"

using namespace vsim;
using namespace vsim::gpu;

namespace {

/// The leader's texts in order, for those who wait for them.
class Channel {
 public:
  void say(const std::string& text) {
    const std::lock_guard lock(mutex_);
    texts_.push_back(text);
    changed_.notify_all();
  }
  core::Result<std::string> hear(std::size_t index) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(20), [&] { return texts_.size() > index; }))
      return core::fail("the leader says nothing");
    return texts_[index];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
};

class ProcessMachine : public test::SimulatedMachine {
 public:
  ProcessMachine(Channel& channel, bool leader)
      : SimulatedMachine(test::factsOf({2, 2}), test::simpleTruth()), channel_(channel), leader_(leader) {}

  std::vector<std::string> programs;  // what was executed: systems with their sizes

  [[nodiscard]] bool leads() const override { return leader_; }
  [[nodiscard]] core::Result<std::string> broadcast(const std::string& text) override {
    if (leader_) channel_.say(text);
    return channel_.hear(heard_++);
  }
  [[nodiscard]] core::Result<core::ExecutionLog> execute(std::shared_ptr<const core::StepProgram> program,
                                                         int steps) override {
    programs.push_back(core::print(*program) + std::to_string(steps));
    return SimulatedMachine::execute(program, steps);
  }

 private:
  Channel& channel_;
  bool leader_;
  std::size_t heard_ = 0;
};

CalibrationOptions options(ProcessMachine& machine) {
  CalibrationOptions options;
  options.budgetSeconds = 0.5;
  options.clock = [&machine] { return machine.clock; };
  return options;
}

}  // namespace

TEST_CASE("calibration: followers execute what the leader decides") {
  Channel channel;
  ProcessMachine leader(channel, true), follower(channel, false);
  core::Result<Calibration> followed = core::fail("not run");
  std::thread other([&] { followed = calibrate(follower, options(follower)); });
  const auto led = calibrate(leader, options(leader));
  other.join();
  REQUIRE(led);
  REQUIRE(followed);
  CHECK(leader.programs == follower.programs);
  CHECK(leader.programs.size() > 20);
  CHECK(led->measured > 0);
  CHECK_FALSE(led->profile.collectives.empty());
  CHECK(followed->measured == 0);
  CHECK(followed->profile.collectives.empty());
  CHECK(followed->planned == led->planned);
}

TEST_CASE("calibration: a follower with another schedule refuses") {
  Channel channel;
  ProcessMachine leader(channel, true), follower(channel, false);
  core::Result<Calibration> followed = core::fail("not run");
  std::thread other([&] {
    CalibrationOptions different = options(follower);
    different.largest = core::Bytes{4} << 20U;
    different.smallest = core::Bytes{2} << 20U;
    followed = calibrate(follower, different);
  });
  const auto led = calibrate(leader, options(leader));
  other.join();
  CHECK(led);
  REQUIRE_FALSE(followed);
  CHECK(followed.error().message.find("cannot follow") != std::string::npos);
  CHECK_FALSE(followed.error().hint.empty());
}

TEST_CASE("calibration: texts that are no decisions are refused") {
  for (const char* text : {"", "0", "0 3", "x 3 | title", "99999 3 | title", "0 -3 | launches", "-1 3 | a"}) {
    INFO(text);
    Channel channel;
    channel.say(text);
    ProcessMachine follower(channel, false);
    CHECK_FALSE(calibrate(follower, options(follower)));
    CHECK(follower.programs.empty());
  }
}
