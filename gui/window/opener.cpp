#include "gui/window/opener.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>
#include <filesystem>
#include <utility>

namespace vsim::gui {
namespace {

using Opened = core::ResultAll<std::shared_ptr<const OpenedRun>>;

QString nameOf(const RunSource& source) {
  if (source.kind == RunSource::Kind::stored)
    return source.id == 0 ? QString("newest run") : QString("run %1").arg(source.id);
  return QString::fromStdString(std::filesystem::path(source.path).filename().string());
}

}  // namespace

Opener::Opener(Session& session, QObject* parent) : QObject(parent), session_(session) {
  pool_.setMaxThreadCount(2);  // one that ends and one that begins
  connect(&session, &Session::openRequested, this, &Opener::request);
  // Work that threw is reported by whoever reports for all; here it is over.
  connect(&work_, &Background::failed, this, [this] {
    giveUpLogs();
    handOver();
  });
}

void Opener::request(const RunSource& source, OpenAs use) {
  if (use == OpenAs::current) {  // what is looked at next matters more than what was asked for before
    waiting_.clear();
    work_.cancel();
    giveUpLogs();
  }
  waiting_.push_back({source, use});
  if (!work_.busy()) next();
}

void Opener::cancel() {
  const bool was = busy();
  waiting_.clear();
  work_.cancel();
  giveUpLogs();
  if (was) emit finished();
}

void Opener::next() {
  if (waiting_.empty()) return;
  const Request request = waiting_.front();
  waiting_.erase(waiting_.begin());
  emit started("opening " + nameOf(request.source));
  // Progress comes from the other thread; the object may be gone by then, which only its own thread can tell.
  const auto tell = [self = QPointer<Opener>(this)](const std::string& what, double fraction) {
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [self, text = QString::fromStdString(what), fraction] {
          if (self && self->work_.busy()) emit self->progress(text, fraction);
        },
        Qt::QueuedConnection);
  };
  // Arrives in front of the complete run; that it is still wanted only this object's own thread can tell.
  const auto show = [self = QPointer<Opener>(this), serial = ++serial_, use = request.use,
                     report = request.source.report](Session::Run run) {
    if (use != OpenAs::current) return;
    QMetaObject::invokeMethod(
        QCoreApplication::instance(),
        [self, serial, report, run = std::move(run)] {
          if (self && self->work_.busy() && self->serial_ == serial) self->previewArrived(run, report);
        },
        Qt::QueuedConnection);
  };
  work_.start<Opened>(
      [source = request.source, tell, show](const Background::Cancelled& cancelled) {
        return openRun(
            source, tell, [&cancelled] { return cancelled.load(); }, show);
      },
      [this, request](const Opened& run) { arrived(request, run); });
}

void Opener::previewArrived(Session::Run run, int report) {
  preview_ = run;
  session_.open(std::move(run), report);
}

void Opener::giveUpLogs() {
  if (!preview_) return;
  auto rest = std::make_shared<OpenedRun>(*preview_);
  rest->loading = false;
  rest->levels.clear();
  rest->notes.emplace_back("its log was not read to the end: open it again to see its slices and its memory");
  session_.complete(std::exchange(preview_, nullptr), rest);
}

void Opener::arrived(const Request& request, const Opened& run) {
  if (run) {
    if (request.source.kind == RunSource::Kind::scenario && request.source.store)
      emit session_.storeWritten();
    switch (request.use) {
      case OpenAs::current:
        if (preview_)
          session_.complete(std::exchange(preview_, nullptr), *run);
        else
          session_.open(*run, request.source.report);
        break;
      case OpenAs::comparison:
        session_.addForComparison(*run);
        break;
      case OpenAs::baseline:
        session_.setBaseline(*run);
        break;
    }
  } else {
    if (request.use == OpenAs::current) giveUpLogs();
    QStringList problems;
    for (const core::Error& error : run.error()) problems.push_back(QString::fromStdString(error.text()));
    emit failed(nameOf(request.source) + " cannot be opened", problems);
  }
  handOver();
}

void Opener::handOver() {
  // `busy` is still on while results are handed over; the next one starts when it is off.
  QMetaObject::invokeMethod(
      this,
      [this] {
        if (work_.busy()) return;
        if (waiting_.empty())
          emit finished();
        else
          next();
      },
      Qt::QueuedConnection);
}

}  // namespace vsim::gui
