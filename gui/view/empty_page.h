#pragma once

#include <QPainter>
#include <QString>

#include "gui/paint/palette.h"

namespace vsim::gui {

/// A page without content: what is missing, and one sentence on what to do.
void drawEmptyPage(QPainter& painter, const Palette& colours, const QRectF& area, const QString& title,
                   const QString& hint);

}  // namespace vsim::gui
