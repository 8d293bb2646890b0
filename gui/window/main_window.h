#pragma once

#include <QDockWidget>
#include <QMainWindow>
#include <QTabWidget>
#include <map>
#include <memory>
#include <vector>

#include "gui/session/session.h"
#include "gui/view/view.h"
#include "gui/window/activity_bar.h"
#include "gui/window/banner.h"
#include "gui/window/command_table.h"
#include "gui/window/opener.h"
#include "gui/window/settings.h"
#include "gui/window/tool_strip.h"

namespace vsim::gui {

/// The application's window: pages as tabs, panels as docks, commands, status. Owns the session.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `settings`: as it was left; the store in it counts.
  explicit MainWindow(const Settings& settings, QWidget* parent = nullptr);
  ~MainWindow() override;

  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] const CommandTable& commands() const { return commands_; }
  [[nodiscard]] const std::vector<View*>& views() const { return views_; }
  [[nodiscard]] View* view(const QString& key) const;
  [[nodiscard]] View* currentView() const;
  [[nodiscard]] Banner& banner() const { return *banner_; }
  [[nodiscard]] ToolStrip& tools() const { return *tools_; }
  [[nodiscard]] Opener& opener() { return opener_; }
  [[nodiscard]] Settings settings() const;

  /// Opens what the word means (gui/model/open_run.h: sourceOf), a run store included; an address' view and
  /// zoom are applied when the run is there. Problems are shown in the window.
  void open(const QString& word, OpenAs use = OpenAs::current);
  /// Shows the runs of another file.
  void openStore(const QString& path);
  void showError(const QString& title, const QStringList& lines);
  /// The run, page, zoom and selection of the last time, where the run is still there.
  void reopen(const Settings& settings);
  /// As the desktop's colours are, until a theme is chosen.
  void followDesktopTheme();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  friend std::vector<Command> fileCommands(MainWindow& window);
  friend std::vector<Command> editCommands(MainWindow& window);
  friend std::vector<Command> lookCommands(MainWindow& window);
  friend std::vector<Command> helpCommands(MainWindow& window);

  void makePages();
  void makeDocks();
  void makeCommands();
  void makeStatus();
  QDockWidget* addDock(const QString& name, const QString& title, QWidget* content, Qt::DockWidgetArea area);
  void runOpened();
  void showPage(const QString& key);
  void updateTitle();
  void setFontScale(int percent);
  void askBeforeClosing(View& view);

  Session session_;
  CommandTable commands_;
  Opener opener_;
  std::vector<View*> views_;  // owned by tabs_
  std::vector<QDockWidget*> docks_;
  QTabWidget* tabs_ = nullptr;
  Banner* banner_ = nullptr;
  ToolStrip* tools_ = nullptr;
  ActivityBar* activity_ = nullptr;
  int fontScale_ = 100;
  std::optional<Theme> chosenTheme_;
  bool mayLose_ = false;   // the user said so: what is not saved goes with the window
  QString pendingUrl_;     // applied to the run that is being opened
  Session::Run shownRun_;  // whose landing page was shown
};

}  // namespace vsim::gui
