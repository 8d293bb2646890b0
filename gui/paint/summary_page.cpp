#include "gui/paint/summary_page.h"

#include <algorithm>
#include <cmath>

#include "gui/model/figure_text.h"

namespace vsim::gui {
namespace {

constexpr double kMargin = 20, kGap = 16, kCardHeight = 74, kBarHeight = 22, kTwoColumns = 940,
                 kLegendGap = 24;

QString q(const std::string& text) { return QString::fromStdString(text); }

/// Draws the parts of the page one below the other; every method answers where the next one begins.
class Drawer {
 public:
  Drawer(Sheet& sheet, const SummaryPage& page, Destinations* destinations)
      : sheet_(sheet), page_(page), summary_(page.summary), destinations_(destinations) {}

  double draw(double width) {
    double y = title(QRectF(kMargin, kMargin, width - 2 * kMargin, 0));
    y = cards(QRectF(kMargin, y, width - 2 * kMargin, 0));
    if (width < kTwoColumns) {
      const QRectF all(kMargin, 0, width - 2 * kMargin, 0);
      for (const auto part : {&Drawer::step, &Drawer::memory, &Drawer::provenance, &Drawer::differences,
                              &Drawer::collectives, &Drawer::notes})
        y = (this->*part)(all.translated(0, y));
      return y + kMargin;
    }
    const double column = (width - 2 * kMargin - 2 * kGap) / 2;
    const QRectF left(kMargin, 0, column, 0), right(width - kMargin - column, 0, column, 0);
    double a = step(left.translated(0, y));
    a = collectives(left.translated(0, a));
    double b = memory(right.translated(0, y));
    b = provenance(right.translated(0, b));
    b = differences(right.translated(0, b));
    return notes(QRectF(kMargin, std::max(a, b), width - 2 * kMargin, 0)) + kMargin;
  }

 private:
  using Style = Sheet::Style;

  void link(const QRectF& area, const Destination& to, const QString& tip) {
    if (destinations_ == nullptr || to.view.empty()) return;
    sheet_.spot(area, destinations_->size(), tip + "\nclick: " + q(to.view));
    destinations_->push_back(to);
  }

  double title(const QRectF& area) {
    const Palette& c = sheet_.colours();
    double y = area.top();
    const auto line = [&](const std::string& text, const QColor& colour, Style style) {
      sheet_.text(QRectF(area.left(), y, area.width(), sheet_.lineHeight(style)), q(text), colour, style);
      y += sheet_.lineHeight(style) + 4;
    };
    line(summary_.title, c.text, Style::large);
    line(summary_.subtitle, c.mutedText, Style::normal);
    y += 2;
    y += sheet_.paragraph(QRectF(area.left(), y, area.width(), 0), q(summary_.verdict),
                          summary_.fits && summary_.completed ? c.text : c.exposed, Style::bold);
    return y + kGap;
  }

  double cards(const QRectF& area) {
    const Palette& c = sheet_.colours();
    const auto count = summary_.figures.size();
    const auto perRow = area.width() < 760 ? std::size_t{3} : count;
    const double width = (area.width() - 10 * static_cast<double>(perRow - 1)) / static_cast<double>(perRow);
    const double height =
        std::max(kCardHeight, 14 + sheet_.lineHeight(Style::small) * 2 + sheet_.lineHeight(Style::large) + 4);
    for (std::size_t i = 0; i < count; ++i) {
      const QRectF card(area.left() + static_cast<double>(i % perRow) * (width + 10),
                        area.top() + static_cast<double>(i / perRow) * (height + 10), width, height);
      const SummaryFigure& figure = summary_.figures[i];
      sheet_.painter().fillRect(card, c.panel);
      sheet_.painter().fillRect(QRectF(card.left(), card.top(), 3, card.height()), c.accent);
      double y = card.top() + 7;
      const auto line = [&](const std::string& text, const QColor& colour, Style style) {
        sheet_.text(QRectF(card.left() + 12, y, card.width() - 18, sheet_.lineHeight(style)), q(text), colour,
                    style);
        y += sheet_.lineHeight(style) + 1;
      };
      line(figure.label, c.mutedText, Style::small);
      line(figure.value, c.text, Style::large);
      line(figure.note, c.mutedText, Style::small);
      link(card, figure.to, q(figure.label + ": " + figure.value + " " + figure.note));
    }
    const auto rows = (count + perRow - 1) / perRow;
    return area.top() + static_cast<double>(rows) * (height + 10) + kGap - 10;
  }

