#include "gui/window/window_commands.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QInputDialog>
#include <QMessageBox>
#include <QStatusBar>

#include "gui/window/command_palette.h"
#include "gui/window/main_window.h"

namespace vsim::gui {
namespace {

/// Dialogs are not modal loops: the window's events go on, and tests can close them.
void askForFile(MainWindow& window, const QString& title, const QString& filter,
                std::function<void(const QString&)> chosen) {
  auto* dialog = new QFileDialog(&window, title, {}, filter);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  QObject::connect(dialog, &QFileDialog::fileSelected, &window, std::move(chosen));
  dialog->open();
}

void askForLink(MainWindow& window) {
  auto* dialog = new QInputDialog(&window);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle("Go to link");
  dialog->setLabelText("A run's number, a file, or a link such as vsim://run/42?view=timeline");
  const QString clipboard = QApplication::clipboard()->text();
  if (clipboard.startsWith("vsim://")) dialog->setTextValue(clipboard);
  QObject::connect(dialog, &QInputDialog::textValueSelected, &window,
                   [&window](const QString& text) { window.open(text.trimmed()); });
  dialog->open();
}

void about(MainWindow& window) {
  auto* box =
      new QMessageBox(QMessageBox::NoIcon, "About vsim",
                      QString("vsim %1 predicts how fast a model trains under FSDP on a cluster, and in "
                              "how much memory.\nQt %2")
                          .arg(QApplication::applicationVersion(), qVersion()),
                      QMessageBox::Close, &window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->open();
}

void copyLink(MainWindow& window) {
  QApplication::clipboard()->setText(window.session().toUrl());
  window.statusBar()->showMessage("The link is on the clipboard", 3000);
}

template <class Dialog>
void showDialog(MainWindow& window) {
  auto* dialog = new Dialog(window.commands(), &window);
  dialog->show();
}

}  // namespace

std::vector<Command> fileCommands(MainWindow& window) {
  MainWindow* const w = &window;
  return {
      {"file.open", "Open scenario or trace...", "Ctrl+O",
       "Opens a scenario (simulated), a Chrome trace or a run store.",
       [w] {
         askForFile(*w, "Open",
                    "Scenarios, traces, run stores (*.yaml *.yml *.json *.json.gz *.sqlite *.db);;"
                    "All files (*)",
                    [w](const QString& file) { w->open(file); });
       }},
      {"file.open-last", "Open the newest run", "Ctrl+Shift+O", "Opens the newest run of the store.",
       [w] { w->open("last"); }},
      {"file.compare", "Add scenario or trace to compare...", "", "Opens another run beside the current one.",
       [w] {
         askForFile(*w, "Compare with", "Scenarios and traces (*.yaml *.yml *.json *.json.gz);;All files (*)",
                    [w](const QString& file) { w->open(file, OpenAs::comparison); });
       }},
      {"file.store", "Open another run store...", "", "Shows the runs of another file.",
       [w] {
         askForFile(*w, "Run store", "Run stores (*.sqlite *.db);;All files (*)",
                    [w](const QString& file) { w->openStore(file); });
       }},
      {"file.example", "Run the example", "", "Simulates a small bundled scenario, stores and opens it.",
       [w] {
         w->session().requestOpen({.kind = RunSource::Kind::scenario,
                                   .path = "tiny",
                                   .store = true,
                                   .storePath = w->session().storePath()});
       }},
      {"file.close-run", "Close the run", "Ctrl+W", "Closes the run that is shown.",
       [w] { w->session().close(0); }},
      {"file.quit", "Quit", "Ctrl+Q", "Closes the window.", [w] { w->close(); }},
  };
}

std::vector<Command> editCommands(MainWindow& window) {
  MainWindow* const w = &window;
  return {
      {"go.back", "Back", "Alt+Left", "To the selection, limit or page before.", [w] { w->session_.back(); }},
      {"go.forward", "Forward", "Alt+Right", "Undoes Back.", [w] { w->session_.forward(); }},
      {"go.next-report", "Next report", "Alt+Down", "The next system or sweep point of the run.",
       [w] { w->session_.setReport(w->session_.report() + 1); }},
      {"go.previous-report", "Previous report", "Alt+Up", "The system or sweep point before.",
       [w] { w->session_.setReport(w->session_.report() - 1); }},
      {"go.copy-link", "Copy link", "Ctrl+Shift+C", "Puts the address of what is shown on the clipboard.",
       [w] { copyLink(*w); }},
      {"go.link", "Go to link...", "Ctrl+L", "Opens a run by its number or address.",
       [w] { askForLink(*w); }},
      {"go.clear-limit", "Clear the limit", "Shift+L", "Statistics count the whole time again.",
       [w] { w->session_.setLimit(std::nullopt); }},
      {"go.cancel", "Cancel background work", "Ctrl+.", "Stops opening or simulating.",
       [w] { w->opener_.cancel(); }},
  };
}

std::vector<Command> lookCommands(MainWindow& window) {
  MainWindow* const w = &window;
  std::vector<Command> commands;
  for (std::size_t i = 0; i < w->views_.size(); ++i) {
    const View* view = w->views_[i];
    commands.push_back({"look." + view->key(), view->title(), i < 9 ? QString::number(i + 1) : QString(),
                        "Shows the page \"" + view->title() + "\".",
                        [w, key = view->key()] { w->session_.setView(key); }});
  }
  for (QDockWidget* dock : w->docks_)
    commands.push_back({"look.panel-" + dock->objectName(), "Panel: " + dock->windowTitle(), "",
                        "Shows or hides the panel.", [dock] { dock->setVisible(!dock->isVisible()); }});
  const auto theme = [&](const char* id, const char* name, Theme value) {
    commands.push_back(
        {id, name, "", "Colours of the whole window.", [w, value] { w->session_.setTheme(value); }});
  };
  commands.push_back({"look.theme-desktop", "Theme of the desktop", "", "Light or dark, as the desktop is.",
                      [w] { w->followDesktopTheme(); }});
  theme("look.theme-light", "Light theme", Theme::light);
  theme("look.theme-dark", "Dark theme", Theme::dark);
  theme("look.theme-contrast", "High-contrast theme", Theme::highContrast);
  const auto font = [&](const char* id, const char* name, const char* keys, auto scale) {
    commands.push_back({id, name, keys, "Size of the text, 80 to 200 %.",
                        [w, scale] { w->setFontScale(scale(w->fontScale_)); }});
  };
  font("look.text-larger", "Larger text", "Ctrl+Alt+=; Ctrl+Alt++", [](int percent) { return percent + 10; });
  font("look.text-smaller", "Smaller text", "Ctrl+Alt+-", [](int percent) { return percent - 10; });
  font("look.text-normal", "Normal text", "Ctrl+Alt+0", [](int) { return 100; });
  commands.push_back({"look.full-screen", "Full screen", "F11", "The window on the whole screen and back.",
                      [w] { w->setWindowState(w->windowState() ^ Qt::WindowFullScreen); }});
  return commands;
}

std::vector<Command> helpCommands(MainWindow& window) {
  MainWindow* const w = &window;
  return {
      {"help.palette", "Commands...", "Ctrl+Shift+P", "Finds and runs a command by its name.",
       [w] { showDialog<CommandPalette>(*w); }},
      {"help.keys", "Keys...", "?; F1", "All commands with their keys.", [w] { showDialog<KeyList>(*w); }},
      {"help.about", "About vsim", "", "Version of vsim and Qt.", [w] { about(*w); }},
  };
}

}  // namespace vsim::gui
