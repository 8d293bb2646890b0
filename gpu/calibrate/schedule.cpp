#include "gpu/calibrate/schedule.h"

#include <algorithm>
#include <set>

#include "gpu/calibrate/grids.h"
#include "gpu/calibrate/measure_host.h"
#include "gpu/calibrate/measure_interference.h"
#include "gpu/calibrate/measure_meeting.h"
#include "gpu/calibrate/measure_sequence.h"
#include "gpu/calibrate/program_work.h"

namespace vsim::gpu {

using core::Bytes;
using core::CollectiveKind;

namespace {

enum Stage { kHost, kBoundaries, kPrograms, kCoarse, kEffects, kMiddle, kFine };
/// Of the budget that is left. Later stages have many measurements, each of which matters less.
constexpr double kWeights[] = {1, 1.5, 3, 1.5, 1, 1, 0.7};

constexpr Bytes kMebi = Bytes{1} << 20U;
/// Groups whose sweeps are worth it; there are dozens of shapes in a large job.
constexpr std::size_t kMostGroups = 12, kMostGroupsFine = 6;

class Planner {
 public:
  Planner(const MachineFacts& facts, const CalibrationOptions& options)
      : options_(options), layout_(jobLayout(facts)), reading_(readingOf(facts)) {
    memory_ = facts.ranks.empty() ? 0 : facts.ranks.front().freeMemory;
    for (const RankFacts& rank : facts.ranks) memory_ = std::min(memory_, rank.freeMemory);
    // A host executor keeps every element as a float, and a copy while a collective runs.
    memory_ = memory_ <= 0 ? Bytes{1} << 30U : memory_;
    memory_ = reading_ == Reading::shared ? memory_ / 8 : memory_ / 5 * 4;
    groups_ = measuredGroups(layout_);
  }

  Schedule make() {
    add(kHost, std::make_unique<HostCallMeasurement>(hostBuffer(), reading_), false);
    boundaries();
    programs();
    if (options_.grids) {
      kernels();
      groupKernels();
      effects();
      sweeps();
    }
    for (const MissingLevel& missing : missingLevels(layout_))
      note(fmt::format("no collective crosses the level '{}': {}",
                       core::kLocalityNames[static_cast<std::size_t>(missing.level)], missing.why));
    if (!layout_.evenNodes) note("the nodes have different numbers of ranks");
    std::ranges::stable_sort(schedule_.measurements, {}, &Planned::stage);
    return std::move(schedule_);
  }

 private:
  /// More than what allocators cut from larger pieces; small where memory is filled when it is taken.
  [[nodiscard]] Bytes hostBuffer() const {
    return std::min(reading_ == Reading::shared ? kMebi : 32 * kMebi, memory_ / 8);
  }

  void note(std::string text) { schedule_.notes.push_back(std::move(text)); }

  Planned& add(Stage stage, std::unique_ptr<Measurement> measurement, bool optional = true) {
    return schedule_.measurements.emplace_back(
        Planned{std::move(measurement), kWeights[stage], optional, stage, 0, std::nullopt});
  }

  void addCollective(Stage stage, const CollectiveSpec& spec, bool optional, bool stateType,
                     int launches = 0) {
    if (spec.bufferBytes() > memory_) {
      if (!optional) note(fmt::format("a collective of {} does not fit", core::formatBytes(spec.bytes())));
      return;
    }
    const MeasuredGroup group = measuredGroup(layout_, spec.group);
    // Data that is only moved takes its time by bytes, except where elements are floats whatever their type.
    const bool anyType = !stateType && reading_ == Reading::own && spec.reduce == core::ReduceOp::none;
    Planned& planned =
        add(stage, std::make_unique<CollectiveMeasurement>(spec, group.ranksPerNode, reading_, anyType),
            optional);
    planned.locality = group.locality;
    planned.launches = launches;
  }

  void addInterference(Stage stage, const core::Operation& product, const CollectiveSpec& spec, bool optional,
                       int launches = 0) {
    if (spec.bufferBytes() > memory_) return;
    const int ranksPerNode = measuredGroup(layout_, spec.group).ranksPerNode;
    add(stage, std::make_unique<InterferenceMeasurement>(product, spec, ranksPerNode), optional).launches =
        launches;
  }

  /// The widest group of each boundary, in their order of worth.
  [[nodiscard]] std::vector<MeasuredGroup> widest() const {
    std::vector<MeasuredGroup> result;
    std::set<core::Locality> seen;
    for (const MeasuredGroup& group : groups_)
      if (seen.insert(group.locality).second) result.push_back(group);
    return result;
  }

