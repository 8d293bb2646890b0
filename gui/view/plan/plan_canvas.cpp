#include "gui/view/plan/plan_canvas.h"

#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

namespace vsim::gui {
namespace {

constexpr double kLegend = 22, kMargin = 0.02, kLeastElements = 1;
constexpr int kLargestRow = 36, kSmallestRow = 18, kDenseRow = 2;

double length(const PlanCanvas::Side& side) {
  return side.map ? static_cast<double>(side.map->buffer().shardElements()) : 0;
}

}  // namespace

PlanCanvas::PlanCanvas(QWidget* parent) : QWidget(parent), palette_(&paletteOf(Theme::light)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName("Map of the bucket: devices by offset");
}

void PlanCanvas::setSides(Side upper, Side lower, const QString& dtype) {
  const auto alike = [](const PlanMap& a, const PlanMap& b) {
    return a.buffer().shardElements() == b.buffer().shardElements() &&
           a.tensors().size() == b.tensors().size();
  };
  const bool fresh = !upper.map || !sides_[0].map || !alike(*upper.map, *sides_[0].map);
  painter_.forget();
  sides_ = {std::move(upper), std::move(lower)};
  dtype_ = dtype;
  if (fresh) {
    firstRow_ = {};
    shift_ = 0;
    fit();
  }
  align();
  update();
}

void PlanCanvas::setPalette(const Palette& palette) {
  palette_ = &palette;
  update();
}

void PlanCanvas::setUnit(PlanUnit unit) {
  unit_ = unit;
  update();
}

double PlanCanvas::longest() const { return std::max({length(sides_[0]), length(sides_[1]), 1.0}); }

QRectF PlanCanvas::areaOf(std::size_t side, const QRectF& whole) const {
  const QRectF maps = whole.adjusted(0, 0, 0, -kLegend);
  if (!sides_[1].shown) return side == 0 ? maps : QRectF();
  // Maps of few rows leave their room to the other one.
  const auto need = [&](const Side& s) {
    const double rows = s.map ? static_cast<double>(s.map->rows().size()) : 1;
    return PlanPainter::kHead + rows * kLargestRow + 8;
  };
  const double half = maps.height() / 2, a = need(sides_[0]), b = need(sides_[1]);
  double upper = half;
  if (a + b <= maps.height())
    upper = a;
  else if (a < half)
    upper = a;
  else if (b < half)
    upper = maps.height() - b;
  upper = std::floor(upper);
  return side == 0 ? QRectF(maps.left(), maps.top(), maps.width(), upper)
                   : QRectF(maps.left(), maps.top() + upper, maps.width(), maps.height() - upper);
}

PlanPicture PlanCanvas::picture(std::size_t side, const QRectF& area) const {
  const Side& s = sides_[side];
  PlanPicture picture{.map = s.map.get(), .title = s.title, .message = s.message, .unit = unit_};
  const double shift = side == 1 ? shift_ : 0;
  picture.begin = begin_ + shift;
  picture.end = end_ + shift;
  picture.firstRow = firstRow_[side];
  if (!s.map) return picture;
  picture.selected = selected_.empty() ? -1 : s.map->tensorNamed(selected_);
  const double rows = static_cast<double>(s.map->rows().size());
  const double fitting = PlanPainter::rowsArea(area).height() / std::max(1.0, rows);
  picture.rowHeight = std::clamp(static_cast<int>(fitting), dense_ ? kDenseRow : kSmallestRow, kLargestRow);
  return picture;
}

void PlanCanvas::draw(QPainter& painter, const QRectF& area) {
  painter.fillRect(area, palette_->background);
  for (std::size_t side = 0; side < 2; ++side) {
    if (!sides_[side].shown) continue;
    const QRectF part = areaOf(side, area);
    painter_.draw(painter, *palette_, picture(side, part), part);
    if (side == 1) {
      painter.setPen(palette_->grid);
      painter.drawLine(part.topLeft(), part.topRight());
    }
  }
  drawPlanLegend(painter, *palette_, QRectF(area.left(), area.bottom() - kLegend, area.width(), kLegend));
}

void PlanCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  draw(painter, rect());
}

