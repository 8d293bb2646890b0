#include "gui/session/background.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QThreadPool>

namespace vsim::gui {
namespace {

/// One for the program, as Qt's own handler of messages: jobs are spread over all pages.
Background::Report& reporter() {
  static Background::Report report;
  return report;
}

}  // namespace

void Background::reportTo(Report report) { reporter() = std::move(report); }

void Background::fail(const QString& problem) {
  const QPointer<Background> self(this);
  if (reporter())
    reporter()(problem);
  else
    qWarning("background work failed: %s", qPrintable(problem));
  if (self) emit failed(problem);
}

void Background::run(std::function<void()> job) {
  (pool_ != nullptr ? pool_ : QThreadPool::globalInstance())->start(std::move(job));
}

void Background::cancel() {
  if (!flag_) return;
  flag_->store(true);
  flag_.reset();
  emit busyChanged(false);
}

void Background::deliver(const QPointer<Background>& self, const std::shared_ptr<Cancelled>& flag,
                         std::function<void()> done) {
  // The application outlives every job; the object itself may be gone by the time the result arrives, which
  // only its own thread can tell.
  QMetaObject::invokeMethod(
      QCoreApplication::instance(),
      [self, flag, done = std::move(done)] {
        if (!self || self->flag_ != flag) return;
        self->flag_.reset();
        done();
        if (self) emit self->busyChanged(self->flag_ != nullptr);
      },
      Qt::QueuedConnection);
}

}  // namespace vsim::gui
