#include <QFontMetrics>

#include "gui/view/memory/memory_page.h"

namespace vsim::gui {

/// Made now when the page was never shown: export and screenshots do not wait for the window.
MemoryPage::Data MemoryPage::dataNow() const {
  const Session::Run run = session().current();
  if (data_ || !run) return data_;
  return memoryOf(*run, static_cast<std::size_t>(session().report()), rankClass());
}

void MemoryPage::drawExport(QPainter& painter, QSize size) {
  const Palette& palette = paletteOf(session().theme());
  painter.setFont(font());
  painter.fillRect(QRect(QPoint(0, 0), size), palette.background);
  const Data data = dataNow();
  const QRect page = QRect(QPoint(0, 0), size).adjusted(12, 8, -12, -8);
  painter.setPen(palette.text);
  if (!data) {
    const Session::Run run = session().current();
    const std::string why = whyNoMemory(run.get(), static_cast<std::size_t>(session().report()), rankClass());
    painter.drawText(page, Qt::AlignCenter | Qt::TextWordWrap, QString::fromStdString(why));
    return;
  }
  const std::int64_t event = data == data_ ? instant_ : data->curve.peak();
  const Instant instant = instantOf(*data, event);
  const QFontMetrics metrics(painter.font());
  QFont bold = font();
  bold.setBold(true);
  painter.setFont(bold);
  int y = page.top();
  const auto line = [&](const QString& text, const QColor& colour) {
    painter.setPen(colour);
    painter.drawText(QRect(page.left(), y, page.width(), metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetrics(painter.font()).elidedText(text, Qt::ElideRight, page.width()));
    y += metrics.height() + 3;
  };
  line(QString("Memory of %1, ranks %2: peak %3 allocated, %4 reserved")
           .arg(QString::fromStdString(session().current()->title),
                QString::fromStdString(data->curve.rank().name),
                bytesText(data->curve.allocated(data->curve.peak())),
                bytesText(data->curve.extent(-1, data->curve.size()).reserved.most)),
       palette.text);
  for (const std::string& remark : memoryRemarks(*data))
    line(QString::fromStdString(remark), palette.exposed);
  painter.setFont(font());
  y += drawMemoryLegend(painter, palette, QRect(page.left(), y, page.width(), 200),
                        MemoryPlotPainter::legend(*data, palette)) +
       4;
  const int below = (page.bottom() - y) * 9 / 20;
  MemoryPlotState state = plot_->state();
  state.instant = event;
  state.cursor.reset();
  if (data != data_) {
    state.byEvent = MemoryPlotWidget::prefersEvents(*data);
    state.view =
        state.byEvent ? TimeRange{0, data->curve.size() * MemoryCurve::kEventUnit} : data->curve.whole();
  }
  MemoryPlotPainter plot(palette);
  plot.paint(painter, QRect(page.left(), y, page.width(), page.bottom() - y - below), data.get(), state);
  y = page.bottom() - below;
  const int tab = tabs_->currentIndex();
  line(QString("Live at %1: %2 allocated%3")
           .arg(timeText(data->curve.time(event)), bytesText(data->curve.allocated(event)),
                tab == kMap && instant.map ? ".  " + mapFacts(*data, *instant.map) : QString()),
       palette.text);
  const QRect rest(page.left(), y, page.width(), page.bottom() - y);
  if (tab == kMap && instant.map) {
    painter.translate(rest.topLeft());
    drawSegments(painter, palette, *data, *instant.map, layoutSegments(*instant.map, rest.size(), 1, font()),
                 QRect(QPoint(0, 0), rest.size()), state.selected);
    painter.translate(-rest.topLeft());
  } else {
    const MemoryTreemap map = treemapOf(*instant.live, data->program(), rest, metrics.height() + 3);
    drawMemoryTreemap(painter, palette, map, state.selected, -1);
  }
}

View::TableJob MemoryPage::tableJob() const {
  const Session::Run run = session().current();
  if (!run) return [](const std::atomic<bool>&) { return DataTable{}; };
  return [run, report = static_cast<std::size_t>(session().report()), rank = rankClass(), known = data_,
          instant = instant_, tab = tabs_->currentIndex(), limit = session().limit(),
          query = allocations_->query()](const std::atomic<bool>& cancelled) -> DataTable {
    const Data data = known ? known : memoryOf(*run, report, rank, &cancelled);
    if (!data || cancelled) return {};
    const std::int64_t event = known ? instant : data->curve.peak();
    switch (tab) {
      case kTable:
        return tableOf(liveAfter(data->lifetimes, event), data->program());
      case kMap:
        if (data->allocator && event >= 0) return mapTable(*data, data->allocator->mapAfter(event));
        return {};
      case kAllocations:
        return allocationTable(*data, allocationsFor(*data, query, &cancelled));
      default:
        return curveTable(data->curve, limit);
    }
  };
}

DataTable MemoryPage::exportTable() const { return tableJob()(std::atomic<bool>(false)); }

}  // namespace vsim::gui