  [[nodiscard]] Bytes within(Bytes bytes) const {
    return std::clamp(bytes, options_.smallest, std::max(options_.smallest, options_.largest));
  }

  void boundaries() {
    // Shared processors have one boundary, and the programs' own collectives cross it.
    if (reading_ == Reading::shared && !options_.programs.empty()) return;
    for (const Bytes bytes : {kMebi, 64 * kMebi})
      for (const MeasuredGroup& group : widest())
        addCollective(kBoundaries, collectiveOf(CollectiveKind::allGather, within(bytes), group.group),
                      bytes > kMebi, false);
  }

  void programs() {
    const ProgramWork work = workOf(options_.programs);
    const bool shared = reading_ == Reading::shared;
    if (!shared || !sequences(work)) kernelsOf(work);
    for (const ProgramWork::Communication& c : work.collectives) {
      if (!fitsJob(c.collective)) continue;
      if (shared) {
        addMeeting(c, fillerOf(work));
        continue;
      }
      addCollective(kPrograms, c.collective, false, true, c.launches);
      if (c.besideCompute) addInterference(kPrograms, heaviestOf(work), c.collective, false, c.launches);
    }
  }

  /// The programs' kernels in their order. False: they do not fit, nothing was added.
  bool sequences(const ProgramWork& work) {
    for (const ProgramPointer& program : options_.programs)
      if (program && memoryOf(*program) > memory_) return false;
    const auto meetings = static_cast<double>(std::max<std::size_t>(1, work.collectives.size()));
    for (const ProgramPointer& program : options_.programs) {
      if (!program || sequenceProgram(*program, 1) == nullptr) continue;
      Planned& planned = add(kPrograms, std::make_unique<SequenceMeasurement>(program), false);
      planned.weight *= meetings / static_cast<double>(options_.programs.size());
      planned.launches = 1;
    }
    return true;
  }

  static Bytes memoryOf(const core::StepProgram& program) {
    std::set<core::Index> buffers;
    for (const auto& list : {program.setup, program.step})
      for (const core::Instruction& instruction : list)
        if (instruction.kind == core::InstructionKind::allocate) buffers.insert(instruction.operand);
    Bytes bytes = 0;
    for (const core::Index buffer : buffers) bytes += program.buffers[buffer].bytes();
    return bytes;
  }

  void kernelsOf(const ProgramWork& work) {
    for (const auto& [operation, launches] : work.operations)
      add(kPrograms, std::make_unique<OperationMeasurement>(operation, reading_), false).launches = launches;
    for (const ProgramWork::DataKernel& kernel : work.dataKernels) {
      Bytes bytes = 0;
      if (!fits(kernel, bytes)) {
        note(fmt::format("a kernel of {} cannot be measured: {}", core::formatBytes(bytes),
                         bytes > 0 ? "its buffers do not fit" : "it names no buffer"));
        continue;
      }
      add(kPrograms, std::make_unique<KernelMeasurement>(kernel.program, kernel.kernel, reading_), false)
          .launches = kernel.launches;
    }
  }

  /// Whether the kernel can be measured; `bytes`: what its buffers take, 0 where it names one that is not
  /// there.
  [[nodiscard]] bool fits(const ProgramWork::DataKernel& kernel, Bytes& bytes) const {
    const ProgramPointer program = kernelProgram(*kernel.program, kernel.kernel, 1);
    bytes = program ? memoryOf(*program) : 0;
    return program && bytes <= memory_;
  }

  /// Kernels that move data, of models of several sizes.
  void groupKernels() {
    if (reading_ == Reading::shared) return;
    const ProgramWork work = workOf(options_.groupKernels);
    for (const ProgramWork::DataKernel& kernel : work.dataKernels)
      if (Bytes bytes = 0; fits(kernel, bytes))
        add(kCoarse, std::make_unique<KernelMeasurement>(kernel.program, kernel.kernel, reading_));
  }

  void addMeeting(const ProgramWork::Communication& c, const Filler& filler) {
    const MeasuredGroup group = measuredGroup(layout_, c.collective.group);
    if (c.collective.bufferBytes() > memory_)
      return note(fmt::format("a collective of {} does not fit", core::formatBytes(c.collective.bytes())));
    Planned& planned =
        add(kPrograms,
            std::make_unique<MeetingMeasurement>(c.collective, group.ranksPerNode, filler, c.besideCompute),
            false);
    planned.locality = group.locality;
    planned.launches = c.launches;
  }

  static bool isProduct(const core::Operation& operation) {
    return operation.kind == core::OpKind::gemm || operation.kind == core::OpKind::groupedGemm;
  }

