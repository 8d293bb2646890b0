#pragma once

#include <QLabel>
#include <QScrollArea>
#include <QSlider>

#include "gui/view/memory/segments_widget.h"

namespace vsim::gui {

/// The allocator's map with its numbers and a slider over the events.
class MapPanel : public QWidget {
  Q_OBJECT
 public:
  MapPanel(Session& session, QWidget* parent);

  /// Null: nothing yet.
  void setData(SegmentsWidget::Data data);
  /// The map after `event`; null: there is none, and the panel says why.
  void setMap(std::shared_ptr<const AllocatorMap> map, std::int64_t event);
  [[nodiscard]] const std::shared_ptr<const AllocatorMap>& map() const { return map_; }
  void zoomBy(double factor) { segments_->setZoom(segments_->zoom() * factor); }
  [[nodiscard]] SegmentsWidget& segments() { return *segments_; }
  [[nodiscard]] QSlider& slider() { return *slider_; }
  [[nodiscard]] QString facts() const { return facts_->text(); }

 signals:
  void eventPicked(qint64 event);
  void hovered(const QString& text);

 private:
  QLabel* facts_;
  QSlider* slider_;
  QScrollArea* area_;
  SegmentsWidget* segments_;
  SegmentsWidget::Data data_;
  std::shared_ptr<const AllocatorMap> map_;  // shared with the job that made it
};

/// The map's numbers: "12 segments, ...".
[[nodiscard]] QString mapFacts(const MemoryData& data, const AllocatorMap& map);
/// Every block as a row.
[[nodiscard]] DataTable mapTable(const MemoryData& data, const AllocatorMap& map);

}  // namespace vsim::gui
