#include "gui/export/export.h"

#include <QBuffer>
#include <QPainter>
#include <QRegularExpression>
#include <QSvgGenerator>
#include <algorithm>
#include <string_view>

#include "core/base/units.h"
#include "gui/paint/sheet.h"
#include "traces/atomic_file.h"

namespace vsim::gui {
namespace {

constexpr int kCaption = 26, kFooter = 20;
constexpr int kMostPixels = 32000;  // a side of a picture

QString runText(const Session& session) {
  const Session::Run run = session.current();
  if (!run) return {};
  QString text = QString::fromStdString(run->title);
  const auto report = static_cast<std::size_t>(session.report());
  if (!run->scenario.empty()) text += " (" + QString::fromStdString(run->scenario);
  if (report < run->reports.size()) text += ", " + QString::fromStdString(run->reports[report].facts.system);
  if (!run->scenario.empty()) text += ")";
  return text;
}

/// What a reader needs to find the same picture again, and how much time it is wide.
QString footerText(const View& view, const Session& session) {
  QString text;
  if (session.current() && session.current()->id > 0) text = session.toUrl();
  const bool timed = view.key() == "timeline" || view.key() == "memory" || view.key() == "network";
  if (timed && !session.zoom().empty())
    text += QString(text.isEmpty() ? "" : "   ") +
            "shown: " + QString::fromStdString(core::formatTime(session.zoom().length()));
  return text;
}

void paintPage(QPainter& painter, View& view, const Session& session, QSize size) {
  const Palette& colours = paletteOf(session.theme());
  painter.setFont(view.font());
  painter.fillRect(QRect(0, 0, size.width(), size.height() + kCaption + kFooter), colours.background);
  {
    Sheet sheet(painter, colours, nullptr);
    sheet.text(QRectF(12, 3, size.width() - 24, kCaption - 4), view.title(), colours.text,
               Sheet::Style::bold);
    sheet.text(QRectF(12, 3, size.width() - 24, kCaption - 4), runText(session), colours.mutedText,
               Sheet::Style::normal, Qt::AlignRight | Qt::AlignVCenter);
    sheet.text(QRectF(12, size.height() + kCaption, size.width() - 24, kFooter - 2),
               footerText(view, session), colours.mutedText, Sheet::Style::small);
    sheet.text(QRectF(12, size.height() + kCaption, size.width() - 24, kFooter - 2), "vsim",
               colours.mutedText, Sheet::Style::small, Qt::AlignRight | Qt::AlignVCenter);
  }
  painter.save();
  painter.translate(0, kCaption);
  painter.setClipRect(QRect(QPoint(0, 0), size));
  view.drawExport(painter, size);
  painter.restore();
}

}  // namespace

std::optional<ExportFormat> formatOf(const QString& path) {
  if (path.endsWith(".png", Qt::CaseInsensitive)) return ExportFormat::png;
  if (path.endsWith(".svg", Qt::CaseInsensitive)) return ExportFormat::svg;
  if (path.endsWith(".csv", Qt::CaseInsensitive)) return ExportFormat::csv;
  return std::nullopt;
}

QString suggestedFileName(const View& view, const Session& session, ExportFormat format) {
  constexpr const char* kEndings[] = {".png", ".svg", ".csv"};
  QString name = view.key();
  if (session.current()) name += "-" + QString::fromStdString(session.current()->title);
  name.replace(QRegularExpression("[^A-Za-z0-9._-]+"), "-");
  return name + kEndings[static_cast<std::size_t>(format)];
}

QImage renderView(View& view, const Session& session, QSize size, int scale) {
  QImage image(QSize(size.width(), size.height() + kCaption + kFooter) * scale, QImage::Format_RGB32);
  if (image.isNull()) return image;
  image.setDevicePixelRatio(scale);
  QPainter painter(&image);
  paintPage(painter, view, session, size);
  return image;
}

QByteArray renderSvg(View& view, const Session& session, QSize size) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  const QSize whole(size.width(), size.height() + kCaption + kFooter);
  generator.setSize(whole);
  generator.setViewBox(QRect(QPoint(0, 0), whole));
  generator.setTitle(view.title() + " - " + runText(session));
  generator.setDescription(footerText(view, session));
  QPainter painter(&generator);
  paintPage(painter, view, session, size);
  painter.end();
  return buffer.data();
}

core::Result<void> writeTable(const DataTable& table, const std::string& path) {
  return traces::writeFileAtomically(path, toCsv(table));
}

core::Result<void> exportView(View& view, const Session& session, const ExportOptions& options,
                              const std::string& path) {
  const auto write = [&](const QByteArray& bytes) {
    return traces::writeFileAtomically(
        path, std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
  };
  if (options.format == ExportFormat::csv) return writeTable(view.exportTable(), path);
  const int side = std::max(options.size.width(), options.size.height() + kCaption + kFooter);
  if (options.size.width() < 50 || options.size.height() < 50 || side * options.scale > kMostPixels)
    return core::fail(fmt::format("a picture of {} x {} points at {}x cannot be made", options.size.width(),
                                  options.size.height(), options.scale),
                      fmt::format("50 points to {} pixels a side", kMostPixels));
  if (options.format == ExportFormat::svg) return write(renderSvg(view, session, options.size));
  const QImage image = renderView(view, session, options.size, options.scale);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  if (image.isNull() || !image.save(&buffer, "PNG")) return core::fail("the picture does not fit in memory");
  return write(bytes);
}

}  // namespace vsim::gui