  double heading(const QRectF& area, const QString& text, const QString& right = {}) {
    const Palette& c = sheet_.colours();
    const double height = sheet_.lineHeight(Style::heading);
    const double noteWidth = std::min(area.width() / 2, sheet_.textWidth(right, Style::small) + 4);
    sheet_.text(QRectF(area.left(), area.top(), area.width() - noteWidth, height), text, c.text,
                Style::heading);
    sheet_.text(QRectF(area.right() - noteWidth, area.top(), noteWidth, height), right, c.mutedText,
                Style::small, Qt::AlignRight | Qt::AlignVCenter);
    sheet_.painter().fillRect(QRectF(area.left(), area.top() + height + 2, area.width(), 1), c.grid);
    return area.top() + height + 9;
  }

  void fill(const QRectF& area, const SummaryPart& part) {
    const Palette& c = sheet_.colours();
    switch (part.fill) {
      case SummaryPart::Fill::compute:
        return sheet_.bar(area, BarFill::compute);
      case SummaryPart::Fill::exposed:
        return sheet_.bar(area, BarFill::exposed);
      case SummaryPart::Fill::copies:
        return sheet_.bar(area, BarFill::copies);
      case SummaryPart::Fill::waiting:
        return sheet_.bar(area, BarFill::waiting);
      case SummaryPart::Fill::memory:
        return sheet_.bar(area, c.memory(part.category));
      case SummaryPart::Fill::provenance:
        return sheet_.bar(area, c.series(part.provenance + 2),
                          part.provenance == 3 ? Sheet::Pattern::hatched : Sheet::Pattern::solid);
    }
  }

  /// Parts side by side; `whole` is the bar's width.
  double stack(const QRectF& area, const std::vector<SummaryPart>& parts, double whole) {
    double x = area.left();
    for (const SummaryPart& part : parts) {
      const double width = whole > 0 ? part.amount / whole * area.width() : 0;
      const QRectF piece(x, area.top(), width, area.height());
      fill(piece.adjusted(0, 0, width > 4 ? -1 : 0, 0), part);
      link(piece, part.to, q(part.label + ": " + part.value));
      x += width;
    }
    return x;
  }

  double legend(const QRectF& area, const std::vector<SummaryPart>& parts) {
    const Palette& c = sheet_.colours();
    const double height = sheet_.lineHeight() + 3;
    double column = 0;  // as wide as the widest entry
    for (const SummaryPart& part : parts)
      column = std::max(column,
                        sheet_.textWidth(q(part.label)) + sheet_.textWidth(q(part.value)) + 28 + kLegendGap);
    const int columns = std::max(1, static_cast<int>((area.width() + kLegendGap) / column));
    column = (area.width() + kLegendGap) / columns;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const QRectF cell(area.left() + column * static_cast<double>(i % static_cast<std::size_t>(columns)),
                        area.top() + height * static_cast<double>(i / static_cast<std::size_t>(columns)),
                        column - kLegendGap, height);
      fill(QRectF(cell.left(), cell.center().y() - 5, 12, 10), parts[i]);
      sheet_.text(cell.adjusted(18, 0, 0, 0), q(parts[i].label), c.text);
      sheet_.text(cell, q(parts[i].value), c.text, Style::normal, Qt::AlignRight | Qt::AlignVCenter);
      link(cell, parts[i].to, q(parts[i].label + ": " + parts[i].value));
    }
    const auto rows =
        (parts.size() + static_cast<std::size_t>(columns) - 1) / static_cast<std::size_t>(columns);
    return area.top() + height * static_cast<double>(rows);
  }

