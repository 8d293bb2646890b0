#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QTableView>

#include "gui/session/background.h"
#include "gui/view/runs/run_table_model.h"
#include "gui/view/runs/start_page.h"
#include "gui/view/runs/store_access.h"
#include "gui/view/view.h"

namespace vsim::gui {

/// The page behind makeRunsView().
class RunsPage : public View {
  Q_OBJECT
 public:
  RunsPage(Session& session, QWidget* parent);

  [[nodiscard]] QString key() const override { return "runs"; }
  [[nodiscard]] QString title() const override { return "Runs"; }
  [[nodiscard]] std::vector<Command> commands() override;
  void drawExport(QPainter& painter, QSize size) override;
  [[nodiscard]] DataTable exportTable() const override { return model_->table().table(); }
  [[nodiscard]] bool settled() const override { return store_.settled() && read_; }

  // For tests.
  [[nodiscard]] QTableView& table() const { return *table_; }
  [[nodiscard]] const RunTableModel& model() const { return *model_; }
  [[nodiscard]] QLineEdit& filter() const { return *filter_; }
  [[nodiscard]] QLineEdit& tags() const { return *tags_; }
  [[nodiscard]] QLineEdit& note() const { return *note_; }
  [[nodiscard]] StartPage& startPage() const { return *start_; }
  [[nodiscard]] bool showsTable() const { return pages_->currentIndex() == 0; }
  [[nodiscard]] QString state() const { return stateLabel_->text(); }

 private:
  void showContent(const StoreContent& content);
  void showSelection();
  void showCounts();
  [[nodiscard]] std::vector<std::int64_t> selectedRuns() const;
  [[nodiscard]] const traces::RunSummary* currentRow() const;
  void openCurrent();
  void openCalibration(std::int64_t id);
  void compareSelected();
  void togglePin();
  void deleteSelected();
  void undoDelete();
  void copyCommand();
  void editScenario();
  void saveTags();
  void saveNote();
  void runExample(const char* scenario);
  void requestBaseline();
  void whenLoaded(std::int64_t id, std::function<void(const traces::StoredRun&)> use);
  [[nodiscard]] bool mayWrite();
  QWidget* makeTablePage();

  RunTableModel* model_;
  QTableView* table_;
  QLineEdit *filter_, *tags_, *note_;
  QLabel *stateLabel_, *hint_;
  StartPage* start_;
  QStackedWidget* pages_;
  StoreAccess store_;
  Background loading_;
  std::vector<std::vector<std::int64_t>> deleted_;  // what Undo brings back, the latest last
  std::int64_t requested_ = 0;                      // run that was asked for as baseline
  std::int64_t marked_ = 0;                         // run whose tags and note are shown
  bool writable_ = false, read_ = false;
};

}  // namespace vsim::gui
