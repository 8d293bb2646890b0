#include "gui/model/collective_details.h"

#include <fmt/format.h>

#include <algorithm>

namespace vsim::gui {

std::vector<std::pair<std::string, std::string>> modelRows(const sim::CollectiveModel& model,
                                                           const core::StepProgram& program,
                                                           const core::Collective& collective,
                                                           double seconds) {
  std::vector<std::pair<std::string, std::string>> rows;
  const core::CommGroup& group = program.groups[collective.group];
  const core::Bytes bytes =
      std::max(collective.sendElements, collective.receiveElements) * core::bytesOf(collective.dtype);
  if (group.size < 2 || bytes <= 0) return rows;
  const sim::Choice choice =
      model.explain(collective.kind, bytes, group, collective.aligned16, collective.dtype);
  rows.emplace_back("algorithm", fmt::format("{}, {}, {} channels, as the model has NCCL choose",
                                             sim::kAlgorithmNames[static_cast<std::size_t>(choice.algorithm)],
                                             sim::kProtocolNames[static_cast<std::size_t>(choice.protocol)],
                                             choice.channels));
  if (seconds <= 0 || choice.seconds() <= 0) return rows;
  const double moved = sim::busBytes(collective.kind, bytes, static_cast<int>(group.size));
  rows.emplace_back("bus bandwidth, model",
                    fmt::format("{:.1f} GB/s (this one {:+.1f} %)", moved / choice.seconds() / 1e9,
                                100 * (choice.seconds() / seconds - 1)));
  if (choice.bound > 0)
    rows.emplace_back("of the links' line rate", fmt::format("{:.1f} %", 100 * choice.bound / seconds));
  return rows;
}

}  // namespace vsim::gui
