#include "sim/network/collective_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace vsim::sim {

std::string collectiveTable(const ProfiledCollectives& network, const CollectiveTableRequest& request) {
  const GroupShape shape = groupShape(network.model().cluster(), request.group);
  std::string out = fmt::format("# {} on {} ranks: {} in each of {} domains, {}\n",
                                core::kCollectiveNames[static_cast<std::size_t>(request.kind)], shape.ranks,
                                shape.ranksPerDomain, shape.domains, network.model().cluster().preset);
  out += fmt::format("# {:>12} {:>12} {:>6} {:>11} {:>8} {:>8}  {:8} {:6} {:>4}  {}\n", "size", "count",
                     "type", "time", "algbw", "busbw", "algo", "proto", "chan", "source");
  out += fmt::format("# {:>12} {:>12} {:>6} {:>11} {:>8} {:>8}\n", "(B)", "(elements)", "", "(us)", "(GB/s)",
                     "(GB/s)");
  for (const std::int64_t bytes : request.sizes) {
    const core::Cost cost = network.cost(request.kind, bytes, request.group, true, request.dtype);
    const Choice choice = network.model().explain(request.kind, bytes, request.group, true, request.dtype);
    const double seconds = core::secondsFromPicoseconds(cost.time);
    const double algorithmRate = seconds > 0 ? static_cast<double>(bytes) / seconds * 1e-9 : 0;
    const double busRate = seconds > 0 ? busBytes(request.kind, bytes, shape.ranks) / seconds * 1e-9 : 0;
    out += fmt::format("  {:>12} {:>12} {:>6} {:>11.2f} {:>8.2f} {:>8.2f}  {:8} {:6} {:>4}  {}\n", bytes,
                       bytes / core::bytesOf(request.dtype), core::name(request.dtype), seconds * 1e6,
                       algorithmRate, busRate, kAlgorithmNames[static_cast<std::size_t>(choice.algorithm)],
                       kProtocolNames[static_cast<std::size_t>(choice.protocol)], choice.channels,
                       core::name(cost.provenance));
  }
  return out;
}

std::vector<std::int64_t> sizesBetween(std::int64_t least, std::int64_t most, std::int64_t factor) {
  std::vector<std::int64_t> sizes;
  factor = std::max<std::int64_t>(2, factor);
  for (std::int64_t size = std::max<std::int64_t>(1, least); size <= most; size *= factor) {
    sizes.push_back(size);
    if (size > most / factor) break;
  }
  return sizes;
}

}  // namespace vsim::sim
