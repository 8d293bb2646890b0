#pragma once

#include <QComboBox>
#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <optional>

#include "gui/model/compare.h"
#include "gui/session/background.h"
#include "gui/view/compare/strips_widget.h"
#include "gui/view/data_table_model.h"
#include "gui/view/page_canvas.h"
#include "gui/view/view.h"

namespace vsim::gui {

/// The page behind makeCompareView().
class CompareView : public View {
  Q_OBJECT
 public:
  CompareView(Session& session, QWidget* parent);

  [[nodiscard]] QString key() const override { return "compare"; }
  [[nodiscard]] QString title() const override { return "Compare"; }
  [[nodiscard]] std::vector<Command> commands() override;
  void drawExport(QPainter& painter, QSize size) override;
  [[nodiscard]] DataTable exportTable() const override;
  [[nodiscard]] bool settled() const override { return !work_.busy(); }

  // For tests.
  [[nodiscard]] const std::optional<Comparison>& comparison() const { return comparison_; }
  [[nodiscard]] QComboBox& first() const { return *first_; }
  [[nodiscard]] QComboBox& second() const { return *second_; }
  [[nodiscard]] QComboBox& parts() const { return *parts_; }
  [[nodiscard]] QTableView& differences() const { return *differences_; }
  [[nodiscard]] StripsWidget& strips() const { return *strips_; }
  [[nodiscard]] DeltaGroup waterfallParts() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct Result {
    Comparison comparison;
    std::shared_ptr<const Strip> a, b;
  };
  QWidget* makeBar();
  QTableView* makeTable(DataTableModel& model, const QString& name);
  void load();
  void start();
  void arrived(Result result);
  void swapSides();
  void showTables();
  double draw(QPainter& painter, QSizeF size, std::vector<HotSpot>* spots);
  [[nodiscard]] QVariant differenceExtra(std::size_t row, int column, int role) const;
  [[nodiscard]] std::vector<ComparedSide> chosenSides() const;

  QStackedWidget* pages_;
  PageCanvas *empty_, *canvas_;
  QComboBox *first_, *second_, *parts_;
  QLabel* notes_;
  StripsWidget* strips_;
  QTabWidget* tabs_;
  QTableView *differences_, *configuration_;
  DataTableModel differenceModel_, configurationModel_;
  std::vector<ComparedSide> sides_;  // all that can be chosen
  std::optional<Comparison> comparison_;
  bool stale_ = true;  // compared when the page is shown
  Background work_;
};

}  // namespace vsim::gui
