#include "gui/session/session.h"

#include <fmt/format.h>

#include <QStringList>
#include <QUrl>
#include <QUrlQuery>
#include <algorithm>

namespace vsim::gui {
namespace {

constexpr std::size_t kMaxHistory = 200;
const QStringList kKinds{"none", "slice", "buffer", "unit", "link"};

/// Thirteen days to both sides: lengths and their multiples that painting needs still fit the type.
constexpr core::Picoseconds kFarthest = core::Picoseconds{1} << 60;

TimeRange clipped(TimeRange range) {
  return {std::clamp(range.begin, -kFarthest, kFarthest), std::clamp(range.end, -kFarthest, kFarthest)};
}

std::optional<TimeRange> rangeFrom(const QUrlQuery& query, const QString& begin, const QString& end) {
  bool first = false, last = false;
  const TimeRange range =
      clipped({query.queryItemValue(begin).toLongLong(&first), query.queryItemValue(end).toLongLong(&last)});
  if (!first || !last || range.empty()) return std::nullopt;
  return range;
}

std::optional<Selection> selectionFrom(const QString& text) {
  const QStringList parts = text.split(':');
  if (parts.size() != 4 || !kKinds.contains(parts[0])) return std::nullopt;
  bool lane = false, item = false, detail = false;
  Selection selection;
  selection.kind = static_cast<Selection::Kind>(kKinds.indexOf(parts[0]));
  selection.lane = parts[1].toLongLong(&lane);
  selection.item = parts[2].toLongLong(&item);
  selection.detail = parts[3].toLongLong(&detail);
  if (!lane || !item || !detail) return std::nullopt;
  return selection;
}

}  // namespace

Session::Session(QObject* parent) : QObject(parent), view_("runs") { history_.push_back(state()); }

Session::Run Session::current() const { return runs_.empty() ? nullptr : runs_.front(); }

std::shared_ptr<const core::ExecutionLog> Session::log() const {
  const Run run = current();
  const auto index = static_cast<std::size_t>(report_);
  return run && index < run->logs.size() ? run->logs[index] : nullptr;
}

void Session::forgetPlace() {
  zoom_ = {};
  limit_.reset();
  selection_ = {};
  links_ = {};
  cursor_.reset();
}

void Session::link() {
  const auto of = log();
  links_ = of && of->program && selection_.report == report_ ? linksOf(*of->program, selection_)
                                                             : SelectionLinks();
}

void Session::startHistory() {
  history_ = {state()};
  now_ = 0;
}

void Session::open(Run run, int report) {
  if (runs_.empty()) {
    runs_.push_back(std::move(run));
  } else {
    runs_.front() = std::move(run);
  }
  const auto reports = static_cast<int>(current() ? current()->reports.size() : 0);
  report_ = report > 0 && report < reports ? report : 0;
  forgetPlace();
  startHistory();
  emit runsChanged();
  emit historyChanged();
}

void Session::addForComparison(Run run) {
  if (runs_.empty()) return open(std::move(run));
  const auto same = [&run](const Run& other) {
    return other == run || (run->id != 0 && other->id == run->id && other->source == run->source);
  };
  const QString title = QString::fromStdString(run->title);
  if (std::any_of(runs_.begin(), runs_.end(), same)) return emit message(title + " is open already");
  if (runs_.size() == kMaxRuns)
    return emit message(
        QString("%1 runs are open, which is the most: close one to compare %2").arg(kMaxRuns).arg(title));
  runs_.push_back(std::move(run));
  emit runsChanged();
}

void Session::complete(const Run& loading, Run complete) {
  const auto place = std::find(runs_.begin(), runs_.end(), loading);
  if (place == runs_.end()) return;
  *place = std::move(complete);
  link();  // the log has come
  emit runsChanged();
}

void Session::close(std::size_t index) {
  if (index >= runs_.size()) return;
  runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(index));
  if (index == 0) {
    report_ = 0;
    forgetPlace();
    startHistory();
  }
  emit runsChanged();
  if (index == 0) emit historyChanged();
}

void Session::makeCurrent(std::size_t index) {
  if (index == 0 || index >= runs_.size()) return;
  std::swap(runs_.front(), runs_[index]);
  open(runs_.front());
}

void Session::setReport(int report) {
  const Run run = current();
  if (!run || report < 0 || static_cast<std::size_t>(report) >= run->reports.size() || report == report_)
    return;
  report_ = report;
  forgetPlace();
  remember();  // with its report, so that Back leads to the one before
  emit runsChanged();
}

void Session::requestOpen(const RunSource& source, OpenAs use) { emit openRequested(source, use); }

void Session::setBaseline(Run run) {
  if (run == baseline_) return;
  baseline_ = std::move(run);
  emit baselineChanged();
}

void Session::setStorePath(const std::string& path) {
  if (path == storePath_) return;
  storePath_ = path;
  emit storePathChanged();
}

void Session::setZoom(TimeRange range) {
  range = clipped(range);
  if (range == zoom_ || range.empty()) return;
  zoom_ = range;
  // Zooming is continuous: history keeps the latest zoom of a state, not every frame of it.
  history_[now_].zoom = range;
  emit zoomChanged();
}

