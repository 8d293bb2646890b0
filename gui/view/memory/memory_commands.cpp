#include <algorithm>

#include "gui/view/memory/memory_page.h"

namespace vsim::gui {
namespace {

constexpr double kZoomStep = 1.5, kPanStep = 0.15;

}  // namespace

std::vector<Command> MemoryPage::commands() {
  const auto tab = [this](Tab wanted) { return [this, wanted] { showTab(wanted); }; };
  return {
      {"memory.zoom-in", "Zoom in", "W", "Shows less time in more detail.",
       [this] { plot_->zoomBy(1 / kZoomStep); }},
      {"memory.zoom-out", "Zoom out", "S", "Shows more time.", [this] { plot_->zoomBy(kZoomStep); }},
      {"memory.pan-left", "Earlier", "A", "Moves to earlier times.", [this] { plot_->panBy(-kPanStep); }},
      {"memory.pan-right", "Later", "D", "Moves to later times.", [this] { plot_->panBy(kPanStep); }},
      {"memory.centre", "Centre, then fit", "F", "Centres the instant; once more: shows all of the run.",
       [this] { plot_->centreOn(instant_); }},
      {"memory.peak", "Peak", "P", "Shows the instant at which most is allocated.",
       [this] { pickInstant(data_ ? data_->curve.peak() : -1); }},
      {"memory.next", "Next event", ".", "Shows the instant after the next allocation or release.",
       [this] { step(1); }},
      {"memory.previous", "Previous event", ",", "Shows the instant before the last allocation or release.",
       [this] { step(-1); }},
      {"memory.at-cursor", "Instant at the cursor", "I", "Shows what is live where the timeline's cursor is.",
       [this] {
         if (data_ && session().cursor()) setInstant(data_->curve.lastAt(*session().cursor()));
       }},
      {"memory.limit", "Limit to what is visible", "L",
       "Statistics and lists count the visible range of time alone.",
       [this] {
         if (data_) session().setLimit(plot_->visibleTime());
       }},
      {"memory.clear-limit", "Clear the limit", "Shift+L", "Statistics and lists count everything again.",
       [this] { session().setLimit(std::nullopt); }},
      {"memory.axis", "Axis of time or events", "X",
       "Draws the curve over time, as the timeline, or event by event in the order of the host.",
       [this] { plot_->setByEvent(!plot_->byEvent()); }},
      {"memory.board", "Axis up to the limit", "Y",
       "Draws the axis up to the out-of-memory line, or to what is in use.",
       [this] { plot_->setWholeBoard(!plot_->wholeBoard()); }},
      {"memory.treemap", "Live: treemap", "T", "What is live at the instant as rectangles.", tab(kTreemap)},
      {"memory.table", "Live: table", "B", "What is live at the instant as a table.", tab(kTable)},
      {"memory.map", "Allocator map", "K", "Segments and blocks of the allocator at the instant.", tab(kMap)},
      {"memory.allocations", "Allocations", "N", "All allocations as a table.", tab(kAllocations)},
      {"memory.search", "Filter allocations", "Ctrl+F; /", "Lists the allocations whose words match.",
       [this] {
         showTab(kAllocations);
         allocations_->focusFilter();
       }},
      {"memory.map-zoom-in", "Map: larger blocks", "+; =", "Draws the blocks of the allocator map larger.",
       [this] { map_->zoomBy(kZoomStep); }},
      {"memory.map-zoom-out", "Map: smaller blocks", "-", "Draws the blocks of the allocator map smaller.",
       [this] { map_->zoomBy(1 / kZoomStep); }},
      {"memory.next-class", "Next class of ranks", "]", "Shows the memory of the next class of ranks.",
       [this] { nextClass(1); }},
      {"memory.previous-class", "Previous class of ranks", "[",
       "Shows the memory of the class of ranks before.", [this] { nextClass(-1); }},
      {"memory.plot", "To the curve", "U", "Moves the keyboard to the curve.",
       [this] { plot_->setFocus(Qt::ShortcutFocusReason); }},
      {"memory.unselect", "Select nothing", "Esc", "Clears the selection.", [this] { session().select({}); }},
  };
}

void MemoryPage::showTab(Tab tab) {
  tabs_->setCurrentIndex(tab);
  QWidget* page = tabs_->currentWidget();
  (tab == kMap ? static_cast<QWidget*>(&map_->slider()) : page)->setFocus(Qt::ShortcutFocusReason);
}

void MemoryPage::nextClass(int by) {
  if (classes_->count() < 2) return;
  classes_->setCurrentIndex((classes_->currentIndex() + by + classes_->count()) % classes_->count());
  build();
}

}  // namespace vsim::gui
