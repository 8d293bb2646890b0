#include "gui/view/compare/difference_table.h"

#include <QBrush>
#include <cmath>

#include "gui/model/figure_text.h"

namespace vsim::gui {
namespace {

constexpr int kFixedColumns = 3;  // what, name, A
constexpr int kSideColumns = 3;   // value, difference, change

std::string sideName(std::size_t side) { return std::string(1, static_cast<char>('A' + side)); }

/// Whether a larger value is worse: times, bytes, and shares that are not efficiencies.
bool lessIsBetter(const DeltaRow& row) {
  if (row.unit == DeltaUnit::seconds || row.unit == DeltaUnit::bytes) return true;
  return row.name == "exposed" || row.name == "padding";
}

QString text(const DeltaRow& row, std::size_t side, int kind) {
  if (kind == 0) return QString::fromStdString(valueText(row.unit, row.values[side]));
  const double change = row.difference(side);
  if (!std::isfinite(change)) return "-";
  if (change == 0) return "=";
  const QString arrow(change > 0 ? QChar(0x25B2) : QChar(0x25BC));
  if (kind == 1) return arrow + " " + QString::fromStdString(differenceText(row.unit, change));
  const double relative = row.relative(side);
  if (!std::isfinite(relative)) return "new";
  return QString::fromStdString(signedPercentText(relative));
}

}  // namespace

DataTable differenceTable(const Comparison& comparison) {
  DataTable table{{"what", "name", "A"}, {}, {false, false, true}};
  for (std::size_t side = 1; side < comparison.sides.size(); ++side)
    for (const std::string& name : {sideName(side), sideName(side) + " - A", sideName(side) + " / A - 1"}) {
      table.header.push_back(name);
      table.numeric.push_back(true);
    }
  for (const DeltaRow& row : comparison.rows) {
    std::vector<std::string> cells{kDeltaGroupNames[static_cast<std::size_t>(row.group)], row.name,
                                   plainNumber(row.values[0])};
    for (std::size_t side = 1; side < row.values.size(); ++side) {
      cells.push_back(plainNumber(row.values[side]));
      cells.push_back(plainNumber(std::abs(row.difference(side))));  // sorted by size, whatever the sign
      cells.push_back(plainNumber(row.relative(side)));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

QVariant differenceCell(const Comparison& comparison, std::size_t row, int column, int role,
                        const Palette& colours) {
  if (column < kFixedColumns - 1) return {};
  const DeltaRow& data = comparison.rows[row];
  const int index = column - (kFixedColumns - 1);
  const std::size_t side = index == 0 ? 0 : static_cast<std::size_t>((index - 1) / kSideColumns) + 1;
  const int kind = index == 0 ? 0 : (index - 1) % kSideColumns;
  if (side >= data.values.size()) return {};
  if (role == Qt::DisplayRole) return text(data, side, kind);
  if (role == Qt::ForegroundRole && kind > 0) {
    const double change = data.difference(side);
    if (std::isfinite(change) && change != 0 && (change > 0) == lessIsBetter(data))
      return QBrush(colours.exposed);
    return QBrush(colours.text);
  }
  return {};
}

}  // namespace vsim::gui
