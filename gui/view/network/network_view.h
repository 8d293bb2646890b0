#pragma once

#include <QComboBox>
#include <QLabel>
#include <QStackedWidget>
#include <QTabWidget>
#include <memory>

#include "gui/session/background.h"
#include "gui/view/data_table_model.h"
#include "gui/view/network/network_canvas.h"
#include "gui/view/view.h"

class QTableView;

namespace vsim::gui {

/// How busy the links of the cluster are: tiers with their loads, traffic between nodes, loads over time, and
/// which collectives lose the most. From the log of the current report and the cluster of its scenario.
class NetworkView : public View {
  Q_OBJECT
 public:
  NetworkView(Session& session, QWidget* parent);

  [[nodiscard]] QString key() const override { return "network"; }
  [[nodiscard]] QString title() const override { return "Network"; }
  [[nodiscard]] std::vector<Command> commands() override;
  void drawExport(QPainter& painter, QSize size) override;
  [[nodiscard]] DataTable exportTable() const override;
  [[nodiscard]] bool settled() const override { return !build_.busy() && !count_.busy(); }
  /// How often the list at the cursor was made: only while it can be seen.
  [[nodiscard]] int listsMade() const { return listsMade_; }
  /// When the collectives of the selected slice, buffer or unit ran.
  [[nodiscard]] const std::vector<TimeRange>& highlighted() const { return highlighted_; }

 protected:
  void showEvent(QShowEvent* event) override;

 public:
  [[nodiscard]] const NetworkMap* map() const { return map_.get(); }
  [[nodiscard]] const QString& problem() const { return problem_; }
  [[nodiscard]] TopologyCanvas& topology() { return *topology_; }
  [[nodiscard]] LoadCanvas& loads() { return *loads_; }

 private:
  struct Built {
    std::shared_ptr<const NetworkMap> map;
    QString note;  // why rates are unknown
  };
  struct Counted {
    std::shared_ptr<const TrafficMatrix> matrix;
    DataTable lost, groups, tiers;
  };

  void build();
  void takeRun();
  void takeTheme();
  void start(std::optional<std::size_t> rankClass);
  void takeMap(Built built);
  void count();
  void takeCounted(Counted counted);
  void refresh();
  void takeSelection();
  void showRunning();
  void pickTier(int tier);
  void stepTier(int by);
  void zoom(double factor, double column);
  void pan(double columns);
  void stepCollective(int by);
  void goTo(std::size_t flow);
  void fail(const QString& problem);
  [[nodiscard]] std::optional<LinkTier> selectedTier() const;
  [[nodiscard]] NetworkPicture picture() const;

  TopologyCanvas* topology_;
  LoadCanvas* loads_;
  QComboBox* classes_;
  QLabel *note_, *status_;
  QStackedWidget* pages_;
  QTabWidget* tabs_;
  DataTableModel *lost_, *running_, *groups_, *tiers_;

  std::shared_ptr<const core::ExecutionLog> log_;  // that the map is of; shared with the run
  std::shared_ptr<const NetworkMap> map_;          // shared with background work
  std::shared_ptr<const TrafficMatrix> matrix_;
  QString problem_;
  bool choosing_ = false;
  bool staleRun_ = true, stalePicture_ = true;  // to be made when the page is shown
  int listsMade_ = 0;
  std::vector<TimeRange> highlighted_;
  Background build_, count_;
};

[[nodiscard]] std::unique_ptr<View> makeNetworkView(Session& session, QWidget* parent);

}  // namespace vsim::gui
