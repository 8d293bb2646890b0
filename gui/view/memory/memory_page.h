#pragma once

#include <QComboBox>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTreeView>

#include "gui/session/background.h"
#include "gui/view/memory/allocations_panel.h"
#include "gui/view/memory/legend_widget.h"
#include "gui/view/memory/live_model.h"
#include "gui/view/memory/map_panel.h"
#include "gui/view/memory/plot_widget.h"
#include "gui/view/memory/treemap_widget.h"
#include "gui/view/view.h"

namespace vsim::gui {

/// The page "Memory": the curve on top, below it tabs about one instant of it, which is the peak at first.
/// Everything that takes longer than a frame is made in the background; what was shown stays until then.
class MemoryPage : public View {
  Q_OBJECT
 public:
  enum Tab : int { kTreemap, kTable, kMap, kAllocations };

  MemoryPage(Session& session, QWidget* parent);

  [[nodiscard]] QString key() const override { return "memory"; }
  [[nodiscard]] QString title() const override { return "Memory"; }
  [[nodiscard]] std::vector<Command> commands() override;
  void drawExport(QPainter& painter, QSize size) override;
  [[nodiscard]] DataTable exportTable() const override;
  [[nodiscard]] TableJob tableJob() const override;
  [[nodiscard]] bool settled() const override;

  [[nodiscard]] const std::shared_ptr<const MemoryData>& data() const { return data_; }
  [[nodiscard]] std::int64_t instant() const { return instant_; }
  [[nodiscard]] QString message() const { return message_->text(); }
  [[nodiscard]] QString warning() const { return warning_->isHidden() ? QString() : warning_->text(); }
  void setInstant(std::int64_t event);
  /// The same, as the user's choice: the session's cursor goes along, and with it the other pages.
  void pickInstant(std::int64_t event);
  void showTab(Tab tab);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  using Data = std::shared_ptr<const MemoryData>;  // shared with background jobs
  struct Instant {
    std::shared_ptr<const LiveSet> live;      // shared between the job and the widgets
    std::shared_ptr<const AllocatorMap> map;  // null: the log allows none
  };

  QWidget* makeHeader();
  QWidget* makeTabs();
  QWidget* makeLiveTable();
  void connectWidgets();
  void fitLiveColumns();
  void runChanged();
  void fillClasses();
  void build();
  void setData(Data data);
  void showInstant(const Instant& instant);
  void setWarning();
  void showMessage(const QString& text);
  void selectRow();
  void step(std::int64_t by) { pickInstant(instant_ + by); }
  void followCursor();
  void nextClass(int by);
  [[nodiscard]] static Instant instantOf(const MemoryData& data, std::int64_t event);
  /// What is shown, made now if it is not there yet.
  [[nodiscard]] Data dataNow() const;
  [[nodiscard]] std::size_t rankClass() const;

  Data data_;
  std::shared_ptr<const LiveSet> live_;  // shared with the job that made it
  std::int64_t instant_ = -1;
  bool stale_ = true;       // the session has another run than data_
  bool following_ = false;  // rows change because the session did
  bool picking_ = false;    // the cursor changes because the instant did
  QComboBox* classes_ = nullptr;
  QLabel *now_ = nullptr, *warning_ = nullptr, *message_ = nullptr, *hover_ = nullptr;
  LegendWidget* legend_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  MemoryPlotWidget* plot_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  TreemapWidget* treemap_ = nullptr;
  LiveModel* liveModel_ = nullptr;
  QSortFilterProxyModel* liveOrder_ = nullptr;
  QTreeView* liveTable_ = nullptr;
  MapPanel* map_ = nullptr;
  AllocationsPanel* allocations_ = nullptr;
  Background building_, looking_;
};

}  // namespace vsim::gui
