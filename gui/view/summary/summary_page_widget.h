#pragma once

#include <QScrollArea>
#include <QStackedLayout>
#include <optional>

#include "gui/paint/summary_page.h"
#include "gui/session/background.h"
#include "gui/view/page_canvas.h"
#include "gui/view/view.h"

namespace vsim::gui {

/// The page behind makeSummaryView().
class SummaryView : public View {
  Q_OBJECT
 public:
  SummaryView(Session& session, QWidget* parent);

  [[nodiscard]] QString key() const override { return "summary"; }
  [[nodiscard]] QString title() const override { return "Summary"; }
  [[nodiscard]] std::vector<Command> commands() override;
  void drawExport(QPainter& painter, QSize size) override;
  [[nodiscard]] DataTable exportTable() const override;
  [[nodiscard]] bool settled() const override { return !work_.busy() && !comparing_.busy(); }

  // For tests.
  [[nodiscard]] PageCanvas& canvas() const { return *canvas_; }
  [[nodiscard]] const std::optional<SummaryPage>& page() const { return page_; }
  [[nodiscard]] const Destinations& destinations() const { return destinations_; }

 private:
  void load();
  void compareWithOther();
  double draw(QPainter& painter, QSizeF size, std::vector<HotSpot>* spots);
  void follow(std::size_t id);

  PageCanvas* canvas_;
  std::optional<SummaryPage> page_;
  Destinations destinations_;
  Background work_, comparing_;
};

}  // namespace vsim::gui
