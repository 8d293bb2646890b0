#include "gui/window/main_window.h"

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QStatusBar>
#include <QVBoxLayout>
#include <utility>

#include "gui/export/export_commands.h"
#include "gui/session/watchdog.h"
#include "gui/window/arguments.h"
#include "gui/window/key_positions.h"
#include "gui/window/open_runs_panel.h"
#include "gui/window/theme.h"
#include "gui/window/view_table.h"
#include "gui/window/window_commands.h"

namespace vsim::gui {
namespace {

constexpr int kWidth = 1400, kHeight = 860;
constexpr int kMessageMs = 6000;
constexpr int kPanelCharacters = 26;  // width of the panels at first

}  // namespace

MainWindow::MainWindow(const Settings& settings, QWidget* parent)
    : QMainWindow(parent), commands_(this), opener_(session_) {
  setObjectName("window");
  setAcceptDrops(true);
  session_.setStorePath(settings.storePath);
  const Theme theme = settings.theme.value_or(desktopTheme());
  chosenTheme_ = settings.theme;
  session_.setTheme(theme);
  applyTheme(theme);
  setFontScale(settings.fontScale);
  makePages();
  makeDocks();
  makeStatus();
  makeCommands();
  new KeyPositions(commands_, this);
  Background::reportTo([this](const QString& problem) {
    showError("Something could not be made", {problem, "The pages show what there is."});
  });
  connect(&session_, &Session::viewChanged, this, [this] { showPage(session_.view()); });
  connect(&session_, &Session::runsChanged, this, &MainWindow::runOpened);
  connect(&session_, &Session::themeChanged, this, [this] {
    chosenTheme_ = session_.theme();
    applyTheme(session_.theme());
  });
  connect(&session_, &Session::message, this,
          [this](const QString& text) { statusBar()->showMessage(text, kMessageMs); });
  resize(kWidth, kHeight);
  restoreGeometry(settings.geometry);  // both ignore what they did not write
  restoreState(settings.docks);
  for (View* view : views_) view->setLook(settings.looks.value(view->key()));
  showPage(session_.view());
  updateTitle();
#ifndef NDEBUG
  auto* watchdog = new Watchdog(this);
  connect(watchdog, &Watchdog::blocked, this, [](double all, double busy) {
    qWarning("the window did not answer for %.0f ms (%.0f ms of its own work)", all, busy);
  });
#endif
}

MainWindow::~MainWindow() {
  // Pages refer to the session until they are gone; members would go first. What they say on their way is not
  // heard any more.
  Background::reportTo({});
  tabs_->disconnect(this);
  session_.disconnect(this);
  delete takeCentralWidget();
  for (QDockWidget* dock : docks_) delete dock;
  delete tools_;
}

void MainWindow::makePages() {
  auto* centre = new QWidget(this);
  auto* layout = new QVBoxLayout(centre);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  banner_ = new Banner(centre);
  tabs_ = new QTabWidget(centre);
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName("pages");
  layout->addWidget(banner_);
  layout->addWidget(tabs_, 1);
  setCentralWidget(centre);
  for (const ViewEntry& entry : viewTable()) {
    auto view = entry.make(session_, tabs_);
    views_.push_back(view.get());
    if (view->accessibleName().isEmpty()) view->setAccessibleName(view->title());
    tabs_->addTab(view.get(), view->title());
    view.release();  // the tabs own it now
  }
  connect(tabs_, &QTabWidget::currentChanged, this, [this] {
    if (const View* shown = currentView()) session_.setView(shown->key());
  });
}

QDockWidget* MainWindow::addDock(const QString& name, const QString& title, QWidget* content,
                                 Qt::DockWidgetArea area) {
  auto* dock = new QDockWidget(title, this);
  dock->setObjectName(name);
  dock->setAccessibleName(title);
  dock->setWidget(content);
  addDockWidget(area, dock);
  docks_.push_back(dock);
  return dock;
}

void MainWindow::makeDocks() {
  addDock("open-runs", "Open runs", new OpenRunsPanel(session_, this), Qt::LeftDockWidgetArea);
  resizeDocks({docks_.front()}, {fontMetrics().averageCharWidth() * kPanelCharacters}, Qt::Horizontal);
  tools_ = new ToolStrip(session_, this);
  addToolBar(tools_);
}

void MainWindow::makeStatus() {
  activity_ = new ActivityBar(this);
  statusBar()->addPermanentWidget(activity_);
  connect(&opener_, &Opener::started, activity_, &ActivityBar::start);
  connect(&opener_, &Opener::progress, activity_, &ActivityBar::progress);
  connect(&opener_, &Opener::finished, activity_, &ActivityBar::finish);
  connect(&opener_, &Opener::failed, this, &MainWindow::showError);
  connect(activity_, &ActivityBar::cancelled, &opener_, &Opener::cancel);
}

void MainWindow::makeCommands() {
  commands_.add("File", {}, fileCommands(*this));
  commands_.add("File", {}, exportCommands([this] { return currentView(); }, session_, this));
  commands_.add("Go", {}, editCommands(*this));
  commands_.add("View", {}, lookCommands(*this));
  for (View* view : views_) commands_.add(view->title(), view->key(), view->commands());
  commands_.add("Help", {}, helpCommands(*this));
  commands_.fill(*menuBar());
  const auto update = [this] {
    commands_.find("go.back")->action->setEnabled(session_.canGoBack());
    commands_.find("go.forward")->action->setEnabled(session_.canGoForward());
  };
  connect(&session_, &Session::historyChanged, this, update);
  tools_->insertAction(tools_->actions().value(0), commands_.find("go.forward")->action);
  tools_->insertAction(commands_.find("go.forward")->action, commands_.find("go.back")->action);
  update();
}

View* MainWindow::view(const QString& key) const {
  for (View* view : views_)
    if (view->key() == key) return view;
  return nullptr;
}

View* MainWindow::currentView() const { return qobject_cast<View*>(tabs_->currentWidget()); }

void MainWindow::showPage(const QString& key) {
  if (View* wanted = view(key)) tabs_->setCurrentWidget(wanted);
  const View* shown = currentView();
  if (shown != nullptr && shown->key() != session_.view())
    return session_.setView(shown->key());  // unknown page
  commands_.setPage(shown == nullptr ? QString() : shown->key());
  commands_.find("go.back")->action->setEnabled(session_.canGoBack());
  commands_.find("go.forward")->action->setEnabled(session_.canGoForward());
}

void MainWindow::runOpened() {
  updateTitle();
  const Session::Run run = session_.current();
  if (run == shownRun_) return;
  const bool completed = run && shownRun_ && shownRun_->loading && run->id == shownRun_->id;
  shownRun_ = run;
  if (!run) return session_.setView("runs");
  if (completed) {  // it is looked at already, wherever its user went
    if (!run->notes.empty()) statusBar()->showMessage(QString::fromStdString(run->notes.front()), kMessageMs);
    return;
  }
  banner_->hide();
  if (!run->notes.empty()) statusBar()->showMessage(QString::fromStdString(run->notes.front()), kMessageMs);
  bool addressed = false;
  if (const QString url = std::exchange(pendingUrl_, {}); !url.isEmpty()) {
    const auto applied = session_.applyUrl(url);
    addressed = applied.has_value();
    if (!applied)
      showError("The run is open, the rest of the address does not fit",
                {QString::fromStdString(applied.error().text())});
  }
  const bool stays = session_.view() != "runs" && session_.view() != "scenario" &&
                     (session_.view() != "summary" || !run->reports.empty());
  if (addressed || stays) return;
  session_.setView(view("summary") != nullptr && !run->reports.empty() ? "summary" : "timeline");
}

void MainWindow::updateTitle() {
  const Session::Run run = session_.current();
  setWindowTitle(run ? QString::fromStdString(run->title) + " - vsim" : QString("vsim"));
}

void MainWindow::open(const QString& word, OpenAs use) {
  if (isDatabase(word.toStdString())) return openStore(word);
  auto source = sourceOf(word.toStdString(), session_.storePath());
  if (!source) return showError(word + " cannot be opened", {QString::fromStdString(source.error().text())});
  if (use == OpenAs::current) pendingUrl_ = word.startsWith("vsim://") ? word : QString();
  if (source->kind == RunSource::Kind::scenario) {
    source->store = true;
    source->storePath = session_.storePath();
    if (use == OpenAs::current) emit session_.editRequested(QString::fromStdString(source->path), {});
  }
  session_.requestOpen(*source, use);
}

void MainWindow::openStore(const QString& path) {
  session_.setStorePath(path.toStdString());
  session_.setView("runs");
}

void MainWindow::showError(const QString& title, const QStringList& lines) {
  pendingUrl_.clear();
  banner_->show(title, lines);
}

void MainWindow::setFontScale(int percent) {
  fontScale_ = std::clamp(percent, kMinFontScale, kMaxFontScale);
  applyFontScale(fontScale_);
}

void MainWindow::followDesktopTheme() {
  session_.setTheme(desktopTheme());
  chosenTheme_.reset();
}

void MainWindow::reopen(const Settings& settings) {
  // A run that was deleted, or a store that is another one, is no mistake of the user's: nothing is said.
  const Arguments last{.word = settings.url, .store = session_.storePath(), .theme = {}, .all = {}};
  if (!settings.url.isEmpty() && settings.storePath == session_.storePath() && !problemOf(last))
    open(settings.url);
  else if (view(settings.page) != nullptr)
    session_.setView(settings.page);
}

Settings MainWindow::settings() const {
  Settings settings{.geometry = saveGeometry(),
                    .docks = saveState(),
                    .theme = chosenTheme_,
                    .fontScale = fontScale_,
                    .storePath = session_.storePath(),
                    .url = {},
                    .page = session_.view(),
                    .looks = {}};
  const Session::Run run = session_.current();
  if (run && run->source == storedSource(run->id, session_.storePath())) settings.url = session_.toUrl();
  for (const View* view : views_) settings.looks.insert(view->key(), view->look());
  return settings;
}

void MainWindow::askBeforeClosing(View& view) {
  auto* box = new QMessageBox(QMessageBox::Question, "Unsaved changes",
                              view.unsaved() + " are not saved. They are lost when the window closes.",
                              QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
  box->setAttribute(Qt::WA_DeleteOnClose);
  connect(box, &QMessageBox::finished, this, [this, view = &view](int answer) {
    mayLose_ = answer == QMessageBox::Discard;
    if (mayLose_) close();
    if (answer == QMessageBox::Save) view->saveThen([this] { close(); });
  });
  box->open();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  for (View* view : views_) {
    if (mayLose_ || view->unsaved().isEmpty()) continue;
    event->ignore();
    session_.setView(view->key());
    return askBeforeClosing(*view);
  }
  saveSettings(settings());
  opener_.cancel();
  QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const auto urls = event->mimeData()->urls();
  for (const QUrl& url : urls)
    if (url.isLocalFile())
      open(url.toLocalFile(), &url == &urls.front() ? OpenAs::current : OpenAs::comparison);
}

}  // namespace vsim::gui
