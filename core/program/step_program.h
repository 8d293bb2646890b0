#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/collective.h"
#include "core/base/operation.h"
#include "core/base/units.h"

namespace vsim::core {

/// What one rank's host thread issues in one training step, in order. Built once by core/train, run unchanged
/// by every Executor. Plain data: copyable, no ownership beyond its vectors.
///
/// Streams are FIFOs; `waitEvent`/`waitStream` order them; a communicator (CommGroup) runs one collective at
/// a time in issue order; memory is taken and given back at the point of issue (host order) from the pool of
/// a stream.

using StreamId = std::uint8_t;
using Index = std::uint32_t;
inline constexpr Index kNone = ~Index{0};

enum class InstructionKind : std::uint8_t {
  allocate,      // operand = buffer; taken from the pool of buffer.stream
  release,       // operand = buffer
  kernel,        // operand = kernel, on `stream`
  collective,    // operand = collective, on `stream`
  recordEvent,   // operand = event, on `stream`
  waitEvent,     // `stream` waits for operand = event
  waitStream,    // `stream` waits for all work issued so far on stream number `operand`
  hostWait,      // the host blocks until operand = event has completed
  recordStream,  // operand = buffer: its memory may be reused only when `stream` has passed this point at
                 // release
  hook,  // no work; operand = kNone: marks where a framework hook or a module's compute begins (printing,
         // tests)
};

/// Part of the step an instruction belongs to: rows of the per-phase report.
enum class Phase : std::uint8_t { setup, forward, loss, backward, recompute, reduce, optimizer };
inline constexpr std::string_view kPhaseNames[] = {"setup",     "forward", "loss",     "backward",
                                                   "recompute", "reduce",  "optimizer"};

struct Instruction {
  InstructionKind kind = InstructionKind::hook;
  StreamId stream = 0;
  Phase phase = Phase::forward;
  bool firstStepOnly = false;  // optimizer states and the like: skipped from the second step on
  Index operand = kNone;
  Index label = kNone;  // index into StepProgram::labels; hooks and anything worth a name of its own
};

enum class MemoryCategory : std::uint8_t {
  parameters,
  gradients,
  optimizerState,
  unshardedParameters,
  gradientBuffers,
  activations,
  logitsLoss,
  temporary,
  ncclContext
};
inline constexpr std::string_view kMemoryCategoryNames[] = {
    "parameters",  "gradients",   "optimizer_state", "unsharded_parameters", "gradient_buffers",
    "activations", "logits_loss", "temporary",       "nccl_context"};

struct Buffer {
  std::string name;  // "ag_out", "full", "rs_in", "rs_out", "q_proj.out": as the recorded traces name them
  Index unit = kNone;
  StreamId stream = 0;  // whose pool it comes from
  MemoryCategory category = MemoryCategory::temporary;
  DType dtype = DType::bf16;
  std::int64_t elements = 0;
  Bytes extraBytes = 0;  // one Buffer for several tensors: what their separate allocations round up to
  [[nodiscard]] Bytes bytes() const { return elements * bytesOf(dtype) + extraBytes; }
};

/// What a kernel does to data. `compute` kernels only cost time; the others move data that the host executor
/// really moves (see data_moves.h).
enum class KernelRole : std::uint8_t {
  compute,
  copyIn,        // sharded parameters -> own slot of the gather buffer, cast to the gather's dtype
  copyOut,       // gather buffer -> unsharded parameters
  gradient,      // backward writes the unsharded gradients (synthetic on the host executor)
  reduceCopyIn,  // unsharded gradients -> reduce-scatter input, cast to the reduce dtype
  accumulate,    // writes[0] += reads[0]
  castOut,       // reduce output -> sharded gradients in the stored dtype
  optimizer,     // sharded gradients and states -> sharded parameters
  zero,
};
inline constexpr std::string_view kRoleNames[] = {"compute",   "copy_in",        "copy_out",
                                                  "gradients", "reduce_copy_in", "accumulate",
                                                  "cast_out",  "optimizer",      "zero"};

struct Kernel {
  Index operation = kNone;  // into StepProgram::operations; kNone: no launch, no time (data moves alone)
  KernelRole role = KernelRole::compute;
  Index unit = kNone;
  std::vector<Index> reads{}, writes{};    // buffers; empty for compute kernels
  Index firstTensor = 0, tensorCount = 0;  // role gradient: which tensors of the unit's table it makes
};

struct Collective {
  CollectiveKind kind = CollectiveKind::allGather;
  ReduceOp reduce = ReduceOp::none;
  Index group = 0;
  Index unit = kNone;
  DType dtype = DType::bf16;
  std::int64_t sendElements = 0;        // per rank
  std::int64_t receiveElements = 0;     // per rank
  Index input = kNone, output = kNone;  // buffers; kNone when only timed (token all-to-all)
  bool inPlace = true;
  bool aligned16 = true;  // every rank's slice starts at a multiple of 16 bytes
};

/// One tensor of a unit: where it lies in the unit's buffers.
struct UnitTensor {
  std::string name;
  std::int64_t elements = 0;
  std::int64_t rowElements = 1;  // elements of one dim-0 slice
  std::int64_t offset = 0;       // contiguous units: start in the global buffer of devices * shardElements
  std::int64_t shardRows = 0;    // per-parameter units (FSDP2): rows per rank, the last ranks short
  std::int64_t shardOffset = 0;  // per-parameter units: start inside a rank's shard
};

/// What is gathered and reduced together. Contiguous (DBuffer): the gather buffer is the parameters.
/// Per-parameter (FSDP2): rank r's slot holds rows [r * shardRows, ...) of every tensor, zero padded.
struct Unit {
  std::string name;  // "R", "L1"
  bool contiguous = true;
  std::int64_t devices = 1;
  std::int64_t shardElements = 0;
  Index group = 0;            // communicator of its all-gather and reduce-scatter
  Index tensorTable = kNone;  // into StepProgram::tensorTables; equal units share one
  Index parameters = kNone,
        gradients = kNone;  // persistent sharded buffers (gradients may be dynamic: kNone)
};

struct StepProgram {
  std::string system;  // "vescale"
  std::vector<std::string> streams;
  std::vector<CommGroup> groups;
  std::vector<Unit> units;
  std::vector<std::vector<UnitTensor>> tensorTables;  // names relative to the unit
  std::vector<Buffer> buffers;
  std::vector<Operation> operations;
  std::vector<Kernel> kernels;
  std::vector<Collective> collectives;
  std::vector<std::string> labels;
  Index events = 0;  // number of event handles; re-recorded in every step

  std::vector<Instruction> setup;  // once, before the first step: parameters, states
  std::vector<Instruction> step;   // one training step; executors repeat it
  std::int64_t microBatches = 1;

  Index addLabel(const std::string& text);
};

/// Readable listing, one line per instruction, in the words of the recorded traces
/// ("+ag_out(L1) 64xbf16 @copy_in", "AG waits stream copy_in", "ALL-GATHER L1 in=16 out=64 group=4 on AG",
/// ...).
std::string print(const StepProgram& program);

}  // namespace vsim::core
