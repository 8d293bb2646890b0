#include "gui/view/scenario/scenario_page.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "app/load.h"
#include "core/scenario/document.h"
#include "gui/paint/palette.h"
#include "traces/atomic_file.h"

namespace vsim::gui {
namespace {

constexpr int kPauseMs = 200;
constexpr const char* kEmpty =
    "No scenario is loaded. Choose a bundled one above, or open a file with Ctrl+Shift+E.";

QString shown(const core::Error& error) {
  QString text = QString::fromStdString(error.message);
  if (error.line > 0) text = QString("line %1: ").arg(error.line) + text;
  if (!error.hint.empty()) text += " (" + QString::fromStdString(error.hint) + ")";
  return text;
}

}  // namespace

ScenarioPage::ScenarioPage(Session& session, QWidget* parent)
    : View(session, parent),
      top_(new QWidget(this)),
      name_(new QLabel(top_)),
      state_(new QLabel(top_)),
      bundled_(new QComboBox(top_)),
      run_(new QPushButton("Run", top_)),
      store_(new QCheckBox("store the result", top_)),
      form_(new FormPanel(this)),
      editor_(new TextEditor(this)),
      problems_(new QListWidget(this)) {
  makeTop();
  makeMiddle();
  setFocusProxy(editor_);
  wait_.setSingleShot(true);
  wait_.setInterval(kPauseMs);
  connect(&wait_, &QTimer::timeout, this, &ScenarioPage::check);
  connect(editor_, &QPlainTextEdit::textChanged, this, &ScenarioPage::textChanged);
  connect(editor_, &QPlainTextEdit::modificationChanged, this, &ScenarioPage::showState);
  connect(form_, &FormPanel::edited, this, &ScenarioPage::fieldEdited);
  connect(problems_, &QListWidget::itemActivated, this, &ScenarioPage::goToProblem);
  connect(problems_, &QListWidget::itemClicked, this, &ScenarioPage::goToProblem);
  connect(run_, &QPushButton::clicked, this, &ScenarioPage::run);
  connect(&session, &Session::editRequested, this, &ScenarioPage::load);
  connect(&session, &Session::themeChanged, this, [this] { wait_.start(); });
  showState();
  showCheck({});
}

void ScenarioPage::makeTop() {
  bundled_->setAccessibleName("bundled scenarios");
  bundled_->setPlaceholderText("Bundled scenarios");
  for (const std::string& name : bundledScenarios()) bundled_->addItem(QString::fromStdString(name));
  bundled_->setCurrentIndex(-1);
  store_->setChecked(true);
  store_->setToolTip("Keep the result in the run store");
  run_->setToolTip("Simulate in the background and open the result (Ctrl+R)");
  name_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  state_->setTextFormat(Qt::PlainText);
  auto* row = new QHBoxLayout(top_);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(bundled_);
  row->addWidget(name_, 1);
  row->addWidget(state_);
  row->addWidget(store_);
  row->addWidget(run_);
  connect(bundled_, &QComboBox::activated, this, [this](int index) {
    const std::string word = bundled_->itemText(index).toStdString();
    const auto path = core::findScenario(word, app::readOptions({.scenario = word}));
    if (path)
      load(QString::fromStdString(*path));
    else
      showProblem(QString::fromStdString(path.error().text()));
  });
}

void ScenarioPage::makeMiddle() {
  editor_->setAccessibleName("text of the scenario");
  editor_->setPlaceholderText(kEmpty);
  problems_->setAccessibleName("problems of the scenario");
  problems_->setWordWrap(true);
  problems_->hide();
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(form_);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setMinimumWidth(form_->minimumSizeHint().width() + fontMetrics().height() * 2);
  auto* right = new QSplitter(Qt::Vertical, this);
  right->addWidget(editor_);
  right->addWidget(problems_);
  right->setStretchFactor(0, 4);
  right->setStretchFactor(1, 1);
  auto* middle = new QSplitter(Qt::Horizontal, this);
  middle->addWidget(scroll);
  middle->addWidget(right);
  middle->setStretchFactor(0, 1);
  middle->setStretchFactor(1, 3);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(top_);
  layout->addWidget(middle, 1);
}

std::vector<Command> ScenarioPage::commands() {
  return {
      {"scenario.run", "Run the scenario", "Ctrl+R", "Simulates it in the background and opens the result.",
       [this] { run(); }},
      {"scenario.open", "Open a scenario to edit...", "Ctrl+Shift+E", "Loads a file into form and text.",
       [this] { askToOpen(); }},
      {"scenario.save", "Save the scenario", "Ctrl+S", "Writes the text to its file.", [this] { save(); }},
      {"scenario.save-as", "Save the scenario as...", "Ctrl+Shift+S", "Writes the text to another file.",
       [this] { askToSave([] {}); }},
      {"scenario.next-problem", "Next problem", "F8", "Puts the cursor at the next wrong line.",
       [this] { nextProblem(); }},
      {"scenario.text", "Go to the text", "F6", "Puts the keyboard into the text.",
       [this] { editor_->setFocus(); }},
  };
}

QString ScenarioPage::unsaved() const {
  if (editor_->toPlainText() == kept_) return {};
  return QString("The changes of %1").arg(path_.isEmpty() ? "the scenario" : QFileInfo(path_).fileName());
}

void ScenarioPage::load(const QString& path, const QString& text) {
  const QString lost = unsaved();
  if (lost.isEmpty()) return replace(path, text);
  delete question_;  // about what was asked for before
  question_ = new QMessageBox(QMessageBox::Question, "Unsaved changes",
                              lost + " are not saved. They are lost when another scenario is loaded.",
                              QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
  question_->setAttribute(Qt::WA_DeleteOnClose);
  connect(question_, &QMessageBox::finished, this, [this, path, text](int answer) {
    if (answer == QMessageBox::Discard) replace(path, text);
    if (answer == QMessageBox::Save) saveThen([this, path, text] { replace(path, text); });
    bundled_->setCurrentIndex(-1);
  });
  question_->open();
}

void ScenarioPage::replace(const QString& path, const QString& text) {
  QString content = text;
  if (text.isEmpty()) {
    const auto file = core::readSmallFile(path.toStdString());  // at most 256 KiB
    if (!file) return showProblem(QString::fromStdString(file.error().text()));
    content = QString::fromStdString(*file);
  }
  path_ = path;
  editor_->setPlainText(content);
  kept_ = editor_->toPlainText();
  editor_->document()->setModified(!text.isEmpty());
  wait_.stop();
  check();
  showState();
}

void ScenarioPage::textChanged() {
  valid_ = false;
  run_->setEnabled(false);
  wait_.start();
}

void ScenarioPage::check() {
  const QString text = editor_->toPlainText();
  if (path_.isEmpty() && text.trimmed().isEmpty()) return showCheck({});
  checking_.start<ScenarioCheck>(
      [text = text.toStdString(),
       path = path_.isEmpty() ? std::string("scenario.yaml") : path_.toStdString()](
          const Background::Cancelled&) { return checkScenario(text, path); },
      [this](const ScenarioCheck& check) { showCheck(check); });
}

void ScenarioPage::showCheck(const ScenarioCheck& check) {
  errors_ = check.errors;
  valid_ = check.scenario.has_value() && errors_.empty();
  run_->setEnabled(valid_);
  form_->setEnabled(!path_.isEmpty() || !editor_->document()->isEmpty());
  for (const FormGroup& group : formGroups())
    for (const FormField& field : group.fields) {
      const auto written = check.written.find(field.key);
      if (written != check.written.end())
        form_->setValue(field.key, QString::fromStdString(written->second));
      else if (check.scenario)
        form_->setValue(field.key, QString::fromStdString(fieldValue(*check.scenario, field.key)));
    }
  const QColor wrong = paletteOf(session().theme()).exposed;
  form_->setErrors(errors_, wrong);
  std::map<int, QString> marks;
  problems_->clear();
  for (const core::Error& error : errors_) {
    QString& mark = marks[std::max(error.line, 1)];
    mark += (mark.isEmpty() ? "" : "\n") + shown(error);
    auto* item = new QListWidgetItem(shown(error), problems_);
    item->setData(Qt::UserRole, QPoint(error.column, error.line));
  }
  problems_->setVisible(!errors_.empty());
  editor_->setMarks(marks, wrong);
  if (errors_.empty() && !valid_)
    state_->setText({});
  else if (!errors_.empty())
    state_->setText(errors_.size() == 1 ? QString("1 problem") : QString("%1 problems").arg(errors_.size()));
  else
    state_->setText(check.points > 1 ? QString("no problems, a sweep of %1 points").arg(check.points)
                                     : QString("no problems"));
}

void ScenarioPage::fieldEdited(const QString& key, const QString& value) {
  if (value.isEmpty()) return emit session().message(key + ": to unset a value, delete it in the text");
  const auto text = withField(editor_->toPlainText().toStdString(), key.toStdString(), value.toStdString());
  if (!text) {
    emit session().message(QString::fromStdString(text.error().text()));
    return check();  // the field goes back to what the text says
  }
  editor_->changeTo(QString::fromStdString(*text));
}

void ScenarioPage::run() {
  if (!valid_) {
    if (!errors_.empty()) nextProblem();
    return;
  }
  RunSource source{.kind = RunSource::Kind::scenario, .path = path_.toStdString()};
  if (path_.isEmpty()) source.path = "scenario.yaml";
  if (editor_->document()->isModified() || path_.isEmpty())
    source.text = editor_->toPlainText().toStdString();
  source.store = store_->isChecked();
  source.storePath = session().storePath();
  session().requestOpen(source);
}

void ScenarioPage::askToOpen() {
  auto* dialog = new QFileDialog(this, "Open a scenario", QFileInfo(path_).path(),
                                 "Scenarios (*.yaml *.yml);;All files (*)");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) { load(file); });
  dialog->open();
}