void PlanCanvas::clampView() {
  const double most = longest(), wide = std::clamp(end_ - begin_, kLeastElements, most * (1 + 2 * kMargin));
  begin_ = std::clamp(begin_, -most * kMargin, std::max(-most * kMargin, most * (1 + kMargin) - wide));
  end_ = begin_ + wide;
  for (std::size_t side = 0; side < 2; ++side) {
    if (!sides_[side].map) continue;
    const QRectF area = areaOf(side, rect());
    const int rows = static_cast<int>(sides_[side].map->rows().size());
    const int last = std::max(0, rows - PlanPainter::visibleRows(picture(side, area), area));
    firstRow_[side] = std::clamp(firstRow_[side], 0, last);
  }
}

void PlanCanvas::zoom(double factor, double x) {
  const double width = std::max(1.0, PlanPainter::rowsArea(areaOf(0, rect())).width());
  const double share = x < 0 ? 0.5 : std::clamp(x / width, 0.0, 1.0);
  const double at = begin_ + share * (end_ - begin_);
  const double wide = std::clamp((end_ - begin_) * factor, kLeastElements, longest() * (1 + 2 * kMargin));
  begin_ = at - share * wide;
  end_ = begin_ + wide;
  clampView();
  update();
}

void PlanCanvas::pan(double share) {
  const double by = share * (end_ - begin_);
  begin_ += by;
  end_ += by;
  clampView();
  update();
}

void PlanCanvas::scrollRows(int rows) {
  for (int& first : firstRow_) first += rows;
  clampView();
  update();
}

void PlanCanvas::setDenseRows(bool dense) {
  dense_ = dense;
  clampView();
  update();
}

void PlanCanvas::fit() {
  shift_ = 0;
  begin_ = -longest() * kMargin;
  end_ = longest() * (1 + kMargin);
  clampView();
  update();
}

void PlanCanvas::fitSelected() {
  const std::int64_t tensor =
      sides_[0].map && !selected_.empty() ? sides_[0].map->tensorNamed(selected_) : -1;
  if (tensor < 0) return fit();
  showRowOf(0, tensor);
  for (std::size_t row = 0; row < sides_[0].map->rows().size(); ++row) {
    const auto& pieces = painter_.pieces(*sides_[0].map, row);
    const auto piece = std::ranges::find(pieces, tensor, &PlanPiece::tensor);
    if (piece == pieces.end()) continue;
    const auto wide = static_cast<double>(std::max<std::int64_t>(1, piece->elements()));
    begin_ = static_cast<double>(piece->begin) - 0.05 * wide;
    end_ = static_cast<double>(piece->end) + 0.05 * wide;
    break;
  }
  align();
  clampView();
  update();
}

void PlanCanvas::showRowOf(std::size_t side, std::int64_t tensor) {
  const PlanMap& map = *sides_[side].map;
  const std::int64_t owner = map.buffer().owners(static_cast<std::size_t>(tensor)).first;
  const int row = static_cast<int>(map.rowOf(owner));
  const QRectF area = areaOf(side, rect());
  const int visible = PlanPainter::visibleRows(picture(side, area), area);
  if (row < firstRow_[side] || row >= firstRow_[side] + visible) firstRow_[side] = row;
}

void PlanCanvas::align() {
  shift_ = 0;
  if (selected_.empty() || !sides_[0].map || !sides_[1].map) return;
  std::array<double, 2> starts{};
  for (std::size_t side = 0; side < 2; ++side) {
    const PlanMap& map = *sides_[side].map;
    const std::int64_t tensor = map.tensorNamed(selected_);
    if (tensor < 0) return;
    const std::int64_t owner = map.buffer().owners(static_cast<std::size_t>(tensor)).first;
    const auto& pieces = painter_.pieces(map, map.rowOf(owner));
    const auto piece = std::ranges::find(pieces, tensor, &PlanPiece::tensor);
    if (piece == pieces.end()) return;
    starts[side] = static_cast<double>(piece->begin);
  }
  shift_ = starts[1] - starts[0];
}

