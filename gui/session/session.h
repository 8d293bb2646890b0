#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "gui/model/open_run.h"
#include "gui/model/opened_run.h"
#include "gui/model/selection.h"
#include "gui/model/selection_links.h"

namespace vsim::gui {

enum class Theme : std::uint8_t { light, dark, highContrast };
/// What becomes of a run that is opened.
enum class OpenAs : std::uint8_t { current, comparison, baseline };

/// What all views share: the runs, what is selected, the zoom, the limit, the cursor. Views change it and
/// listen to it, never to each other. Belongs to the window's thread.
///
/// Zoom changes the time axis only; the limit changes what statistics count.
class Session : public QObject {
  Q_OBJECT
 public:
  using Run = std::shared_ptr<const OpenedRun>;  // shared with background jobs that still read it

  explicit Session(QObject* parent = nullptr);

  /// Opened runs; those beside the current one are compared with it. At most kMaxRuns.
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  static constexpr std::size_t kMaxRuns = 8;
  [[nodiscard]] Run current() const;  // null: none opened
  [[nodiscard]] int report() const {
    return report_;
  }  // which report (system, sweep point) of the current run
  /// The log of that report; null where it was not kept.
  [[nodiscard]] std::shared_ptr<const core::ExecutionLog> log() const;

  /// Becomes the current run, `report` (0 where there is no such one) the one that is shown; zoom, limit,
  /// selection, cursor and history start anew.
  void open(Run run, int report = 0);
  /// One that is open already and one beyond kMaxRuns are refused with a message.
  void addForComparison(Run run);
  /// `complete` takes the place of `loading`, the same run before its logs were read; all else stays as it
  /// is. Nothing happens when that run is not open any more.
  void complete(const Run& loading, Run complete);
  void close(std::size_t index);
  /// The run at `index` becomes the current one; the others stay to be compared with.
  void makeCurrent(std::size_t index);
  void setReport(int report);

  /// Asks for a run to be opened in the background; open(), addForComparison() or setBaseline() follows, or
  /// a message in the window.
  void requestOpen(const RunSource& source, OpenAs use = OpenAs::current);
  /// The run that others are measured against, as pinned in the store; null: none, or not loaded yet.
  [[nodiscard]] const Run& baseline() const { return baseline_; }
  void setBaseline(Run run);
  /// The store that the run browser shows and new runs go to.
  [[nodiscard]] const std::string& storePath() const { return storePath_; }
  void setStorePath(const std::string& path);

  [[nodiscard]] TimeRange zoom() const { return zoom_; }  // empty: not set yet
  void setZoom(TimeRange range);
  [[nodiscard]] std::optional<TimeRange> limit() const { return limit_; }
  void setLimit(std::optional<TimeRange> range);
  [[nodiscard]] const Selection& selection() const { return selection_; }
  void select(const Selection& selection);
  /// What the selection is to pages that show other things; empty without a log.
  [[nodiscard]] const SelectionLinks& links() const { return links_; }
  /// Adds to a selected slice what only the page that has the slices knows: no step of the history.
  void setSelectedInstruction(std::int64_t instruction);
  [[nodiscard]] std::optional<core::Picoseconds> cursor() const { return cursor_; }
  void setCursor(std::optional<core::Picoseconds> time);
  [[nodiscard]] Theme theme() const { return theme_; }
  void setTheme(Theme theme);
  /// Key of the view in front ("timeline").
  [[nodiscard]] const QString& view() const { return view_; }
  void setView(const QString& key);

  /// Steps through selections, zooms, limits, views and reports of the current run.
  void back();
  void forward();
  [[nodiscard]] bool canGoBack() const;
  [[nodiscard]] bool canGoForward() const;

  /// "vsim://run/42?view=timeline&report=0&begin=..&end=..&select=slice:3:17": picoseconds.
  [[nodiscard]] QString toUrl() const;
  /// Applies all but the run; times beyond the farthest that can be shown are clipped. Errors, which change
  /// nothing: not such a URL, a report that the run does not have.
  [[nodiscard]] core::Result<void> applyUrl(const QString& url);

 signals:
  void runsChanged();  // opened, closed, another report: everything is new
  void zoomChanged();
  void limitChanged();
  void selectionChanged();
  void cursorChanged();
  void themeChanged();
  void viewChanged();
  void historyChanged();
  void baselineChanged();
  void storePathChanged();
  void storeWritten();  // by this window: lists are read anew
  void openRequested(const vsim::gui::RunSource& source, vsim::gui::OpenAs use);
  void message(const QString& text);  // for the status bar
  /// A scenario to be edited: where it came from, and its text where that is not what the file holds.
  void editRequested(const QString& path, const QString& text);

 private:
  struct State {
    int report = 0;
    TimeRange zoom;
    std::optional<TimeRange> limit;
    Selection selection;
    QString view;
    friend bool operator==(const State&, const State&) = default;
  };
  [[nodiscard]] State state() const { return {report_, zoom_, limit_, selection_, view_}; }
  /// Of another run or report: nothing of the one before is meant.
  void forgetPlace();
  void link();
  void startHistory();
  void remember();
  void restore(const State& state);

  std::vector<Run> runs_;
  int report_ = 0;
  TimeRange zoom_;
  std::optional<TimeRange> limit_;
  Selection selection_;
  SelectionLinks links_;  // of selection_
  std::optional<core::Picoseconds> cursor_;
  Theme theme_ = Theme::light;
  QString view_;
  Run baseline_;
  std::string storePath_;
  std::vector<State> history_;
  std::size_t now_ = 0;  // in history_
};

}  // namespace vsim::gui
