#include "core/report/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace vsim::core {

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (const auto& cells : lines_) {
    if (cells.size() < 2) continue;
    widths.resize(std::max(widths.size(), cells.size()), 0);
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string result;
  for (const auto& cells : lines_) {
    std::string line(indent_, ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t width = cells.size() < 2 ? 0 : widths[i];
      if (i == 0)
        fmt::format_to(std::back_inserter(line), "{:<{}}", cells[i], width);
      else
        fmt::format_to(std::back_inserter(line), "  {:>{}}", cells[i], width);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + '\n';
  }
  return result;
}

}  // namespace vsim::core
