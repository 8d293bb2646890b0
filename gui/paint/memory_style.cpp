#include "gui/paint/memory_style.h"

#include <QFontMetrics>
#include <algorithm>
#include <array>
#include <cmath>

namespace vsim::gui {

QColor memoryPartColor(const Palette& palette, std::size_t part) {
  if (part < kEarlierMemory) return palette.memory(static_cast<core::MemoryCategory>(part));
  return mixed(palette.background, palette.mutedText, 0.6);
}

QColor mixed(const QColor& a, const QColor& b, double share) {
  const auto channel = [share](int x, int y) {
    return static_cast<int>(
        std::lround(static_cast<double>(x) * (1 - share) + static_cast<double>(y) * share));
  };
  return QColor(channel(a.red(), b.red()), channel(a.green(), b.green()), channel(a.blue(), b.blue()));
}

QBrush freeHatch(const Palette& palette) {
  return QBrush(mixed(palette.background, palette.mutedText, 0.75), Qt::BDiagPattern);
}

QString bytesText(core::Bytes bytes) { return QString::fromStdString(core::formatBytes(bytes)); }
QString timeText(core::Picoseconds time) { return QString::fromStdString(core::formatTime(time)); }

std::vector<AxisTick> timeTicks(TimeRange view, int most) {
  std::vector<AxisTick> ticks;
  if (view.empty() || most < 1) return ticks;
  constexpr std::array<std::int64_t, 3> kSteps{1, 2, 5};
  std::int64_t step = 1;
  for (std::int64_t power = 1, i = 0; view.length() / step >= most; ++i) {
    if (i % 3 == 0 && i > 0) power *= 10;
    step = power * kSteps[static_cast<std::size_t>(i % 3)];
  }
  struct Unit {
    const char* name;
    std::int64_t picoseconds;
  };
  constexpr std::array<Unit, 5> kUnits{
      {{"s", 1'000'000'000'000}, {"ms", 1'000'000'000}, {"\u00b5s", 1'000'000}, {"ns", 1000}, {"ps", 1}}};
  const std::int64_t scale = std::max(std::abs(view.begin), std::abs(view.end));
  const Unit* unit = &kUnits.back();
  for (const Unit& u : kUnits)
    if (scale >= u.picoseconds) {
      unit = &u;
      break;
    }
  int digits = 0;
  for (std::int64_t s = step; s < unit->picoseconds && digits < 9; s *= 10) ++digits;
  std::int64_t first = view.begin / step * step;
  if (first < view.begin) first += step;
  for (std::int64_t t = first; t < view.end; t += step)
    ticks.push_back(
        {t, QString("%1 %2")
                .arg(static_cast<double>(t) / static_cast<double>(unit->picoseconds), 0, 'f', digits)
                .arg(unit->name)});
  return ticks;
}

std::vector<AxisTick> eventTicks(TimeRange view, int most) {
  std::vector<AxisTick> ticks;
  if (view.empty() || most < 1) return ticks;
  std::int64_t step = MemoryCurve::kEventUnit;
  for (int i = 0; view.length() / step >= most; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  // Event number n, counted from 1, starts at n - 1.
  const std::int64_t one = MemoryCurve::kEventUnit;
  for (std::int64_t n = std::max(step, (view.begin + one + step - 1) / step * step); n - one < view.end;
       n += step)
    ticks.push_back({n - one, QString::fromStdString(core::formatCount(n / one))});
  return ticks;
}

std::vector<AxisTick> byteTicks(core::Bytes top, int most) {
  std::vector<AxisTick> ticks;
  if (top <= 0 || most < 1) return ticks;
  core::Bytes step = 1;
  while (top / step > most) step *= 2;
  constexpr std::array<const char*, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  core::Bytes size = 1;
  while (unit + 1 < kUnits.size() && top >= size * 1024 && step >= size * 64) {
    size *= 1024;
    ++unit;
  }
  for (core::Bytes value = 0; value <= top; value += step)
    ticks.push_back({value, QString("%1 %2")
                                .arg(static_cast<double>(value) / static_cast<double>(size), 0, 'g', 6)
                                .arg(kUnits[unit])});
  return ticks;
}

int drawMemoryLegend(QPainter& painter, const Palette& palette, const QRect& area,
                     const std::vector<MemoryLegendEntry>& entries) {
  const QFontMetrics metrics(painter.font());
  const int mark = metrics.height() * 3 / 4, gap = metrics.height(), row = metrics.height() + 4;
  int x = area.left(), y = area.top();
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (const MemoryLegendEntry& entry : entries) {
    const int width = mark + 5 + metrics.horizontalAdvance(entry.text) + gap;
    if (x > area.left() && x + width > area.right()) {
      x = area.left();
      y += row;
    }
    const QRect box(x, y + (row - mark) / 2, mark, mark);
    switch (entry.look) {
      case MemoryLegendEntry::Look::fill:
        painter.fillRect(box, entry.colour);
        break;
      case MemoryLegendEntry::Look::hatched:
        painter.fillRect(box, freeHatch(palette));
        painter.setPen(palette.mutedText);
        painter.drawRect(box.adjusted(0, 0, -1, -1));
        break;
      case MemoryLegendEntry::Look::line:
      case MemoryLegendEntry::Look::dashed:
        painter.setPen(QPen(entry.colour, 2,
                            entry.look == MemoryLegendEntry::Look::dashed ? Qt::DashLine : Qt::SolidLine));
        painter.drawLine(box.left(), box.center().y(), box.right(), box.center().y());
        break;
    }
    painter.setPen(palette.text);
    painter.drawText(QRect(x + mark + 5, y, width, row), Qt::AlignLeft | Qt::AlignVCenter, entry.text);
    x += width;
  }
  painter.restore();
  return y + row - area.top();
}

}  // namespace vsim::gui
