#include "gui/view/memory/map_panel.h"

#include <fmt/format.h>

#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

namespace vsim::gui {

MapPanel::MapPanel(Session& session, QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 4, 6, 0);
  layout->setSpacing(4);
  facts_ = new QLabel(this);
  facts_->setWordWrap(true);
  facts_->setAccessibleName("numbers of the allocator");
  facts_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  slider_ = new QSlider(Qt::Horizontal, this);
  slider_->setAccessibleName("event that the map shows");
  slider_->setToolTip("Events of the log: arrow keys for one, page keys for many");
  auto* row = new QHBoxLayout;
  auto* label = new QLabel("&Event", this);
  label->setBuddy(slider_);
  row->addWidget(label);
  row->addWidget(slider_, 1);
  area_ = new QScrollArea(this);
  area_->setFrameShape(QFrame::NoFrame);
  area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area_->setAccessibleName("allocator map");
  segments_ = new SegmentsWidget(session, area_);
  layout->addWidget(facts_);
  layout->addLayout(row);
  layout->addWidget(area_, 1);
  connect(slider_, &QSlider::valueChanged, this, [this](int value) { emit eventPicked(value); });
  connect(segments_, &SegmentsWidget::hovered, this, &MapPanel::hovered);
}

void MapPanel::setData(SegmentsWidget::Data data) {
  data_ = std::move(data);
  const QSignalBlocker quiet(slider_);
  const auto last = data_ ? static_cast<int>(data_->curve.size() - 1) : 0;
  slider_->setRange(0, std::max(0, last));
  slider_->setPageStep(std::max(1, last / 50));
  setMap(nullptr, -1);
}

void MapPanel::setMap(std::shared_ptr<const AllocatorMap> map, std::int64_t event) {
  map_ = std::move(map);
  const QSignalBlocker quiet(slider_);
  slider_->setValue(static_cast<int>(std::max<std::int64_t>(0, event)));
  slider_->setEnabled(data_ && data_->allocator);
  segments_->setMap(data_, map_);
  facts_->setText(!data_ ? QString()
                  : map_
                      ? mapFacts(*data_, *map_)
                      : QString::fromStdString(data_->allocator ? std::string() : allocatorRemark(*data_)));
}

QString mapFacts(const MemoryData& data, const AllocatorMap& map) {
  QString text =
      QString(
          "%1 segments, reserved %2, allocated %3, rounding %4.  Free: %5 in %6 blocks, the largest %7; "
          "fragmentation %8 %.  Map %9.")
          .arg(map.segments.size())
          .arg(bytesText(map.reserved), bytesText(map.allocated), bytesText(map.rounding),
               bytesText(map.free))
          .arg(map.freeBlocks)
          .arg(bytesText(map.largestFree))
          .arg(100 * map.fragmentation(), 0, 'f', 1)
          .arg(QString::fromStdString(allocatorRemark(data)));
  if (const auto& failure = data.allocator->failure())
    text += QString("  First request that failed: %1 of %2 at event %3%4.")
                .arg(QString::fromStdString(bufferTitle(data.program(), failure->buffer)),
                     bytesText(failure->asked))
                .arg(failure->event + 1)
                .arg(failure->event == map.event ? ", which is this one" : "");
  return text;
}

DataTable mapTable(const MemoryData& data, const AllocatorMap& map) {
  DataTable table;
  table.header = {"segment", "address", "size (bytes)", "asked (bytes)", "state", "buffer", "stream"};
  table.numeric = {true, false, true, true, false, false, false};
  const auto& streams = data.program().streams;
  for (std::size_t s = 0; s < map.segments.size(); ++s) {
    const AllocatorMap::Segment& segment = map.segments[s];
    const std::string stream =
        segment.stream < streams.size() ? streams[segment.stream] : std::to_string(segment.stream);
    for (const AllocatorMap::Block& block : segment.blocks) {
      const bool used = block.lifetime >= 0;
      table.rows.push_back(
          {std::to_string(s + 1), fmt::format("0x{:x}", block.address), std::to_string(block.size),
           used ? std::to_string(block.asked) : "", used ? "allocated" : "free",
           used ? bufferTitle(data.program(),
                              data.lifetimes.all()[static_cast<std::size_t>(block.lifetime)].buffer)
                : "",
           stream});
    }
  }
  return table;
}

}  // namespace vsim::gui
