#pragma once

#include <QPainter>
#include <QString>
#include <cstddef>
#include <vector>

#include "gui/paint/palette.h"

namespace vsim::gui {

/// A place of a picture that leads somewhere when it is clicked; `id` is the drawer's.
struct HotSpot {
  QRectF area;
  std::size_t id = 0;
  QString tip;
};

/// What stretches of time and shares look like where several stand side by side: hatches tell them apart
/// without colours.
enum class BarFill { compute, exposed, copies, waiting };

/// Text, bars and links of a page, in the colours of a theme and the painter's font. Draws on screens, images
/// and SVG alike.
class Sheet {
 public:
  enum class Style { small, normal, bold, heading, large };

  /// `spots`, which may be null, receives the places of links.
  Sheet(QPainter& painter, const Palette& palette, std::vector<HotSpot>* spots);

  [[nodiscard]] QPainter& painter() const { return painter_; }
  [[nodiscard]] const Palette& colours() const { return palette_; }
  [[nodiscard]] double lineHeight(Style style = Style::normal) const;
  [[nodiscard]] double textWidth(const QString& text, Style style = Style::normal) const;

  /// One line, elided where it is too long; aligned within `area`.
  void text(const QRectF& area, const QString& text, const QColor& colour, Style style = Style::normal,
            Qt::Alignment alignment = Qt::AlignLeft | Qt::AlignVCenter);
  /// As many lines as it needs; answers its height.
  double paragraph(const QRectF& area, const QString& text, const QColor& colour,
                   Style style = Style::normal);
  /// A bar or its sample in a legend: filled, framed, hatched where `hatched`.
  enum class Pattern { solid, hatched };
  void bar(const QRectF& area, const QColor& colour, Pattern pattern = Pattern::solid);
  void bar(const QRectF& area, BarFill fill);
  void spot(const QRectF& area, std::size_t id, const QString& tip);

 private:
  [[nodiscard]] QFont font(Style style) const;

  QPainter& painter_;
  const Palette& palette_;
  std::vector<HotSpot>* spots_;
  QFont base_;
};

[[nodiscard]] QColor barColour(const Palette& palette, BarFill fill);

}  // namespace vsim::gui
