#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QListWidget>
#include <QMessageBox>
#include <QPointer>
#include <QPushButton>
#include <QTimer>

#include "gui/model/scenario_check.h"
#include "gui/session/background.h"
#include "gui/view/scenario/form_panel.h"
#include "gui/view/scenario/text_editor.h"
#include "gui/view/view.h"

namespace vsim::gui {

/// The page behind makeScenarioView().
class ScenarioPage : public View {
  Q_OBJECT
 public:
  ScenarioPage(Session& session, QWidget* parent);

  [[nodiscard]] QString key() const override { return "scenario"; }
  [[nodiscard]] QString title() const override { return "Scenario"; }
  [[nodiscard]] std::vector<Command> commands() override;
  void drawExport(QPainter& painter, QSize size) override;
  [[nodiscard]] DataTable exportTable() const override;
  [[nodiscard]] bool settled() const override { return !checking_.busy() && !wait_.isActive(); }

  /// The file's text; `text` in its place where it is not empty. Errors are shown in the page. Where changes
  /// would be lost, it asks first.
  void load(const QString& path, const QString& text = {});
  [[nodiscard]] QString unsaved() const override;
  void saveThen(std::function<void()> then) override;
  /// False: there was an error, which is shown.
  bool saveTo(const QString& path);

  // For tests.
  [[nodiscard]] TextEditor& editor() const { return *editor_; }
  [[nodiscard]] FormPanel& form() const { return *form_; }
  [[nodiscard]] QListWidget& problems() const { return *problems_; }
  [[nodiscard]] QString path() const { return path_; }
  [[nodiscard]] QString state() const { return state_->text(); }
  [[nodiscard]] QPushButton& runButton() const { return *run_; }
  [[nodiscard]] QCheckBox& storeBox() const { return *store_; }

 private:
  void makeTop();
  void makeMiddle();
  void textChanged();
  void check();
  void showCheck(const ScenarioCheck& check);
  void fieldEdited(const QString& key, const QString& value);
  void run();
  void askToOpen();
  void save() {
    saveThen([] {});
  }
  void replace(const QString& path, const QString& text);
  void askToSave(std::function<void()> then);
  void nextProblem();
  void goToProblem(const QListWidgetItem* item);
  void showState();
  void showProblem(const QString& text);

  QWidget* top_;
  QLabel *name_, *state_;
  QComboBox* bundled_;
  QPushButton* run_;
  QCheckBox* store_;
  FormPanel* form_;
  TextEditor* editor_;
  QListWidget* problems_;
  QString path_, kept_;  // kept_: text as it was loaded or saved last
  QPointer<QMessageBox> question_;
  QTimer wait_;  // typing is checked when it pauses
  Background checking_;
  core::Errors errors_;
  bool valid_ = false;
};

}  // namespace vsim::gui
