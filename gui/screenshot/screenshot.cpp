#include "gui/screenshot/screenshot.h"

#include <fmt/format.h>

#include <QApplication>
#include <QBuffer>
#include <QElapsedTimer>
#include <QFontDatabase>
#include <QThread>
#include <algorithm>
#include <cstdio>
#include <optional>

#include "gui/export/export.h"
#include "gui/model/open_run.h"
#include "gui/paint/palette.h"
#include "gui/screenshot/box_font.h"
#include "gui/window/main_window.h"
#include "gui/window/theme.h"
#include "gui/window/view_table.h"
#include "traces/atomic_file.h"
#include "traces/run_store.h"

namespace vsim::gui {
namespace {

constexpr int kDone = 0, kFailed = 1, kWrongInput = 2;
constexpr qint64 kPatienceMs = 300'000;

constexpr const char* kHelp =
    R"(usage: vsim-gui --screenshot VIEW --run RUN|SCENARIO [options] -o FILE

  --run RUN      number of a stored run, "last", an address, or a scenario, which is simulated;
                 further ones are compared with the first
  --baseline RUN what the first one is measured against
  --db FILE      run store (default: the user's)
  -o FILE        .png: what the window shows; .svg: as drawing
  --csv FILE     the data behind the view
  --size WxH     default 1280x800
  --scale N      1 to 4 pixels for each point
  --theme NAME   light, dark or contrast
  --report N     which system or sweep point of the run, from 0
  --url URL      zoom, limit and selection, as "Copy link" gives them
  --do COMMAND   does a command of the page first, such as timeline.path; its names come with a wrong one
  --text boxes   boxes in place of letters: pictures that are the same everywhere
  --window       the whole window around the view

exit codes: 0 done, 1 failed, 2 wrong input
)";

int complain(int code, const std::string& text) {
  std::fprintf(stderr, "vsim-gui: %s\n", text.c_str());
  return code;
}

/// Which runs there are, for the message that one is not among them.
std::string knownRuns(const std::string& path) {
  auto store = traces::RunStore::open(path, traces::RunStore::Access::readOnly);
  if (!store) return {};
  const auto rows = store->list(20);
  if (!rows || rows->empty()) return {};
  std::string text;
  std::int64_t last = 0;
  for (const traces::RunSummary& row : *rows) {
    if (row.id == last || row.calibration) continue;
    last = row.id;
    text +=
        fmt::format("{}{} ({})", text.empty() ? "stored runs, newest first: " : ", ", row.id, row.scenario);
  }
  return text;
}

core::Result<Session::Run> open(const QString& word, const std::string& store) {
  const auto source = sourceOf(word.toStdString(), store);
  if (!source) return tl::unexpected(source.error());
  auto run = openRun(*source, {}, {});
  if (run) return std::move(*run);
  core::Error error = run.error().front();
  if (source->kind == RunSource::Kind::stored && error.hint.empty()) error.hint = knownRuns(source->path);
  return tl::unexpected(error);
}

/// Until the view has all that its background work brings, twice in a row: one piece may start the next.
bool settle(const View& view) {
  QElapsedTimer clock;
  clock.start();
  for (int calm = 0; calm < 3;) {
    QApplication::processEvents(QEventLoop::AllEvents, 20);
    QApplication::sendPostedEvents();
    calm = view.settled() ? calm + 1 : 0;
    if (clock.elapsed() > kPatienceMs) return false;
    if (calm == 0) QThread::msleep(2);
  }
  return true;
}

core::Result<void> writePicture(QWidget& shown, View& view, const Session& session,
                                const ScreenshotOptions& options) {
  const std::string path = options.output.toStdString();
  if (formatOf(options.output) == ExportFormat::svg)
    return exportView(view, session, {.format = ExportFormat::svg, .size = options.size}, path);
  QImage image(options.size * options.scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(options.scale);
  image.fill(paletteOf(options.theme).background);
  shown.render(&image);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  if (!image.save(&buffer, "PNG", 0))  // as small as it gets
    return core::fail("the picture does not fit in memory");
  return traces::writeFileAtomically(
      path, std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
}

void prepare(const ScreenshotOptions& options) {
  applyTheme(options.theme);
  if (!options.boxes) return;
  QFontDatabase::addApplicationFontFromData(boxFont());
  QFont font(kBoxFamily, 9);
  font.setStyleStrategy(QFont::NoAntialias);
  font.setHintingPreference(QFont::PreferNoHinting);
  QApplication::setFont(font);
}

void fill(Session& session, const ScreenshotOptions& options, const std::vector<Session::Run>& runs,
          const Session::Run& baseline) {
  if (!runs.empty()) session.open(runs.front());
  for (std::size_t i = 1; i < runs.size(); ++i) session.addForComparison(runs[i]);
  if (baseline) session.setBaseline(baseline);
  session.setReport(options.report);
  session.setView(options.view);
}

/// The page of scenarios shows one as text, wrong or right, and simulates nothing.
std::optional<core::Error> edit(Session& session, const ScreenshotOptions& options) {
  if (options.runs.isEmpty()) return std::nullopt;
  const auto source = sourceOf(options.runs.front().toStdString(), options.store);
  if (!source) return source.error();
  if (source->kind == RunSource::Kind::scenario) {
    emit session.editRequested(QString::fromStdString(source->path), {});
    return std::nullopt;
  }
  const auto run = open(options.runs.front(), options.store);
  if (!run) return run.error();
  emit session.editRequested(QString::fromStdString((*run)->scenario + ".yaml"),
                             QString::fromStdString((*run)->scenarioText));
  return std::nullopt;
}

/// Does the commands that were asked for, one after the other.
std::optional<core::Error> doCommands(View& view, const QStringList& wanted) {
  const std::vector<Command> commands = view.commands();
  for (const QString& id : wanted) {
    const auto command = std::ranges::find(commands, id, &Command::id);
    if (command == commands.end()) {
      std::string names;
      for (const Command& known : commands) names += (names.empty() ? "" : ", ") + known.id.toStdString();
      return core::Error{.message = fmt::format("--do {}: the page has no such command", id.toStdString()),
                         .hint = names};
    }
    command->run();
    if (!settle(view)) return core::Error{.message = "the view did not come to rest"};
  }
  return std::nullopt;
}

/// What has a font of its own, such as the text of a scenario, gets the boxes too.
void drawBoxes(QWidget& shown) {
  for (QWidget* widget : shown.findChildren<QWidget*>()) {
    if (widget->font().family() == kBoxFamily) continue;
    QFont font = QApplication::font();
    font.setPointSizeF(widget->font().pointSizeF());
    widget->setFont(font);
  }
}

int draw(QWidget& shown, View& view, Session& session, const ScreenshotOptions& options) {
  if (options.boxes) drawBoxes(shown);
  shown.resize(options.size);
  shown.setAttribute(Qt::WA_DontShowOnScreen);
  shown.show();
  if (!settle(view)) return complain(kFailed, "the view did not come to rest");
  if (!options.url.isEmpty()) {
    if (const auto applied = session.applyUrl(options.url); !applied)
      return complain(kWrongInput, "--url " + applied.error().text());
    session.setView(options.view);
    if (!settle(view)) return complain(kFailed, "the view did not come to rest");
  }
  if (const auto problem = doCommands(view, options.commands)) return complain(kWrongInput, problem->text());
  if (!options.csv.isEmpty()) {
    const auto written = exportView(view, session, {.format = ExportFormat::csv}, options.csv.toStdString());
    if (!written) return complain(kFailed, written.error().text());
  }
  if (options.output.isEmpty()) return kDone;
  const auto written = writePicture(shown, view, session, options);
  return written ? kDone : complain(kFailed, written.error().text());
}

}  // namespace

int takeScreenshot(const QStringList& words) {
  auto options = readScreenshotOptions(words);
  if (!options) return complain(kWrongInput, options.error().text());
  if (options->help) {
    std::fputs(kHelp, stdout);
    return kDone;
  }
  if (options->store.empty()) {
    const auto path = traces::defaultStorePath();
    if (path) options->store = *path;
  }
  std::vector<Session::Run> runs;
  Session::Run baseline;
  const bool editor = options->view == "scenario";
  for (const QString& word : editor ? QStringList() : options->runs) {
    auto run = open(word, options->store);
    if (!run) return complain(kWrongInput, run.error().text());
    runs.push_back(std::move(*run));
  }
  if (!runs.empty() &&
      static_cast<std::size_t>(options->report) >= std::max<std::size_t>(1, runs[0]->reports.size()))
    return complain(kWrongInput, fmt::format("--report {}: the run has {}, counted from 0", options->report,
                                             runs[0]->reports.size()));
  if (!options->baseline.isEmpty()) {
    auto run = open(options->baseline, options->store);
    if (!run) return complain(kWrongInput, run.error().text());
    baseline = std::move(*run);
  }
  prepare(*options);
  if (options->window) {
    Settings settings;
    settings.theme = options->theme;
    settings.storePath = options->store;
    MainWindow window(settings);
    fill(window.session(), *options, runs, baseline);
    if (const auto problem = editor ? edit(window.session(), *options) : std::nullopt)
      return complain(kWrongInput, problem->text());
    return draw(window, *window.view(options->view), window.session(), *options);
  }
  Session session;
  session.setTheme(options->theme);
  session.setStorePath(options->store);
  for (const ViewEntry& entry : viewTable()) {
    if (options->view != entry.key) continue;
    const auto view = entry.make(session, nullptr);
    fill(session, *options, runs, baseline);
    if (const auto problem = editor ? edit(session, *options) : std::nullopt)
      return complain(kWrongInput, problem->text());
    return draw(*view, *view, session, *options);
  }
  return kFailed;
}

}  // namespace vsim::gui
