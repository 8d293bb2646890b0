#include "gui/view/summary/summary_page_widget.h"

#include <QPainter>
#include <QVBoxLayout>

#include "gui/view/empty_page.h"
#include "gui/view/summary/summary_view.h"

namespace vsim::gui {
namespace {

constexpr std::size_t kDifferences = 10;

/// This report against the baseline, else against the first run beside the current one.
std::vector<ComparedSide> sidesOf(const Session& session) {
  const Session::Run current = session.current();
  Session::Run other = session.baseline() && session.baseline() != current ? session.baseline() : nullptr;
  if (!other && session.runs().size() > 1) other = session.runs()[1];
  const std::vector<Session::Run> pair{current, other};
  std::vector<ComparedSide> all = comparableSides(pair);
  const std::vector<std::size_t> chosen = suggestedSides(all, session.report());
  if (chosen.size() < 2) return {};
  if (!other) {  // a measured run against its own prediction
    if (!all[chosen[0]].measured) return {};
    return {all[chosen[1]], all[chosen[0]]};
  }
  return {all[chosen[1]], all[chosen[0]]};
}

}  // namespace

SummaryView::SummaryView(Session& session, QWidget* parent) : View(session, parent) {
  setAccessibleName("summary");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* scroll = new QScrollArea(this);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFocusPolicy(Qt::NoFocus);
  canvas_ = new PageCanvas(scroll);
  canvas_->setAccessibleName("summary of the run");
  scroll->setWidget(canvas_);
  layout->addWidget(scroll);
  canvas_->setDraw([this](QPainter& painter, QSizeF size, std::vector<HotSpot>* spots) {
    return draw(painter, size, spots);
  });
  connect(canvas_, &PageCanvas::activated, this, &SummaryView::follow);
  connect(&session, &Session::runsChanged, this, &SummaryView::load);
  connect(&session, &Session::baselineChanged, this, &SummaryView::compareWithOther);
  connect(&session, &Session::themeChanged, canvas_, [this] { canvas_->update(); });
  load();
}

void SummaryView::load() {
  page_.reset();
  work_.cancel();
  comparing_.cancel();
  canvas_->refresh();
  const Session::Run run = session().current();
  const auto report = static_cast<std::size_t>(session().report());
  if (!run || report >= run->reports.size()) return;
  work_.start<Summary>([run, report](const Background::Cancelled&) { return summaryOf(*run, report); },
                       [this](Summary summary) {
                         page_.emplace().summary = std::move(summary);
                         canvas_->refresh();
                         compareWithOther();
                       });
}

void SummaryView::compareWithOther() {
  if (!page_) return;  // comes again with the page
  page_->other.clear();
  page_->differences.clear();
  std::vector<ComparedSide> sides = sidesOf(session());
  if (sides.empty()) {
    comparing_.cancel();
    canvas_->refresh();
    return;
  }
  comparing_.start<Comparison>(
      [sides](const Background::Cancelled& cancelled) {
        return compare(sides, [&cancelled] { return cancelled.load(); });
      },
      [this](Comparison comparison) {
        if (!page_ || comparison.rows.empty()) return;
        page_->other = QString::fromStdString(comparison.sides[0].title);
        page_->differences = largestDifferences(comparison, 1, kDifferences);
        page_->otherStep = comparison.rows.front().values[0];
        page_->step = comparison.rows.front().values[1];
        canvas_->refresh();
      });
}

double SummaryView::draw(QPainter& painter, QSizeF size, std::vector<HotSpot>* spots) {
  const Palette& colours = paletteOf(session().theme());
  painter.fillRect(QRectF(QPointF(0, 0), size), colours.background);
  if (spots != nullptr) destinations_.clear();
  if (page_) {
    painter.setRenderHint(QPainter::TextAntialiasing);
    return paintSummary(painter, colours, *page_, size.width(), spots,
                        spots != nullptr ? &destinations_ : nullptr);
  }
  drawEmptyPage(painter, colours, QRectF(QPointF(0, 0), size),
                !session().current()                   ? "No run is open"
                : session().current()->reports.empty() ? "This trace has no report"
                                                       : "Reading the run",
                !session().current() ? "Open one from the page \"Runs\", or a scenario with Ctrl+O."
                : session().current()->reports.empty()
                    ? "Traces of other programs hold slices alone: see the page \"Timeline\"."
                    : "");
  return 0;
}

void SummaryView::follow(std::size_t id) {
  if (id >= destinations_.size()) return;
  const Destination to = destinations_[id];
  if (!to.zoom.empty()) session().setZoom(to.zoom);
  session().setView(QString::fromStdString(to.view));
}

std::vector<Command> SummaryView::commands() {
  const auto to = [this](const char* id, const char* name, const char* help, const char* view) {
    return Command{id, name, "", help, [this, view] { session().setView(view); }};
  };
  return {to("summary.timeline", "Show the step's timeline", "Goes to the page \"Timeline\".", "timeline"),
          to("summary.memory", "Show the memory peak", "Goes to the page \"Memory\".", "memory"),
          to("summary.compare", "Show all differences", "Goes to the page \"Compare\".", "compare")};
}

void SummaryView::drawExport(QPainter& painter, QSize size) { draw(painter, QSizeF(size), nullptr); }

DataTable SummaryView::exportTable() const { return page_ ? tableOf(page_->summary) : DataTable{}; }

std::unique_ptr<View> makeSummaryView(Session& session, QWidget* parent) {
  return std::make_unique<SummaryView>(session, parent);
}

}  // namespace vsim::gui
