#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>

#include "gui/paint/sweep_chart.h"
#include "gui/session/background.h"
#include "gui/view/page_canvas.h"
#include "gui/view/view.h"

namespace vsim::gui {

/// The page behind makeSweepView().
class SweepView : public View {
  Q_OBJECT
 public:
  static constexpr int kStoredRuns = 200;  // the newest ones
  enum class Source { current, opened, stored };

  SweepView(Session& session, QWidget* parent);

  [[nodiscard]] QString key() const override { return "sweep"; }
  [[nodiscard]] QString title() const override { return "Sweep"; }
  [[nodiscard]] std::vector<Command> commands() override;
  void drawExport(QPainter& painter, QSize size) override;
  [[nodiscard]] DataTable exportTable() const override;
  [[nodiscard]] bool settled() const override { return !work_.busy(); }
  /// With the axes that were chosen, by the names of their columns.
  [[nodiscard]] QVariantMap look() const override;
  void setLook(const QVariantMap& look) override;

  // For tests.
  [[nodiscard]] const SweepData& data() const { return data_; }
  [[nodiscard]] const SweepChoice& choice() const { return choice_; }
  [[nodiscard]] PageCanvas& canvas() const { return *canvas_; }
  [[nodiscard]] QComboBox& source() const { return *source_; }
  [[nodiscard]] QComboBox& kind() const { return *kind_; }
  void setChoice(const SweepChoice& choice);

 private:
  struct Loaded {
    SweepData data;
    QString remark;
  };
  QWidget* makeBar();
  void load();
  void arrived(Loaded loaded);
  void fillBoxes();
  void readBoxes();
  void setKind(SweepChoice::Kind kind);
  [[nodiscard]] SweepChoice keptChoice() const;
  void openPoint(std::size_t point);
  double draw(QPainter& painter, QSizeF size, std::vector<HotSpot>* spots);

  QComboBox *source_, *kind_, *x_, *y_, *series_;
  QCheckBox *logX_, *logY_;
  QLabel *seriesLabel_, *remark_;
  PageCanvas* canvas_;
  SweepData data_;
  SweepChoice choice_;
  SweepPicture picture_;
  QString loadedRemark_;
  QVariantMap kept_;                   // axes of an earlier window; empty: the suggested ones
  std::vector<Session::Run> sources_;  // runs of the points; null: stored only
  Background work_;
};

}  // namespace vsim::gui
