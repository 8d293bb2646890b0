#pragma once

#include <memory>
#include <optional>

#include "core/program/builder.h"

namespace vsim::gpu {

using ProgramPointer = std::shared_ptr<const core::StepProgram>;

/// A collective on its own, as a program has it.
struct CollectiveSpec {
  core::CollectiveKind kind = core::CollectiveKind::allGather;
  core::ReduceOp reduce = core::ReduceOp::none;
  core::DType dtype = core::DType::bf16;
  std::int64_t sendElements = 0, receiveElements = 0;  // per rank
  core::CommGroup group;
  bool hasData = true;  // false: a program only times it (token exchanges)
  bool inPlace = true;
  bool aligned16 = true;

  /// NCCL's convention: the gathered tensor; all-to-all: what one rank sends.
  [[nodiscard]] core::Bytes bytes() const {
    return std::max(sendElements, receiveElements) * core::bytesOf(dtype);
  }
  [[nodiscard]] core::Bytes bufferBytes() const {
    return (inPlace ? std::max(sendElements, receiveElements) : sendElements + receiveElements) *
           core::bytesOf(dtype);
  }
};

/// A collective of about `bytes` as the systems issue it: in place where they do, sums of fp32, everything
/// else bf16. Aligned: every rank's slice starts at a multiple of 16 bytes; else at an odd element.
[[nodiscard]] CollectiveSpec collectiveOf(core::CollectiveKind kind, core::Bytes bytes,
                                          const core::CommGroup& group, bool aligned = true);

/// `repetitions` of it on one stream.
[[nodiscard]] ProgramPointer collectiveProgram(const CollectiveSpec& collective, int repetitions);
/// `repetitions` of a compute kernel on one stream.
[[nodiscard]] ProgramPointer operationProgram(const core::Operation& operation, int repetitions);

/// The kernels that move data need a program's buffers and tables: `program` with another step, which takes
/// the memory that `kernel` reads and writes, launches it `repetitions` times and gives it back. nullptr when
/// the kernel names a buffer that does not exist.
[[nodiscard]] ProgramPointer kernelProgram(const core::StepProgram& program, core::Index kernel,
                                           int repetitions);

/// Products alone, then collectives alone, then both at once: streams 0 and 1.
struct InterferenceCounts {
  int alone = 4, productsTogether = 8;
  int collectivesAlone = 4, collectivesTogether = 8;
};
[[nodiscard]] ProgramPointer interferenceProgram(const core::Operation& product,
                                                 const CollectiveSpec& collective,
                                                 const InterferenceCounts& counts);

/// Products alone; then `meetings` of the collective, each after `productsBetween` products and before the
/// next ones (`onSide`: it is on a stream of its own, that waits for the products before it and that the next
/// ones wait for); then `ahead` such groups of products, each beside a collective that the next one waits
/// for, as units are gathered ahead. Hooks stand between the three.
struct MeetingCounts {
  int alone = 4, meetings = 4, ahead = 0;
  int productsBetween = 1;
  bool onSide = false;
};
[[nodiscard]] ProgramPointer meetingProgram(const core::Operation& product, const CollectiveSpec& collective,
                                            const MeetingCounts& counts);

/// What the host's calls cost. Stream 0: `launches` empty kernels one after the other, then as many with
/// `calls` records and as many waits between each two. Then `buffers` of `bytes` each are taken and given
/// back `rounds` times, the host waiting for the device between the rounds: the first time they come from the
/// driver, later from the cache.
struct HostCallCounts {
  int launches = 100, calls = 10, buffers = 4, rounds = 5;
  core::Bytes bytes = core::Bytes{32} << 20U;
};
[[nodiscard]] ProgramPointer hostCallProgram(const HostCallCounts& counts);

}  // namespace vsim::gpu