void ScenarioPage::saveThen(std::function<void()> then) {
  // Bundled scenarios belong to the program; one that came from a run has no file yet.
  if (path_.isEmpty() || !QFileInfo::exists(path_) || isBundled(path_.toStdString()))
    return askToSave(std::move(then));
  if (saveTo(path_)) then();
}

void ScenarioPage::askToSave(std::function<void()> then) {
  auto* dialog = new QFileDialog(this, "Save the scenario", QFileInfo(path_).fileName(),
                                 "Scenarios (*.yaml *.yml);;All files (*)");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix("yaml");
  dialog->selectFile(QFileInfo(path_).fileName());
  connect(dialog, &QFileDialog::fileSelected, this, [this, then = std::move(then)](const QString& file) {
    if (saveTo(file)) then();
  });
  dialog->open();
}

bool ScenarioPage::saveTo(const QString& path) {
  const auto written = traces::writeFileAtomically(path.toStdString(), editor_->toPlainText().toStdString());
  if (!written) {
    showProblem(QString::fromStdString(written.error().text()));
    return false;
  }
  path_ = path;
  kept_ = editor_->toPlainText();
  editor_->document()->setModified(false);
  showState();
  check();  // profiles are looked for beside the file
  emit session().message("saved " + path);
  return true;
}

