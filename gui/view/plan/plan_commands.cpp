#include <algorithm>

#include "gui/view/empty_page.h"
#include "gui/view/plan/plan_view.h"

// What the plan page's commands do, their table, and the page on paper.

namespace vsim::gui {

void PlanView::stepTensor(int by) {
  const auto& map = canvas_->side(0).map;
  if (!map || map->tensors().empty()) return;
  const auto count = static_cast<std::int64_t>(map->tensors().size());
  const std::int64_t now = canvas_->selected().empty() ? -1 : map->tensorNamed(canvas_->selected());
  const std::int64_t next = now < 0 ? (by > 0 ? 0 : count - 1) : (now + by + count) % count;
  select(map->tensor(next).name);
}

void PlanView::stepCombo(QComboBox& combo, int by) {
  if (combo.count() > 0) combo.setCurrentIndex((combo.currentIndex() + by + combo.count()) % combo.count());
}

void PlanView::stepSize(int by) {
  if (!study_ || study_->sizes.empty() || !set()) return;
  const auto at = std::ranges::lower_bound(study_->sizes, set()->devices) - study_->sizes.begin();
  const auto last = static_cast<std::ptrdiff_t>(study_->sizes.size()) - 1;
  showGroupSize(study_->sizes[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(at + by, 0, last))]);
}

void PlanView::find() {
  const auto& map = canvas_->side(0).map;
  const QString wanted = search_->text().trimmed();
  if (!map || wanted.isEmpty()) return;
  const auto count = static_cast<std::int64_t>(map->tensors().size());
  const std::int64_t now = canvas_->selected().empty() ? -1 : map->tensorNamed(canvas_->selected());
  for (std::int64_t step = 1; step <= count; ++step) {
    const std::int64_t tensor = (now + step + count) % count;
    if (QString::fromStdString(map->tensor(tensor).name).contains(wanted, Qt::CaseInsensitive))
      return select(map->tensor(tensor).name);
  }
  emit session().message("No tensor of this bucket has \"" + wanted + "\" in its name");
}

std::vector<Command> PlanView::commands() {
  const auto c = canvas_;
  return {
      {"plan.zoom-in", "Zoom in", "W; Ctrl++", "Shows fewer elements, down to one.",
       [c] { c->zoom(0.7, -1); }},
      {"plan.zoom-out", "Zoom out", "S; Ctrl+-", "Shows more elements.", [c] { c->zoom(1 / 0.7, -1); }},
      {"plan.left", "Pan left", "A; Left", "Moves to smaller offsets.", [c] { c->pan(-0.15); }},
      {"plan.right", "Pan right", "D; Right", "Moves to larger offsets.", [c] { c->pan(0.15); }},
      {"plan.up", "Rows up", "Up", "Shows devices before.", [c] { c->scrollRows(-1); }},
      {"plan.down", "Rows down", "Down", "Shows devices after.", [c] { c->scrollRows(1); }},
      {"plan.page-up", "Page of rows up", "PgUp", "Shows devices far before.", [c] { c->scrollRows(-10); }},
      {"plan.page-down", "Page of rows down", "PgDown", "Shows devices far after.",
       [c] { c->scrollRows(10); }},
      {"plan.fit", "Fit the shard", "Shift+F", "Shows whole shards.", [c] { c->fit(); }},
      {"plan.fit-selected", "Fit the tensor", "F", "Zooms to the selected tensor.",
       [c] { c->fitSelected(); }},
      {"plan.next", "Next tensor", ".", "Selects the next tensor of the bucket.", [this] { stepTensor(1); }},
      {"plan.previous", "Previous tensor", ",", "Selects the tensor before.", [this] { stepTensor(-1); }},
      {"plan.none", "Select nothing", "Esc", "Ends the highlighting of a tensor.", [this] { select({}); }},
      {"plan.next-bucket", "Next bucket", "]", "Shows the next kind of bucket.",
       [this] { stepCombo(*buckets_, 1); }},
      {"plan.previous-bucket", "Previous bucket", "[", "Shows the kind of bucket before.",
       [this] { stepCombo(*buckets_, -1); }},
      {"plan.upper", "Upper map: next system", "Y", "Shows the bucket under another system.",
       [this] { stepCombo(*systems_[0], 1); }},
      {"plan.lower", "Lower map: next system", "B", "Sets another system, or none, beside it.",
       [this] { stepCombo(*systems_[1], 1); }},
      {"plan.larger", "Larger FSDP group", "+; =", "Shows the maps of the next group size.",
       [this] { stepSize(1); }},
      {"plan.smaller", "Smaller FSDP group", "-", "Shows the maps of the group size before.",
       [this] { stepSize(-1); }},
      {"plan.unit", "Bytes or elements", "U", "Changes the ruler's unit.",
       [c] { c->setUnit(c->unit() == PlanUnit::bytes ? PlanUnit::elements : PlanUnit::bytes); }},
      {"plan.dense", "All rows or readable rows", "H", "Fits as many devices as possible, or names them.",
       [c] { c->setDenseRows(!c->denseRows()); }},
      {"plan.find", "Find tensor", "Ctrl+F; /", "Selects the next tensor with these letters in its name.",
       [this] {
         search_->setFocus();
         search_->selectAll();
       }},
      {"plan.table", "Next table", "T", "Facts, systems, tensors, group sizes as tables.",
       [this] { tabs_->setCurrentIndex((tabs_->currentIndex() + 1) % tabs_->count()); }},
  };
}

void PlanView::drawExport(QPainter& painter, QSize size) {
  const QRectF area(0, 0, size.width(), size.height());
  const Palette& palette = paletteOf(session().theme());
  painter.fillRect(area, palette.background);
  if (pages_->currentIndex() == 1)
    return drawEmptyPage(painter, palette, area, problem_.section('\n', 0, 0), problem_.section('\n', 1));
  const double below = std::min(280.0, area.height() * 0.35);
  canvas_->draw(painter, area.adjusted(0, 0, 0, -below));
  const QRectF lower(area.left(), area.bottom() - below, area.width(), below);
  const double left = std::floor(lower.width() * 0.5);
  sizes_->draw(painter, QRectF(lower.left() + left, lower.top(), lower.width() - left, below));
  // The facts as two columns of words.
  const DataTable& facts = facts_->table();
  const double line = std::min(17.0, (below - 8) / static_cast<double>(facts.rows.size() + 1));
  const auto bad = badFacts(facts);
  const auto row = [&](const std::vector<std::string>& cells, double y, const QColor& colour) {
    const double columns = static_cast<double>(std::max<std::size_t>(2, cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double wide = (left - 24) / columns;
      painter.setPen(i == 0 ? palette.mutedText : colour);
      const QRectF cell(lower.left() + 12 + static_cast<double>(i) * wide, y, wide - 8, line);
      painter.drawText(cell, Qt::AlignVCenter | (i == 0 ? Qt::AlignLeft : Qt::AlignRight),
                       painter.fontMetrics().elidedText(QString::fromStdString(cells[i]), Qt::ElideRight,
                                                        static_cast<int>(cell.width())));
    }
  };
  row(facts.header, lower.top() + 4, palette.text);
  for (std::size_t i = 0; i < facts.rows.size(); ++i)
    row(facts.rows[i], lower.top() + 4 + line * static_cast<double>(i + 1),
        bad[i] ? palette.exposed : palette.text);
}

DataTable PlanView::exportTable() const { return tensors_->table(); }

}  // namespace vsim::gui