void PlanCanvas::selectTensor(const std::string& name) {
  if (name == selected_) return;
  selected_ = name;
  align();
  for (std::size_t side = 0; side < 2; ++side) {
    if (!sides_[side].map || name.empty()) continue;
    if (const std::int64_t tensor = sides_[side].map->tensorNamed(name);
        tensor >= 0 && sides_[side].map->tensor(tensor).elements > 0)
      showRowOf(side, tensor);
  }
  clampView();
  update();
}

std::optional<std::size_t> PlanCanvas::sideAt(const QPointF& position) const {
  for (std::size_t side = 0; side < 2; ++side)
    if (sides_[side].shown && areaOf(side, rect()).contains(position)) return side;
  return std::nullopt;
}

void PlanCanvas::wheelEvent(QWheelEvent* event) {
  const double turns = event->angleDelta().y() / 120.0;
  const auto side = sideAt(event->position());
  const double left = PlanPainter::rowsArea(areaOf(0, rect())).left();
  if (event->modifiers() & Qt::ControlModifier) {
    zoom(std::pow(0.8, turns), event->position().x() - left);
  } else if (event->modifiers() & Qt::ShiftModifier || event->angleDelta().y() == 0) {
    pan(-0.1 * (turns + event->angleDelta().x() / 120.0));
  } else if (side) {
    firstRow_[*side] -= static_cast<int>(std::lround(3 * turns));
    clampView();
    update();
  }
  event->accept();
}

void PlanCanvas::mousePressEvent(QMouseEvent* event) {
  pressing_ = event->button() == Qt::LeftButton;
  dragging_ = false;
  pressed_ = event->position();
  pressedBegin_ = begin_;
  pressedRow_ = firstRow_;
}

void PlanCanvas::mouseMoveEvent(QMouseEvent* event) {
  const auto side = sideAt(event->position());
  if (pressing_) {
    const QPointF by = event->position() - pressed_;
    if (!dragging_ && by.manhattanLength() < 4) return;
    dragging_ = true;
    const double width = std::max(1.0, PlanPainter::rowsArea(areaOf(0, rect())).width());
    const double wide = end_ - begin_;
    begin_ = pressedBegin_ - by.x() / width * wide;
    end_ = begin_ + wide;
    const QRectF area = areaOf(0, rect());
    const int rows = static_cast<int>(by.y()) / std::max(1, picture(0, area).rowHeight);
    for (std::size_t s = 0; s < 2; ++s) firstRow_[s] = pressedRow_[s] - rows;
    clampView();
    update();
    return;
  }
  QString tip;
  if (side && sides_[*side].map) {
    const QRectF area = areaOf(*side, rect());
    if (const auto hit = painter_.hit(picture(*side, area), area, event->position()))
      tip = QString::fromStdString(describePiece(*sides_[*side].map, sides_[*side].map->rows()[hit->row],
                                                 hit->piece, hit->element, dtype_.toStdString()));
  }
  QToolTip::showText(event->globalPosition().toPoint(), tip, this);
}

void PlanCanvas::mouseReleaseEvent(QMouseEvent* event) {
  const bool click = pressing_ && !dragging_;
  pressing_ = dragging_ = false;
  const auto side = sideAt(event->position());
  if (!click || !side || !sides_[*side].map) return;
  const QRectF area = areaOf(*side, rect());
  const auto hit = painter_.hit(picture(*side, area), area, event->position());
  emit tensorPicked(*side, hit ? hit->piece.tensor : -1);
}

void PlanCanvas::mouseDoubleClickEvent(QMouseEvent*) { fitSelected(); }

}  // namespace vsim::gui