  double step(const QRectF& area) {
    const Palette& c = sheet_.colours();
    if (!summary_.completed) {
      const double y = heading(area, "Step");
      return y +
             sheet_.paragraph(QRectF(area.left(), y, area.width(), 0),
                              "No step completed: there are no times.", c.mutedText) +
             kGap;
    }
    double y = heading(area, "Where the step goes", q(timeText(summary_.stepSeconds)));
    stack(QRectF(area.left(), y, area.width(), kBarHeight), summary_.breakdown, summary_.stepSeconds);
    y = legend(QRectF(area.left(), y + kBarHeight + 6, area.width(), 0), summary_.breakdown) + 10;
    double labels = 0, values = 0;
    for (const SummaryPhase& phase : summary_.phases) {
      labels = std::max(labels, sheet_.textWidth(q(phase.label)) + 10);
      values = std::max(values, sheet_.textWidth(q(phaseValue(phase))) + 10);
    }
    const double height = std::max(kBarHeight - 4, sheet_.lineHeight() + 2);
    for (const SummaryPhase& phase : summary_.phases) {
      const QRectF row(area.left(), y, area.width(), height);
      sheet_.text(QRectF(row.left(), y, labels, height), q(phase.label), c.text);
      const QRectF bar(row.left() + labels, y + 2, row.width() - labels - values, height - 4);
      stack(bar, phase.parts, summary_.stepSeconds);
      sheet_.text(QRectF(row.right() - values, y, values, height), q(phaseValue(phase)), c.text,
                  Style::normal, Qt::AlignRight | Qt::AlignVCenter);
      link(QRectF(row.left(), y, labels, height), phase.to, q(phase.label + ": " + phaseValue(phase)));
      y += height + 2;
    }
    return y + kGap;
  }

  [[nodiscard]] std::string phaseValue(const SummaryPhase& phase) const {
    return timeText(phase.seconds) + "  " + percentText(phase.seconds / summary_.stepSeconds);
  }

  double memory(const QRectF& area) {
    const Palette& c = sheet_.colours();
    double y = heading(area, "Memory of a GPU at its peak",
                       q("capacity " + core::formatBytes(std::llround(summary_.capacityBytes))));
    double used = 0;
    for (const SummaryPart& part : summary_.memory) used += part.amount;
    const double whole = std::max({used, summary_.capacityBytes, summary_.reservedBytes, 1.0});
    const QRectF bar(area.left(), y, area.width(), kBarHeight);
    sheet_.painter().fillRect(bar, c.panel);
    stack(bar, summary_.memory, whole);
    if (summary_.capacityBytes > 0) {
      const double x = bar.left() + summary_.capacityBytes / whole * bar.width();
      sheet_.painter().fillRect(QRectF(x - 2, bar.top() - 3, 2, bar.height() + 6), c.exposed);
    }
    const QString text =
        q("allocated " + core::formatBytes(std::llround(summary_.allocatedBytes)) + ", reserved " +
          core::formatBytes(std::llround(summary_.reservedBytes)) + "; the line is the capacity");
    y += kBarHeight + 5;
    sheet_.text(QRectF(area.left(), y, area.width(), sheet_.lineHeight(Style::small)), text, c.mutedText,
                Style::small);
    y += sheet_.lineHeight(Style::small) + 4;
    return legend(QRectF(area.left(), y, area.width(), 0), summary_.memory) + kGap;
  }

  double provenance(const QRectF& area) {
    if (summary_.provenance.empty()) return area.top();
    const QString error =
        summary_.errorText.empty() ? QString("error not known") : q("standard error " + summary_.errorText);
    const double y = heading(area, "What the step time rests on", error);
    stack(QRectF(area.left(), y, area.width(), kBarHeight - 8), summary_.provenance, 1);
    return legend(QRectF(area.left(), y + kBarHeight - 2, area.width(), 0), summary_.provenance) + kGap;
  }

