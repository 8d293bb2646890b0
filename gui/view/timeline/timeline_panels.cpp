#include "gui/view/timeline/timeline_panels.h"

#include <QStringList>
#include <algorithm>
#include <map>

namespace vsim::gui {
namespace {

QString escaped(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }

QString row(const QStringList& cells, const char* tag = "td") {
  QString html = "<tr>";
  for (qsizetype i = 0; i < cells.size(); ++i)
    html += QString("<%1 align='%2' style='padding: 1px 8px 1px 0; white-space: nowrap'>%3</%1>")
                .arg(tag, i == 0 ? "left" : "right", cells[i]);
  return html + "</tr>";
}

QString bytesOf(core::Bytes bytes) {
  return bytes == 0 ? QString("-") : QString::fromStdString(core::formatBytes(bytes));
}

/// The pieces of the path that have one name.
struct PathPieces {
  std::string name;
  int count = 0;
  core::Picoseconds sum = 0;
  const PathSegment* longest = nullptr;
};

/// Largest sum first.
std::vector<PathPieces> piecesOf(const TimelineData& data, const StepPath& path) {
  std::map<std::string, PathPieces> byName;
  for (const PathSegment& segment : path.segments) {
    std::string name = "the host";
    if (segment.slice.valid()) name = data.sliceName(segment.slice.lane, segment.slice.slice);
    if (segment.kind == PathKind::wait) name = "wait before " + name;
    PathPieces& pieces = byName[name];
    pieces.name = name;
    ++pieces.count;
    pieces.sum += segment.range.length();
    if (pieces.longest == nullptr || segment.range.length() > pieces.longest->range.length())
      pieces.longest = &segment;
  }
  std::vector<PathPieces> sorted;
  for (auto& [name, pieces] : byName) sorted.push_back(std::move(pieces));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const PathPieces& a, const PathPieces& b) { return a.sum > b.sum; });
  return sorted;
}

}  // namespace

QString sliceLink(SliceRef slice) { return QString("slice:%1:%2").arg(slice.lane).arg(slice.slice); }

SliceRef sliceOfLink(const QString& link) {
  const QStringList parts = link.split(':');
  bool lane = false, slice = false;
  if (parts.size() != 3 || parts[0] != "slice") return {};
  const SliceRef ref{parts[1].toLongLong(&lane), parts[2].toLongLong(&slice)};
  return lane && slice ? ref : SliceRef{};
}

QString detailsHtml(const SliceDetails& details) {
  QString html = "<h3>" + escaped(details.title) + "</h3><table>";
  for (const auto& [name, value] : details.rows)
    html += "<tr><td style='padding: 1px 12px 1px 0'><i>" + escaped(name) + "</i></td><td>" + escaped(value) +
            "</td></tr>";
  html += "</table>";
  if (details.releasedBy.valid())
    html += "<p>Last of what it needed ( [ ): <a href='" + sliceLink(details.releasedBy) + "'>" +
            escaped(details.releasedByName) + "</a></p>";
  if (!details.tensors.empty()) {
    html += "<p><b>Tensors of the unit</b><br>";
    constexpr std::size_t kShown = 40;
    for (std::size_t i = 0; i < std::min(kShown, details.tensors.size()); ++i)
      html += escaped(details.tensors[i]) + "<br>";
    if (details.tensors.size() > kShown) html += QString("and %1 more").arg(details.tensors.size() - kShown);
    html += "</p>";
  }
  return html;
}

QString areaHtml(const AreaStats& stats, TimeUnit unit, TimeRange step) {
  const auto text = [&](core::Picoseconds time) {
    return QString::fromStdString(lengthText(time, unit, step));
  };
  QString html = QString("<h3>%1 in %2 %3</h3><table>")
                     .arg(text(stats.range.length()))
                     .arg(stats.lanes)
                     .arg(stats.lanes == 1 ? "stream" : "streams");
  html += row({"class", "count", "sum", "mean", "p50", "p99", "bytes"}, "th");
  for (std::size_t c = 0; c < kSliceClasses; ++c) {
    const AreaStats::Row& r = stats.rows[c];
    if (r.count == 0) continue;
    html += row({QString::fromUtf8(kSliceClassNames[c].data()), QString::number(r.count), text(r.sum),
                 text(r.mean()), text(r.median), text(r.p99), bytesOf(r.bytes)});
  }
  html += "</table>";
  html += stats.communication == 0
              ? QString("<p>No communication.</p>")
              : QString("<p>Communication %1, of which %2 exposed: %3 % is hidden behind kernels.</p>")
                    .arg(text(stats.communication), text(stats.exposed))
                    .arg(100 * stats.overlap(), 0, 'f', 1);
  return html +
         "<p><i>Times are of one rank of each class shown; slices that reach out of the area count with "
         "the part inside. The bars below divide their time: class, unit, name; a click widens one.</i></p>";
}

QString pathHtml(const TimelineData& data, const StepPath& path, TimeUnit unit) {
  const auto text = [&](core::Picoseconds time) {
    return QString::fromStdString(lengthText(time, unit, path.step));
  };
  const auto percent = [&](core::Picoseconds time) {
    return QString::number(100 * static_cast<double>(time) /
                               static_cast<double>(std::max<core::Picoseconds>(1, path.step.length())),
                           'f', 1) +
           " %";
  };
  QString html = "<h3>Critical path: " + text(path.step.length()) + "</h3><table>";
  for (std::size_t k = 0; k < path.byKind.size(); ++k)
    if (path.byKind[k] > 0)
      html +=
          row({QString::fromUtf8(kPathKindNames[k].data()), text(path.byKind[k]), percent(path.byKind[k])});
  html += "</table><p><b>If this took no time</b></p><table>";
  for (const StepPath::Saving& saving : path.ifFree)
    html += row({escaped(saving.what), "-" + text(saving.saved), percent(saving.saved)});
  html += "</table><p><b>What it runs through</b></p><table>";
  const std::vector<PathPieces> pieces = piecesOf(data, path);
  constexpr std::size_t kShown = 30;
  for (std::size_t i = 0; i < std::min(kShown, pieces.size()); ++i) {
    const PathPieces& p = pieces[i];
    QString name = escaped(p.name);
    if (p.longest->slice.valid())
      name = QString("<a href='%1'>%2</a>").arg(sliceLink(p.longest->slice), name);
    html += row({name, p.count > 1 ? QString("%1 x").arg(p.count) : QString(), text(p.sum), percent(p.sum)});
  }
  return html + QString(
                    "</table><p>A name leads to its longest piece. %1 pieces in all; the export lists "
                    "every one.</p>")
                    .arg(path.segments.size());
}

DataTable areaTable(const AreaStats& stats) {
  DataTable table{{"class", "count", "sum (ps)", "mean (ps)", "p50 (ps)", "p99 (ps)", "bytes"},
                  {},
                  {false, true, true, true, true, true, true}};
  for (std::size_t c = 0; c < kSliceClasses; ++c) {
    const AreaStats::Row& r = stats.rows[c];
    if (r.count > 0)
      table.rows.push_back({std::string(kSliceClassNames[c]), std::to_string(r.count), std::to_string(r.sum),
                            std::to_string(r.mean()), std::to_string(r.median), std::to_string(r.p99),
                            std::to_string(r.bytes)});
  }
  return table;
}

}  // namespace vsim::gui
