// What the page of runs can do; its looks are in runs_page.cpp.
#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QFontDatabase>
#include <QPlainTextEdit>
#include <QVBoxLayout>
#include <algorithm>
#include <ctime>

#include "gui/view/runs/runs_page.h"

namespace vsim::gui {
namespace {

void showText(QWidget* parent, const QString& title, const QString& text) {
  auto* dialog = new QDialog(parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(title);
  auto* edit = new QPlainTextEdit(text, dialog);
  edit->setReadOnly(true);
  edit->setAccessibleName(title);
  edit->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  auto* layout = new QVBoxLayout(dialog);
  layout->addWidget(edit);
  dialog->resize(dialog->fontMetrics().horizontalAdvance('x') * 100, dialog->fontMetrics().height() * 36);
  dialog->show();
}

}  // namespace

std::vector<Command> RunsPage::commands() {
  return {
      {"runs.open", "Open the run", "Ctrl+Return",
       "Opens the run under the cursor; Enter in the table does too.", [this] { openCurrent(); }},
      {"runs.compare", "Compare the selected runs", "C", "Opens all selected runs beside the current one.",
       [this] { compareSelected(); }},
      {"runs.pin", "Pin as baseline", "B", "Others are measured against the pinned run; again: unpins.",
       [this] { togglePin(); }},
      {"runs.tags", "Edit tags", "T", "Tags of the run under the cursor.", [this] { tags_->setFocus(); }},
      {"runs.note", "Edit note", "N", "Note on the run under the cursor.", [this] { note_->setFocus(); }},
      {"runs.delete", "Delete the selected runs", "Del", "They come back with Undo, for a day.",
       [this] { deleteSelected(); }},
      {"runs.undo", "Undo delete", "Ctrl+Z", "Brings the runs back that were deleted last.",
       [this] { undoDelete(); }},
      {"runs.copy-command", "Copy the rerun command", "Ctrl+C",
       "The command that made the run, to the clipboard.", [this] { copyCommand(); }},
      {"runs.edit", "Edit its scenario", "Ctrl+Shift+E", "The run's scenario on the page \"Scenario\".",
       [this] { editScenario(); }},
      {"runs.filter", "Filter the runs", "Ctrl+F; /", "Words, or column:value.",
       [this] {
         filter_->setFocus();
         filter_->selectAll();
       }},
      {"runs.refresh", "Read the store again", "F5", "It is read anew by itself when a run is added.",
       [this] { store_.refresh(); }},
  };
}

bool RunsPage::mayWrite() {
  if (writable_) return true;
  emit session().message("the store is read-only: nothing was changed");
  return false;
}

void RunsPage::openCurrent() {
  const traces::RunSummary* row = currentRow();
  if (row == nullptr) return;
  if (row->calibration) return openCalibration(row->id);
  session().requestOpen({.path = store_.path(), .id = row->id, .report = static_cast<int>(row->position)});
}

void RunsPage::whenLoaded(std::int64_t id, std::function<void(const traces::StoredRun&)> use) {
  using Loaded = core::Result<traces::StoredRun>;
  loading_.start<Loaded>(
      [path = store_.path(), id](const Background::Cancelled&) -> Loaded {
        auto store = traces::RunStore::open(path, traces::RunStore::Access::readOnly);
        if (!store) return tl::unexpected(store.error());
        return store->load(id);
      },
      [this, use = std::move(use)](const Loaded& run) {
        if (run)
          use(*run);
        else
          emit session().message(QString::fromStdString(run.error().text()));
      });
}

void RunsPage::openCalibration(std::int64_t id) {
  whenLoaded(id, [this](const traces::StoredRun& run) {
    const QString title = QString("calibration %1").arg(run.id);
    showText(this, title,
             run.profile ? QString::fromStdString(run.profile->text) : QString("no profile was kept"));
  });
}

void RunsPage::compareSelected() {
  auto ids = selectedRuns();
  if (ids.empty()) return;
  const auto& open = session().runs();
  std::erase_if(ids, [&](std::int64_t id) {
    return std::ranges::any_of(
        open, [&](const Session::Run& run) { return run->source == storedSource(id, store_.path()); });
  });
  const std::size_t room = Session::kMaxRuns - open.size();
  if (ids.size() > room) {
    emit session().message(QString("at most %1 runs are compared: %2 of the selected ones are left out")
                               .arg(Session::kMaxRuns)
                               .arg(ids.size() - room));
    ids.resize(room);
  }
  for (const std::int64_t id : ids)
    session().requestOpen({.path = store_.path(), .id = id}, OpenAs::comparison);
  session().setView("compare");
}

void RunsPage::togglePin() {
  const traces::RunSummary* row = currentRow();
  if (row == nullptr || row->calibration || !mayWrite()) return;
  requested_ = 0;
  store_.write([id = row->pinned ? 0 : row->id](traces::RunStore& store) { return store.pin(id); });
}

void RunsPage::deleteSelected() {
  const auto ids = selectedRuns();
  if (ids.empty() || !mayWrite()) return;
  deleted_.push_back(ids);
  store_.write([ids](traces::RunStore& store) { return store.deleteRuns(ids, std::time(nullptr)); });
  emit session().message(ids.size() == 1
                             ? QString("run %1 deleted; Ctrl+Z brings it back").arg(ids.front())
                             : QString("%1 runs deleted; Ctrl+Z brings them back").arg(ids.size()));
}

void RunsPage::undoDelete() {
  if (!mayWrite()) return;
  // What an earlier window deleted is known to the store alone.
  std::vector<std::int64_t> ids;
  if (!deleted_.empty()) {
    ids = deleted_.back();
    deleted_.pop_back();
  }
  store_.write([ids](traces::RunStore& store) -> core::Result<void> {
    if (!ids.empty()) return store.restoreRuns(ids);
    const auto last = store.lastDeleted();
    if (!last) return tl::unexpected(last.error());
    if (last->empty()) return core::fail("nothing to undo: no run was deleted in the last day");
    return store.restoreRuns(*last);
  });
}

void RunsPage::copyCommand() {
  const traces::RunSummary* row = currentRow();
  if (row == nullptr) return;
  whenLoaded(row->id, [this](const traces::StoredRun& run) {
    QApplication::clipboard()->setText(QString::fromStdString(run.command));
    emit session().message("on the clipboard: " + QString::fromStdString(run.command));
  });
}

void RunsPage::editScenario() {
  const traces::RunSummary* row = currentRow();
  if (row == nullptr || row->calibration) return;
  whenLoaded(row->id, [this](const traces::StoredRun& run) {
    emit session().editRequested(QString::fromStdString(run.scenario + ".yaml"),
                                 QString::fromStdString(run.scenarioText));
    session().setView("scenario");
  });
}

void RunsPage::saveTags() {
  const traces::RunSummary* row = currentRow();
  if (row == nullptr || !tags_->isModified() || !mayWrite()) return;
  tags_->setModified(false);
  store_.write([id = row->id, text = tags_->text().trimmed().toStdString()](traces::RunStore& store) {
    return store.setTags(id, text);
  });
}

void RunsPage::saveNote() {
  const traces::RunSummary* row = currentRow();
  if (row == nullptr || !note_->isModified() || !mayWrite()) return;
  note_->setModified(false);
  store_.write([id = row->id, text = note_->text().trimmed().toStdString()](traces::RunStore& store) {
    return store.setNote(id, text);
  });
}

void RunsPage::runExample(const char* scenario) {
  session().requestOpen(
      {.kind = RunSource::Kind::scenario, .path = scenario, .store = true, .storePath = store_.path()});
}

}  // namespace vsim::gui