void ScenarioPage::nextProblem() {
  if (problems_->count() == 0) return;
  problems_->setCurrentRow((problems_->currentRow() + 1) % problems_->count());
  goToProblem(problems_->currentItem());
}

void ScenarioPage::goToProblem(const QListWidgetItem* item) {
  if (item == nullptr) return;
  const QPoint place = item->data(Qt::UserRole).toPoint();
  editor_->goTo(place.y(), place.x());
}

void ScenarioPage::showState() {
  const bool changed = editor_->document()->isModified();
  name_->setText(path_.isEmpty() ? QString() : QFileInfo(path_).fileName() + (changed ? " (changed)" : ""));
  name_->setToolTip(path_);
}

void ScenarioPage::showProblem(const QString& text) {
  problems_->clear();
  problems_->addItem(text);
  problems_->show();
  state_->setText("1 problem");
}

void ScenarioPage::drawExport(QPainter& painter, QSize size) {
  const Palette& colours = paletteOf(session().theme());
  painter.fillRect(QRect(QPoint(0, 0), size), colours.background);
  painter.setPen(colours.text);
  painter.setFont(editor_->font());
  const QString text = path_.isEmpty() ? QString(kEmpty) : editor_->toPlainText();
  painter.drawText(QRect(QPoint(12, 12), size - QSize(24, 24)), Qt::AlignLeft | Qt::AlignTop, text);
}

DataTable ScenarioPage::exportTable() const {
  DataTable table{.header = {"key", "value"}, .rows = {}, .numeric = {false, false}};
  if (path_.isEmpty()) return table;
  for (const FormGroup& group : formGroups())
    for (const FormField& field : group.fields)
      table.rows.push_back({field.key, form_->value(field.key).toStdString()});
  return table;
}

}  // namespace vsim::gui
