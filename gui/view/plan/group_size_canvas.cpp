#include "gui/view/plan/group_size_canvas.h"

#include <QMouseEvent>
#include <QToolTip>

#include "core/base/units.h"

namespace vsim::gui {

GroupSizeCanvas::GroupSizeCanvas(QWidget* parent) : QWidget(parent), palette_(&paletteOf(Theme::light)) {
  setMouseTracking(true);
  setAccessibleName("Padding by size of the FSDP group");
}

void GroupSizeCanvas::setStudy(std::shared_ptr<const GroupSizeStudy> study) {
  study_ = std::move(study);
  hovered_ = 0;
  update();
}

void GroupSizeCanvas::setChosen(std::int64_t size) {
  chosen_ = size;
  update();
}

void GroupSizeCanvas::setPalette(const Palette& palette) {
  palette_ = &palette;
  update();
}

void GroupSizeCanvas::draw(QPainter& painter, const QRectF& area) const {
  drawGroupSizes(painter, *palette_, {study_.get(), chosen_, hovered_}, area);
}

void GroupSizeCanvas::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  draw(painter, rect());
}

void GroupSizeCanvas::mouseMoveEvent(QMouseEvent* event) {
  const auto size = study_ ? groupSizeAt(*study_, rect(), event->position()) : std::nullopt;
  hovered_ = size.value_or(0);
  QString tip;
  if (size) {
    const auto at = std::ranges::find(study_->sizes, *size) - study_->sizes.begin();
    tip = QString("%1 GPUs").arg(QString::fromStdString(core::formatCount(*size)));
    for (std::size_t s = 0; s < study_->systems.size(); ++s) {
      const GroupSizeValue& value = study_->values[s][static_cast<std::size_t>(at)];
      tip += "\n" + QString::fromStdString(study_->systems[s]) + ": ";
      tip += value.refused
                 ? QString("refused")
                 : QString::fromStdString(planPercent(value.padding) + ", " +
                                          core::formatBytes(value.shardBytes) + " a rank, " +
                                          core::formatCount(value.cutTensors) + " tensors with a cut block");
    }
  }
  QToolTip::showText(event->globalPosition().toPoint(), tip, this);
  update();
}

void GroupSizeCanvas::mouseReleaseEvent(QMouseEvent* event) {
  if (!study_) return;
  if (const auto size = groupSizeAt(*study_, rect(), event->position())) emit chosen(*size);
}

void GroupSizeCanvas::leaveEvent(QEvent*) {
  hovered_ = 0;
  update();
}

}  // namespace vsim::gui
