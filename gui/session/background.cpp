#include "gui/session/background.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QThreadPool>

namespace vsim::gui {

void Background::run(std::function<void()> job) { QThreadPool::globalInstance()->start(std::move(job)); }

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
