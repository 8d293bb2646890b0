#pragma once

#include <QString>
#include <vector>

#include "gui/model/compare.h"
#include "gui/model/summary.h"
#include "gui/paint/sheet.h"

namespace vsim::gui {

/// All that the landing page shows.
struct SummaryPage {
  Summary summary;
  std::vector<DeltaRow> differences;  // to the other run, largest first; side 1 is this run
  QString other;                      // title of the run that is compared with; empty: none
  double otherStep = 0, step = 0;     // of the comparison, s
};

/// Where the page's links lead; HotSpot::id is the index. Kept beside the spots.
using Destinations = std::vector<Destination>;

/// Draws the page from the top of the painter on, `width` wide; answers its height. Both lists may be null.
double paintSummary(QPainter& painter, const Palette& palette, const SummaryPage& page, double width,
                    std::vector<HotSpot>* spots, Destinations* destinations);

}  // namespace vsim::gui
