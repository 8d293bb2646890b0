#include "gui/view/message_page.h"

#include <QPainter>

#include "gui/paint/palette.h"
#include "gui/view/empty_page.h"

namespace vsim::gui {

void MessagePage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Palette& palette = paletteOf(session_.theme());
  painter.fillRect(rect(), palette.background);
  drawEmptyPage(painter, palette, rect(), message_.section('\n', 0, 0), message_.section('\n', 1));
}

}  // namespace vsim::gui
