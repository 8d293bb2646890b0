#pragma once

#include <string>
#include <vector>

namespace vsim::gui {

/// The data of a view as rows: what CSV export writes and "show as table" displays. Units stand in the
/// header: "duration (us)".
struct DataTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> numeric;  // [column]: aligned right, sorted by value
};

/// RFC 4180: quoted where needed, lines end with CR LF.
[[nodiscard]] std::string toCsv(const DataTable& table);

}  // namespace vsim::gui
