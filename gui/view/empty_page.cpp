#include "gui/view/empty_page.h"

#include "gui/paint/sheet.h"

namespace vsim::gui {

void drawEmptyPage(QPainter& painter, const Palette& colours, const QRectF& area, const QString& title,
                   const QString& hint) {
  Sheet sheet(painter, colours, nullptr);
  const double height = sheet.lineHeight(Sheet::Style::large);
  const double top = area.top() + area.height() * 0.4 - height;
  sheet.text(QRectF(area.left(), top, area.width(), height), title, colours.text, Sheet::Style::large,
             Qt::AlignCenter);
  sheet.text(QRectF(area.left(), top + height + 6, area.width(), sheet.lineHeight()), hint, colours.mutedText,
             Sheet::Style::normal, Qt::AlignCenter);
}

}  // namespace vsim::gui
