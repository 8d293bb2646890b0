#include <algorithm>

#include "gui/view/empty_page.h"
#include "gui/view/network/network_view.h"

// What the network page's commands do, their table, and the page on paper.

namespace vsim::gui {

void NetworkView::zoom(double factor, double column) {
  if (map_) session().setZoom(zoomed(loads_->axis(), column, factor, map_->whole()));
}

void NetworkView::pan(double columns) {
  if (map_) session().setZoom(panned(loads_->axis(), columns, map_->whole()));
}

void NetworkView::stepTier(int by) {
  if (!map_) return;
  std::vector<int> present;
  for (int t = 0; t < static_cast<int>(kLinkTiers); ++t)
    if (map_->tier(static_cast<LinkTier>(t)).present) present.push_back(t);
  if (present.empty()) return;
  const auto now = selectedTier();
  const auto at =
      now ? std::ranges::find(present, static_cast<int>(*now)) - present.begin() : (by > 0 ? -1 : 0);
  const auto count = static_cast<std::ptrdiff_t>(present.size());
  pickTier(present[static_cast<std::size_t>(((at + by) % count + count) % count)]);
}

void NetworkView::stepCollective(int by) {
  if (!map_ || map_->flows().empty()) return;
  const auto& flows = map_->flows();
  const core::Picoseconds now = session().cursor().value_or(map_->lastStep().begin);
  const auto tier = selectedTier();
  const auto on = [&](const NetworkFlow& flow) {
    return !tier || flow.carried[static_cast<std::size_t>(*tier)] > 0;
  };
  const auto middle = [](const NetworkFlow& flow) { return flow.begin + flow.length() / 2; };
  std::ptrdiff_t best = -1;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const core::Picoseconds at = middle(flows[i]);
    if (!on(flows[i]) || (by > 0 ? at <= now : at >= now)) continue;
    const core::Picoseconds known = best < 0 ? at : middle(flows[static_cast<std::size_t>(best)]);
    if (best < 0 || (by > 0 ? at < known : at > known)) best = static_cast<std::ptrdiff_t>(i);
  }
  if (best >= 0) goTo(static_cast<std::size_t>(best));
}

std::vector<Command> NetworkView::commands() {
  const auto middle = [this] { return loads_->axis().width / 2.0; };
  return {
      {"network.zoom-in", "Zoom in", "W; Ctrl++", "Shows less time.",
       [this, middle] { zoom(0.7, middle()); }},
      {"network.zoom-out", "Zoom out", "S; Ctrl+-", "Shows more time.",
       [this, middle] { zoom(1 / 0.7, middle()); }},
      {"network.left", "Pan left", "A; Left", "Moves to earlier times.",
       [this, middle] { pan(-0.3 * middle()); }},
      {"network.right", "Pan right", "D; Right", "Moves to later times.",
       [this, middle] { pan(0.3 * middle()); }},
      {"network.fit", "Fit all", "Shift+F", "Shows the whole run.",
       [this] {
         if (map_ && !map_->whole().empty()) session().setZoom(map_->whole());
       }},
      {"network.fit-step", "Fit the last step", "F", "Shows the step that statistics count.",
       [this] {
         if (map_ && !map_->lastStep().empty()) session().setZoom(map_->lastStep());
       }},
      {"network.next", "Next collective", ".",
       "Moves the cursor to the next collective on the selected link.", [this] { stepCollective(1); }},
      {"network.previous", "Previous collective", ",", "Moves the cursor to the collective before.",
       [this] { stepCollective(-1); }},
      {"network.next-link", "Link above", "Up; ]", "Selects the links of the next tier.",
       [this] { stepTier(1); }},
      {"network.previous-link", "Link below", "Down; [", "Selects the links of the tier before.",
       [this] { stepTier(-1); }},
      {"network.limit", "Limit to what is shown", "L", "Statistics count the time in view.",
       [this] {
         if (map_) session().setLimit(picture().zoom);
       }},
      {"network.none", "No cursor, no selection", "Esc", "Links show their mean again.",
       [this] {
         session().setCursor(std::nullopt);
         session().select({});
       }},
      {"network.class", "Next class of ranks", "K", "Shows what another class of ranks did.",
       [this] {
         if (classes_->count() > 1)
           classes_->setCurrentIndex((classes_->currentIndex() + 1) % classes_->count());
       }},
      {"network.table", "Next table", "T", "Lost time, communicators, links, what runs at the cursor.",
       [this] { tabs_->setCurrentIndex((tabs_->currentIndex() + 1) % tabs_->count()); }},
  };
}

void NetworkView::drawExport(QPainter& painter, QSize size) {
  const QRectF area(0, 0, size.width(), size.height());
  const Palette& palette = paletteOf(session().theme());
  painter.fillRect(area, palette.background);
  if (!map_)
    return drawEmptyPage(painter, palette, area, problem_.section('\n', 0, 0), problem_.section('\n', 1));
  if (!map_->known())
    return drawEmptyPage(painter, palette, area, "Rates of the links are unknown", note_->text());
  const double upper = area.height() * 0.55;
  topology_->draw(painter, QRectF(area.left(), area.top(), area.width(), upper));
  loads_->draw(painter, area.adjusted(0, upper, 0, 0));
}

DataTable NetworkView::exportTable() const { return map_ ? map_->flowTable() : DataTable{}; }

}  // namespace vsim::gui