  double differences(const QRectF& area) {
    const Palette& c = sheet_.colours();
    if (page_.other.isEmpty()) {
      const double y = heading(area, "Differences");
      return y +
             sheet_.paragraph(QRectF(area.left(), y, area.width(), 0),
                              "Pin a run as baseline, or add one to compare, to see the largest "
                              "differences here.",
                              c.mutedText) +
             kGap;
    }
    double y = heading(area, "Largest differences to " + page_.other,
                       q(timeText(page_.otherStep) + " -> " + timeText(page_.step)));
    double most = 0, values = 0;
    for (const DeltaRow& row : page_.differences) {
      most = std::max(most, std::abs(row.difference(1)));
      values = std::max(values, sheet_.textWidth(changeText(row)) + 8);
    }
    const double height = sheet_.lineHeight() + 3, middle = area.width() * 0.25;
    const double labels = area.width() - values - middle - 8;
    for (const DeltaRow& row : page_.differences) {
      const QRectF line(area.left(), y, area.width(), height);
      sheet_.text(QRectF(line.left(), y, labels, height), q(row.name), c.text);
      const double zero = line.left() + labels + middle / 2, reach = middle / 2 - 2;
      const double length = most > 0 ? row.difference(1) / most * reach : 0;
      sheet_.bar(QRectF(std::min(zero, zero + length), y + 4, std::abs(length), height - 8),
                 length > 0 ? BarFill::exposed : BarFill::compute);
      sheet_.painter().fillRect(QRectF(zero, y, 1, height), c.mutedText);
      sheet_.text(line, changeText(row), c.text, Style::normal, Qt::AlignRight | Qt::AlignVCenter);
      link(line, {"compare"}, q(row.name) + ": " + changeText(row));
      y += height;
    }
    if (page_.differences.empty()) {
      sheet_.text(QRectF(area.left(), y, area.width(), height), "No difference.", c.mutedText);
      y += height;
    }
    return y + kGap;
  }

  static QString changeText(const DeltaRow& row) {
    const double change = row.difference(1);
    return QString(change > 0 ? QChar(0x25B2) : QChar(0x25BC)) + " " + q(differenceText(row.unit, change));
  }

  double collectives(const QRectF& area) {
    if (summary_.collectives.empty()) return area.top();
    const Palette& c = sheet_.colours();
    double y = heading(area, "Collectives of the step");
    constexpr std::size_t kColumns = std::size(kSummaryCollectiveHeader);
    std::array<double, kColumns> widths{};
    for (std::size_t i = 0; i < kColumns; ++i) {
      widths[i] = sheet_.textWidth(kSummaryCollectiveHeader[i], Style::small);
      for (const SummaryCollective& row : summary_.collectives)
        widths[i] = std::max(widths[i], sheet_.textWidth(q(row.cells[i]), Style::small));
    }
    double sum = 0;
    for (const double width : widths) sum += width;
    const double gap = std::max(6.0, (area.width() - sum) / (kColumns - 1));
    const double height = sheet_.lineHeight(Style::small) + 4;
    const auto drawRow = [&](auto&& cell, const QColor& colour) {
      double x = area.left();
      for (std::size_t i = 0; i < kColumns; ++i) {
        if (x + widths[i] > area.right() + 1) break;  // narrow pages show what fits
        sheet_.text(QRectF(x, y, widths[i] + 1, height), cell(i), colour, Style::small,
                    (i < 2 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        x += widths[i] + gap;
      }
      y += height;
    };
    drawRow([](std::size_t i) { return QString(kSummaryCollectiveHeader[i]); }, c.mutedText);
    for (const SummaryCollective& row : summary_.collectives) {
      link(QRectF(area.left(), y, area.width(), height), row.to,
           q(row.cells[0] + " on " + row.cells[1] + ": the longest one"));
      drawRow([&](std::size_t i) { return q(row.cells[i]); }, c.text);
    }
    return y + kGap;
  }

  double notes(const QRectF& area) {
    if (summary_.notes.empty()) return area.top();
    double y = heading(area, "Notes");
    for (const std::string& note : summary_.notes)
      y += sheet_.paragraph(QRectF(area.left(), y, area.width(), 0), QString(QChar(0x2022)) + " " + q(note),
                            sheet_.colours().text) +
           3;
    return y + kGap;
  }

  Sheet& sheet_;
  const SummaryPage& page_;
  const Summary& summary_;
  Destinations* destinations_;
};

}  // namespace

double paintSummary(QPainter& painter, const Palette& palette, const SummaryPage& page, double width,
                    std::vector<HotSpot>* spots, Destinations* destinations) {
  Sheet sheet(painter, palette, spots);
  return Drawer(sheet, page, destinations).draw(std::max(width, 480.0));
}

}  // namespace vsim::gui