void Session::setLimit(std::optional<TimeRange> range) {
  if (range) range = clipped(*range);
  if (range && range->empty()) range.reset();
  if (range == limit_) return;
  limit_ = range;
  remember();
  emit limitChanged();
}

void Session::select(const Selection& selection) {
  if (selection == selection_) return;
  selection_ = selection;
  link();
  remember();
  emit selectionChanged();
}

void Session::setSelectedInstruction(std::int64_t instruction) {
  if (selection_.kind != Selection::Kind::slice || selection_.detail == instruction) return;
  selection_.detail = instruction;
  history_[now_].selection = selection_;
  link();
  emit selectionChanged();
}

void Session::setCursor(std::optional<core::Picoseconds> time) {
  if (time == cursor_) return;
  cursor_ = time;
  emit cursorChanged();
}

void Session::setTheme(Theme theme) {
  if (theme == theme_) return;
  theme_ = theme;
  emit themeChanged();
}

void Session::setView(const QString& key) {
  if (key == view_) return;
  view_ = key;
  remember();
  emit viewChanged();
}

void Session::remember() {
  history_.resize(now_ + 1);
  history_.push_back(state());
  if (history_.size() > kMaxHistory) history_.erase(history_.begin());
  now_ = history_.size() - 1;
  emit historyChanged();
}

void Session::restore(const State& next) {
  const State before = state();
  report_ = next.report;
  zoom_ = next.zoom;
  limit_ = next.limit;
  selection_ = next.selection;
  link();
  view_ = next.view;
  if (before.report != report_) {
    cursor_.reset();
    emit runsChanged();
  }
  if (before.zoom != zoom_) emit zoomChanged();
  if (before.limit != limit_) emit limitChanged();
  if (!(before.selection == selection_)) emit selectionChanged();
  if (before.view != view_) emit viewChanged();
  emit historyChanged();
}

bool Session::canGoBack() const { return now_ > 0; }
bool Session::canGoForward() const { return now_ + 1 < history_.size(); }

void Session::back() {
  if (!canGoBack()) return;
  restore(history_[--now_]);
}

void Session::forward() {
  if (!canGoForward()) return;
  restore(history_[++now_]);
}

QString Session::toUrl() const {
  QUrlQuery query;
  query.addQueryItem("view", view_);
  query.addQueryItem("report", QString::number(report_));
  if (!zoom_.empty()) {
    query.addQueryItem("begin", QString::number(zoom_.begin));
    query.addQueryItem("end", QString::number(zoom_.end));
  }
  if (limit_) {
    query.addQueryItem("limit-begin", QString::number(limit_->begin));
    query.addQueryItem("limit-end", QString::number(limit_->end));
  }
  if (selection_.kind != Selection::Kind::none)
    query.addQueryItem("select", QString("%1:%2:%3:%4")
                                     .arg(kKinds[static_cast<int>(selection_.kind)])
                                     .arg(selection_.lane)
                                     .arg(selection_.item)
                                     .arg(selection_.detail));
  QUrl url;
  url.setScheme("vsim");
  url.setHost("run");
  url.setPath("/" + QString::number(current() ? current()->id : 0));
  url.setQuery(query);
  return url.toString();
}

core::Result<void> Session::applyUrl(const QString& text) {
  const QUrl url(text, QUrl::StrictMode);
  const auto wrong = [&](const char* what) {
    return core::fail(fmt::format("{}: {}", text.toStdString(), what), "such as vsim://run/42?view=timeline");
  };
  if (!url.isValid() || url.scheme() != "vsim" || url.host() != "run")
    return wrong("is no address of a view");
  const QUrlQuery query(url);
  State next = state();
  if (query.hasQueryItem("report")) {
    bool number = false;
    const int report = query.queryItemValue("report").toInt(&number);
    const auto reports = static_cast<int>(current() ? current()->reports.size() : 0);
    if (!number || report < 0 || (report > 0 && report >= reports))
      return core::fail(fmt::format("{}: there is no such report", text.toStdString()),
                        fmt::format("the run has {}, counted from 0", reports));
    if (report != report_) {
      next = State();
      next.report = report;
      next.view = view_;
    }
  }
  if (query.hasQueryItem("select")) {
    const auto selection = selectionFrom(query.queryItemValue("select"));
    if (!selection) return wrong("select is kind:lane:item:detail");
    next.selection = *selection;
  }
  if (query.hasQueryItem("begin")) {
    const auto range = rangeFrom(query, "begin", "end");
    if (!range) return wrong("begin and end are picoseconds, the first one smaller");
    next.zoom = *range;
  }
  if (query.hasQueryItem("limit-begin")) {
    next.limit = rangeFrom(query, "limit-begin", "limit-end");
    if (!next.limit) return wrong("limit-begin and limit-end are picoseconds, the first one smaller");
  }
  if (query.hasQueryItem("view")) next.view = query.queryItemValue("view");
  next.selection.report = next.report;
  restore(next);
  remember();
  return {};
}

}  // namespace vsim::gui
