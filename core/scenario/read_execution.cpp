#include <array>
#include <filesystem>

#include "core/scenario/lookup.h"
#include "core/scenario/sections.h"

namespace vsim::core {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kAttention{{{"triton", "triton"},
                                                                                   {"flash1", "flash1"},
                                                                                   {"flash2", "flash2"},
                                                                                   {"flash3", "flash3"},
                                                                                   {"flash4", "flash4"},
                                                                                   {"cudnn", "cudnn"},
                                                                                   {"te", "te"},
                                                                                   {"eager", "eager"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOptimizerKernels{
    {{"fused", "fused"}, {"foreach", "foreach"}, {"loop", "loop"}}};
constexpr std::array<std::pair<std::string_view, LossKernel>, 3> kLosses{
    {{"fused", LossKernel::fused}, {"eager", LossKernel::eager}, {"unfused_fp32", LossKernel::unfusedFp32}}};
constexpr std::array<std::pair<std::string_view, Checkpointing>, 3> kCheckpointing{
    {{"none", Checkpointing::none}, {"selective", Checkpointing::selective}, {"full", Checkpointing::full}}};
constexpr std::array<std::pair<std::string_view, SimulationMode>, 1> kModes{
    {{"representative", SimulationMode::representative}}};

void readSoftware(Problems& problems, Section& top, SoftwareSpec& software) {
  Section section(problems, top.find("software"), "software");
  std::string_view attention = software.attention, optimizer = software.optimizerKernel;
  section.choice("attention", attention, Choices<std::string_view>(kAttention), "attention kernels");
  section.choice("optimizer_kernel", optimizer, Choices<std::string_view>(kOptimizerKernels),
                 "optimizer kernels");
  section.choice("loss", software.loss, Choices<LossKernel>(kLosses), "loss kernels");
  section.flag("compile", software.compile);
  section.flag("fused_norm", software.fusedNorm);
  section.count("year", software.year, 2016, 2100);
  section.finish();
  software.attention = std::string(attention);
  software.optimizerKernel = std::string(optimizer);
}

void readSimulate(Problems& problems, Section& top, SimulateSpec& simulate) {
  Section section(problems, top.find("simulate"), "simulate");
  section.choice("mode", simulate.mode, Choices<SimulationMode>(kModes), "modes");
  // The first step allocates, the second is the first steady one.
  section.count("steps", simulate.steps, 2, 255);
  section.count("seed", simulate.seed, 0, std::int64_t{1} << 53);
  section.finish();
}

void readReal(Problems& problems, Section& top, RealSpec& real) {
  // Logs count steps in one byte.
  constexpr std::int64_t kMostSteps = 255;
  Section section(problems, top.find("real"), "real");
  section.fraction("scale", real.scale, 1);
  const bool steps = section.count("steps", real.steps, 1, kMostSteps);
  const bool warmup = section.count("warmup", real.warmup, 0, kMostSteps - 1);
  section.finish();
  if ((steps || warmup) && real.steps + real.warmup > kMostSteps)
    problems.add(section.place(), fmt::format("real: {} steps and {} of warm-up are more than {}", real.steps,
                                              real.warmup, kMostSteps));
}

}  // namespace

std::string fileNamedAt(ReadContext& context, const Node& node, const std::string& path) {
  const auto name = wordAt(context.problems, node, path);
  if (!name) return {};
  std::error_code error;
  // A path typed on the command line is meant from there.
  const bool here = node.place.source > 0 && std::filesystem::is_regular_file(*name, error);
  std::string found = here ? *name : findBeside(*name, context.path, context.options);
  if (!found.empty()) return found;
  const std::string near =
      name->size() <= 100 ? nearest(*name, candidatesBeside(context.path, context.options)) : std::string();
  context.problems.add(node.place, fmt::format("{}: {} is not there", path, shownValue(*name)),
                       near.empty() ? "looked beside the scenario, in traces/data and among the bundled ones"
                                    : fmt::format("did you mean '{}'?", near));
  return {};
}

void readExecution(ReadContext& context, Section& top, Scenario& scenario) {
  top.choice("activation_checkpointing", scenario.activationCheckpointing,
             Choices<Checkpointing>(kCheckpointing), "kinds of checkpointing");
  readSoftware(context.problems, top, scenario.software);
  readSimulate(context.problems, top, scenario.simulate);
  readReal(context.problems, top, scenario.real);
  if (const Node* node = top.find("profile")) scenario.profilePath = fileNamedAt(context, *node, "profile");
}

}  // namespace vsim::core
