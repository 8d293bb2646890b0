#include "gui/paint/compare_page.h"

#include <algorithm>
#include <cmath>

#include "gui/model/figure_text.h"
#include "gui/model/ticks.h"

namespace vsim::gui {
namespace {

using Style = Sheet::Style;

QString q(const std::string& text) { return QString::fromStdString(text); }

QString arrowed(double seconds) {
  if (seconds == 0) return "0";
  return QString(seconds > 0 ? QChar(0x25B2) : QChar(0x25BC)) + " " + q(signedTimeText(seconds));
}

void heading(Sheet& sheet, const QRectF& area, const QString& text) {
  sheet.text(QRectF(area.left(), area.top(), area.width(), sheet.lineHeight(Style::heading)), text,
             sheet.colours().text, Style::heading);
}

}  // namespace

void paintWaterfall(Sheet& sheet, const Waterfall& waterfall, const QString& a, const QString& b,
                    const QRectF& area) {
  const Palette& c = sheet.colours();
  heading(sheet, area, "Step time from A to B");
  const double top = area.top() + sheet.lineHeight(Style::heading) + 8;
  if (waterfall.bars.empty()) {
    sheet.paragraph(QRectF(area.left(), top, area.width(), 0),
                    "These sides have no parts in common: a log is missing, or no step was completed.",
                    c.mutedText);
    return;
  }
  double low = std::min(waterfall.from, waterfall.to), high = std::max(waterfall.from, waterfall.to);
  double at = waterfall.from;
  for (const WaterfallBar& bar : waterfall.bars) {
    at += bar.seconds;
    low = std::min(low, at);
    high = std::max(high, at);
  }
  // Bars begin at zero unless the difference would be too small to be seen.
  const double base = high - low < 0.15 * high ? std::max(0.0, low - (high - low) * 0.6) : 0;
  double labels = 0, values = 0;
  for (const WaterfallBar& bar : waterfall.bars) {
    labels = std::max(labels, sheet.textWidth(q(bar.name)) + 12);
    values = std::max(values, sheet.textWidth(arrowed(bar.seconds)) + 10);
  }
  values = std::max({values, sheet.textWidth(q(timeText(waterfall.from)), Style::bold) + 10,
                     sheet.textWidth(q(timeText(waterfall.to)), Style::bold) + 10});
  for (const QString& name : {"A  " + a, "B  " + b})
    labels = std::max(labels, sheet.textWidth(name, Style::bold) + 12);
  labels = std::clamp(labels, 60.0, area.width() * 0.42);
  const double rows = static_cast<double>(waterfall.bars.size()) + 2;
  const double note = base > 0 ? sheet.lineHeight(Style::small) + 2 : 0;
  const double height = std::clamp((area.bottom() - top - note) / rows, sheet.lineHeight() + 1, 30.0);
  const double left = area.left() + labels, width = area.width() - labels - values;
  const auto x = [&](double seconds) { return left + (seconds - base) / (high - base) * width; };
  double y = top;
  const auto total = [&](const QString& name, double seconds) {
    sheet.text(QRectF(area.left(), y, labels - 6, height), name, c.text, Style::bold);
    sheet.bar(QRectF(left, y + 3, x(seconds) - left, height - 6), c.mutedText);
    sheet.text(QRectF(area.right() - values, y, values, height), q(timeText(seconds)), c.text, Style::bold,
               Qt::AlignRight | Qt::AlignVCenter);
    y += height;
  };
  total("A  " + a, waterfall.from);
  at = waterfall.from;
  for (const WaterfallBar& bar : waterfall.bars) {
    const double next = at + bar.seconds;
    sheet.text(QRectF(area.left(), y, labels - 6, height), q(bar.name), c.text);
    const QRectF box(x(std::min(at, next)), y + 3,
                     std::max(1.0, x(std::max(at, next)) - x(std::min(at, next))), height - 6);
    sheet.bar(box, bar.seconds > 0 ? BarFill::exposed : BarFill::compute);
    sheet.painter().fillRect(QRectF(x(next), y + height - 3, 1, 6), c.mutedText);
    sheet.text(QRectF(area.right() - values, y, values, height), arrowed(bar.seconds), c.text, Style::normal,
               Qt::AlignRight | Qt::AlignVCenter);
    at = next;
    y += height;
  }
  total("B  " + b, waterfall.to);
  if (base > 0)
    sheet.text(QRectF(left, y, width, note), q("bars begin at " + timeText(base)), c.mutedText, Style::small);
}

void paintMemoryBars(Sheet& sheet, const Comparison& comparison, const QRectF& area) {
  const Palette& c = sheet.colours();
  heading(sheet, area, "Memory of a GPU at its peak");
  double whole = 1;
  for (const ComparedSide& side : comparison.sides) {
    double used = 0;
    for (const core::Bytes bytes : side.figures().memoryByCategory) used += static_cast<double>(bytes);
    whole = std::max({whole, used, static_cast<double>(side.figures().hardware.capacityBytes)});
  }
  const double line = sheet.lineHeight(), small = sheet.lineHeight(Style::small);
  double y = area.top() + sheet.lineHeight(Style::heading) + 8;
  // Small programs on large GPUs would be invisible beside the capacity.
  double most = 1;
  for (const ComparedSide& side : comparison.sides) {
    double used = 0;
    for (const core::Bytes bytes : side.figures().memoryByCategory) used += static_cast<double>(bytes);
    most = std::max(most, used);
  }
  const bool zoomed = most < whole * 0.25;
  if (zoomed) whole = most * 1.05;
  for (std::size_t s = 0; s < comparison.sides.size(); ++s) {
    const core::RunReport& report = comparison.sides[s].figures();
    const QString letter(QChar(static_cast<char16_t>(u'A' + s)));
    double x = area.left() + 22;
    const double width = area.width() - 22 - 92;
    sheet.text(QRectF(area.left(), y, 20, line), letter, c.text, Style::bold);
    for (std::size_t i = 0; i < report.memoryByCategory.size(); ++i) {
      const double part = static_cast<double>(report.memoryByCategory[i]) / whole * width;
      sheet.bar(QRectF(x, y + 1, part, line), c.memory(static_cast<core::MemoryCategory>(i)));
      x += part;
    }
    const double capacity = static_cast<double>(report.hardware.capacityBytes) / whole * width;
    if (!zoomed)
      sheet.painter().fillRect(QRectF(area.left() + 22 + capacity - 1, y - 2, 2, line + 6), c.exposed);
    sheet.text(QRectF(area.right() - 90, y, 90, line), q(core::formatBytes(report.peakAllocated)), c.text,
               Style::normal, Qt::AlignRight | Qt::AlignVCenter);
    y += line + 6;
  }
  sheet.text(QRectF(area.left() + 22, y, area.width() - 22, small),
             zoomed ? "right: peak allocated; far below the capacity, which is not drawn"
                    : "right: peak allocated; red line: capacity",
             c.mutedText, Style::small);
  y += small + 6;
  // The categories with their change from A to B: the legend.
  const double column = area.width() / 2;
  std::size_t place = 0;
  for (std::size_t i = 0; i < std::size(core::kMemoryCategoryNames); ++i) {
    const auto bytes = [&](std::size_t side) {
      return static_cast<double>(comparison.sides[side].figures().memoryByCategory[i]);
    };
    bool any = false;
    for (std::size_t s = 0; s < comparison.sides.size(); ++s) any = any || bytes(s) != 0;
    if (!any) continue;
    const QRectF cell(area.left() + column * static_cast<double>(place % 2),
                      y + (line + 2) * static_cast<double>(place / 2), column - 14, line + 2);
    if (cell.bottom() > area.bottom() + 2) break;
    const auto category = static_cast<core::MemoryCategory>(i);
    sheet.bar(QRectF(cell.left(), cell.center().y() - 5, 12, 10), c.memory(category));
    const double change = comparison.sides.size() > 1 ? bytes(1) - bytes(0) : 0;
    const QString text =
        change == 0 ? QString("=")
                    : QString(change > 0 ? QChar(0x25B2) : QChar(0x25BC)) + " " + q(signedBytesText(change));
    const double room = sheet.textWidth(text) + 4;
    sheet.text(cell.adjusted(18, 0, -room, 0), q(categoryText(category)), c.text);
    sheet.text(cell, text, c.text, Style::normal, Qt::AlignRight | Qt::AlignVCenter);
    ++place;
  }
}

}  // namespace vsim::gui