  [[nodiscard]] core::Operation heaviestOf(const ProgramWork& work) const {
    const core::Operation* heaviest = nullptr;
    for (const ProgramWork::Compute& one : work.operations)
      if (isProduct(one.operation) && (heaviest == nullptr || one.operation.flops > heaviest->flops))
        heaviest = &one.operation;
    return heaviest != nullptr ? *heaviest : defaultProduct();
  }

  /// As many FLOPs as the program has for each of its collectives, in the largest of its products that is no
  /// larger.
  [[nodiscard]] Filler fillerOf(const ProgramWork& work) const {
    double flops = 0;
    int collectives = 0;
    for (const ProgramWork::Compute& one : work.operations)
      flops += static_cast<double>(one.operation.flops) * one.launches;
    for (const ProgramWork::Communication& c : work.collectives) collectives += c.launches;
    const double between = flops / std::max(1, collectives);
    const core::Operation* best = nullptr;
    for (const ProgramWork::Compute& one : work.operations) {
      if (!isProduct(one.operation) || one.operation.flops <= 0) continue;
      const bool fits = static_cast<double>(one.operation.flops) <= between;
      const bool bestFits = best != nullptr && static_cast<double>(best->flops) <= between;
      if (best == nullptr || (fits && !bestFits) ||
          (fits == bestFits && (one.operation.flops > best->flops) == fits))
        best = &one.operation;
    }
    if (best == nullptr) return {defaultProduct(), 1};
    constexpr double kMostBetween = 32;
    return {*best,
            static_cast<int>(std::clamp(between / static_cast<double>(best->flops), 1.0, kMostBetween))};
  }

  bool fitsJob(const CollectiveSpec& spec) {
    if (layout_.ranks % (spec.group.size * spec.group.stride) == 0) return true;
    note(fmt::format("group {} of {} ranks, {} apart, does not divide the job's {} ranks", spec.group.name,
                     spec.group.size, spec.group.stride, layout_.ranks));
    return false;
  }

  [[nodiscard]] core::Operation defaultProduct() const {
    const std::int64_t side = reading_ == Reading::shared ? 256 : 4096;
    return productOf(side, side, side);
  }

  void kernels() {
    constexpr Stage kLevels[] = {kCoarse, kMiddle, kFine};
    for (const GridPoint& point : kernelGrid(reading_ == Reading::shared))
      if (2 * (point.operation.bytesRead + point.operation.bytesWritten) <= memory_)
        add(kLevels[point.level], std::make_unique<OperationMeasurement>(point.operation, reading_));
    for (const GridSize& size : sizeGrid(kMebi, std::min(memory_ / 2, Bytes{4} << 30U)))
      add(kLevels[size.level], std::make_unique<OperationMeasurement>(copyOf(size.bytes), reading_));
  }

  /// Interference and alignment, in the middle of the range of sizes.
  void effects() {
    for (const Bytes bytes : {16 * kMebi, kMebi, 256 * kMebi})
      for (const CollectiveKind kind : {CollectiveKind::allGather, CollectiveKind::reduceScatter})
        for (const MeasuredGroup& group : widest()) {
          addInterference(kEffects, defaultProduct(), collectiveOf(kind, within(bytes), group.group), true);
          addCollective(kEffects, collectiveOf(kind, within(bytes), group.group, false), true, false);
        }
  }

  void sweeps() {
    for (const GridSize& size : sizeGrid(options_.smallest, options_.largest)) {
      for (const CollectiveKind kind :
           {CollectiveKind::allGather, CollectiveKind::reduceScatter, CollectiveKind::allReduce,
            CollectiveKind::allToAll, CollectiveKind::broadcast}) {
        const bool usual = kind < CollectiveKind::allToAll;
        for (std::size_t g = 0; g < std::min(groups_.size(), kMostGroups); ++g) {
          const int level = size.level + (usual ? 0 : 1) + (g < kMostGroupsFine ? 0 : 1);
          if (level > 2) continue;
          constexpr Stage kLevels[] = {kCoarse, kMiddle, kFine};
          addCollective(kLevels[level], collectiveOf(kind, size.bytes, groups_[g].group), true, false);
        }
      }
    }
  }

  const CalibrationOptions& options_;
  JobLayout layout_;
  Reading reading_;
  Bytes memory_ = 0;
  std::vector<MeasuredGroup> groups_;
  Schedule schedule_;
};

}  // namespace

Reading readingOf(const MachineFacts& facts) {
  return facts.executor == "host" ? Reading::shared : Reading::own;
}

Schedule makeSchedule(const MachineFacts& facts, const CalibrationOptions& options) {
  return Planner(facts, options).make();
}

}  // namespace vsim::gpu
