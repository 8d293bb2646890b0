#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/program/memory_model.h"
#include "gpu/observation.h"

namespace vsim::gpu::device {

/// How programs run on devices.
struct DeviceOptions {
  /// The allocator of one rank on the segments of its device. Required.
  std::function<std::unique_ptr<core::MemoryModel>(core::SegmentSource&)> makeMemory;
  std::uint64_t seed = 1;  // of parameters and gradients
  /// Milliseconds without progress, or for ranks to come together, after which an execution ends with an
  /// error.
  int timeout = 60'000;
  /// Devices of this process, one rank each. Empty: all devices of the machine where the job has one process;
  /// else the one whose number is `localRank`.
  std::vector<int> devices{};
  int localRank = -1;  // this process's number on its host; -1: counted from the job's hosts
  /// Reductions add in the order of the ranks: said of the machine, which cannot know it of a library.
  bool fixedReductionOrder = false;
  /// Kernels without an operation move data that no measured training moves (synthetic gradients, padding).
  /// Without them times are truer and data is wrong.
  bool unloggedKernels = true;

  // For tests of data; none of these waits in the middle of a step.
  bool poison = false;        // released memory is made of NaNs where its stream may use it again
  bool keepContents = false;  // what buffers hold at the end is kept for DeviceMachine::contents
  /// Buffers whose contents are copied when an instruction (into StepProgram::step) has run; the observer
  /// gets them after the last step.
  std::function<std::vector<core::Index>(core::Index instruction)> observed{};
  std::function<void(const Observation&)> observer{};
};

}  // namespace vsim::gpu::device
