#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QStackedWidget>
#include <QTabWidget>
#include <array>
#include <map>
#include <memory>

#include "gui/session/background.h"
#include "gui/view/data_table_model.h"
#include "gui/view/plan/group_size_canvas.h"
#include "gui/view/plan/plan_canvas.h"
#include "gui/view/view.h"

class QTableView;

namespace vsim::gui {

/// Where every tensor of a bucket lies on the devices, under one system or two, and what other group sizes
/// would cost. Plans the scenario of the current run in the background, once a run and group size.
class PlanView : public View {
  Q_OBJECT
 public:
  PlanView(Session& session, QWidget* parent);

  [[nodiscard]] QString key() const override { return "plan"; }
  [[nodiscard]] QString title() const override { return "Plan"; }
  [[nodiscard]] std::vector<Command> commands() override;
  void drawExport(QPainter& painter, QSize size) override;
  [[nodiscard]] DataTable exportTable() const override;
  [[nodiscard]] bool settled() const override;

  [[nodiscard]] PlanCanvas& canvas() { return *canvas_; }
  [[nodiscard]] const QString& problem() const { return problem_; }
  /// Shows the maps of this group size; 0: the scenario's.
  void showGroupSize(std::int64_t size);

 protected:
  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Planned {
    PlanSet set;
    DataTable comparison;
    QString problem;
  };
  struct Maps {
    std::array<std::shared_ptr<const PlanMap>, 2> map;
    std::array<QString, 2> problem;
    DataTable facts, tensors;
  };

  void build();
  QWidget* buildBar();
  void takeRun();
  void takeTheme();
  void takeSelection();
  void startStudy();
  void takePlans();
  void takeMaps(Maps maps);
  void showFacts();
  void makeMaps();
  void fillSystems();
  void fillBuckets();
  void pickTensor(std::size_t side, qint64 tensor);
  void select(const std::string& tensor);
  void stepTensor(int by);
  void stepCombo(QComboBox& combo, int by);
  void stepSize(int by);
  void find();
  void fail(const QString& problem);
  [[nodiscard]] BucketOf bucketOf(std::size_t side) const;
  [[nodiscard]] std::int64_t unitOfBucket() const;
  [[nodiscard]] const PlanSet* set() const { return planned_ ? &planned_->set : nullptr; }

  PlanCanvas* canvas_;
  GroupSizeCanvas* sizes_;
  std::array<QComboBox*, 2> systems_{};
  QComboBox *buckets_, *groupSizes_;
  QLineEdit* search_;
  QStackedWidget* pages_;
  QTabWidget* tabs_;
  DataTableModel *facts_, *comparison_, *sizeTable_, *tensors_;
  QLabel* status_;

  std::optional<PlanSource> source_;
  QString problem_;
  std::map<std::int64_t, std::shared_ptr<const Planned>> all_;  // by group size; shared with background work
  std::shared_ptr<const Planned> planned_;
  std::shared_ptr<const GroupSizeStudy> study_;
  std::int64_t size_ = 0;
  bool stale_ = true;            // the run is planned when the page is shown
  bool choosing_ = false;        // the view itself changes what is chosen
  bool selectionWaits_ = false;  // the session's selection is taken when maps are there
  Background plan_, maps_, studyJob_;
};

[[nodiscard]] std::unique_ptr<View> makePlanView(Session& session, QWidget* parent);

}  // namespace vsim::gui
