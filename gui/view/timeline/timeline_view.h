#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTabWidget>
#include <QTextBrowser>
#include <optional>

#include "gui/session/background.h"
#include "gui/view/timeline/flame_widget.h"
#include "gui/view/timeline/timeline_canvas.h"
#include "gui/view/view.h"
#include "sim/network/collective_model.h"

namespace vsim::gui {

/// The timeline's page: search line, canvas, panels (details, area, critical path), line of figures.
class TimelineView : public View {
  Q_OBJECT
 public:
  TimelineView(Session& session, QWidget* parent);

  [[nodiscard]] QString key() const override { return "timeline"; }
  [[nodiscard]] QString title() const override { return "Timeline"; }
  [[nodiscard]] std::vector<Command> commands() override;
  void drawExport(QPainter& painter, QSize size) override;
  /// The slices in the limit, else in the area, else in the view; of the critical path when that is shown.
  [[nodiscard]] DataTable exportTable() const override;
  [[nodiscard]] TableJob tableJob() const override;
  [[nodiscard]] bool settled() const override;
  [[nodiscard]] QVariantMap look() const override;
  void setLook(const QVariantMap& look) override;

  [[nodiscard]] TimelineCanvas& canvas() const { return *canvas_; }
  [[nodiscard]] const std::optional<AreaStats>& statistics() const { return stats_; }
  [[nodiscard]] FlameWidget& flame() const { return *flame_; }
  [[nodiscard]] const std::shared_ptr<const StepGraph>& graph() const { return graph_; }
  [[nodiscard]] QTextBrowser& detailsPanel() const { return *details_; }

  // What the commands do.
  void fit();
  void stepSlice(int direction);
  void stepDependency(SliceSearch::Direction direction);
  void selectionToArea();
  void limitToArea();
  void addMark();
  void addRangeMark();
  void clearMarks();
  void togglePath();
  void toggleExposed();
  void togglePredicted();
  void nextArrows();
  void nextUnit();
  void startSearch();
  void stepSearch(SliceSearch::Direction direction);
  void findTrack();
  void setAllClosed(bool closed);
  void clear();

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  enum class Arrows : std::uint8_t { off, oneHop, chain };
  enum Panel { kDetails, kArea, kPath };

  void build();
  void connectAll();
  void colourLinks();
  void load();
  void buildScene();
  void keepScene();
  void sceneArrived(TimelineCanvas::Scene scene);
  void needGraph(std::function<void()> then);
  void graphFailed(const QString& problem);
  void completeSelection();
  void needNetwork();
  [[nodiscard]] QString markedReport() const;
  void applyMarks();
  void updateDetails();
  void updateArrows();
  void updateArea();
  void clearArea();
  void updatePath();
  void updateFigures();
  void updateScrollBar();
  void search(const QString& text);
  void select(SliceRef slice);
  [[nodiscard]] std::size_t shownClass() const;
  [[nodiscard]] std::size_t shownStep(std::size_t rankClass) const;
  template <class Change>
  void change(Change change) {
    TimelineCanvas::Extras extras = canvas_->extras();
    change(extras);
    canvas_->setExtras(std::move(extras));
  }

  TimelineCanvas* canvas_ = nullptr;
  QScrollBar* scroll_ = nullptr;
  QWidget* searchBar_ = nullptr;
  QLineEdit* searchText_ = nullptr;
  QLabel *searchCount_ = nullptr, *figures_ = nullptr, *hover_ = nullptr;
  QTabWidget* panels_ = nullptr;
  QTextBrowser *details_ = nullptr, *areaText_ = nullptr, *pathText_ = nullptr;
  FlameWidget* flame_ = nullptr;
  QWidget* legend_ = nullptr;
  Background scenes_, graphs_, paths_, networks_, statistics_, searches_, keeping_;
  Session::Run shownRun_;                   // shared with the session
  int shownReport_ = 0;                     // of it
  bool levelsFit_ = false;                  // what is stored of its first picture can be used
  std::shared_ptr<const StepGraph> graph_;  // shared with jobs; of graphClass_
  std::vector<std::function<void()>> whenGraph_;
  std::shared_ptr<const sim::CollectiveModel> network_;  // of the report's cluster; null: not known (yet)
  bool networkAsked_ = false;
  std::optional<AreaStats> stats_;
  QVariantList keptMarks_;  // of an earlier window: begin and end each
  QString keptMarksOf_;     // which report they are of
  Arrows arrows_ = Arrows::oneHop;
  bool pathShown_ = false, fittedSelection_ = false, stale_ = true;
};

[[nodiscard]] std::unique_ptr<View> makeTimelineView(Session& session, QWidget* parent);

}  // namespace vsim::gui
