#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>

class QThreadPool;

namespace vsim::gui {

/// One slot for background work: starting anew cancels what ran before, and results of cancelled work are
/// dropped. Lives in the window's thread; results arrive there. Work must look at its flag now and then.
/// Work that throws (a damaged log may ask for more memory than there is) gives no result: `failed` says so.
class Background : public QObject {
  Q_OBJECT
 public:
  using Cancelled = std::atomic<bool>;

  /// `pool`: whose threads do the work, and which outlives this object; null: the global one.
  explicit Background(QObject* parent = nullptr, QThreadPool* pool = nullptr)
      : QObject(parent), pool_(pool) {}
  ~Background() override { cancel(); }

  /// `work` runs on a thread of the pool; `done` gets its result in this object's thread.
  template <class Result>
  void start(std::function<Result(const Cancelled&)> work, std::function<void(Result)> done) {
    cancel();
    const auto flag = std::make_shared<Cancelled>(false);  // shared with the pool's thread
    flag_ = flag;
    emit busyChanged(true);
    run([self = QPointer<Background>(this), flag, work = std::move(work), done = std::move(done)] {
      try {
        // Only moved through the event queue: shared, as functions must be copyable.
        auto result = std::make_shared<Result>(work(*flag));
        deliver(self, flag, [result, done] { done(std::move(*result)); });
      } catch (const std::exception& problem) {
        deliver(self, flag, [self, text = QString::fromUtf8(problem.what())] { self->fail(text); });
      } catch (...) {
        deliver(self, flag, [self] { self->fail("an unknown failure"); });
      }
    });
  }
  void cancel();
  [[nodiscard]] bool busy() const { return flag_ != nullptr; }

  /// Who tells the user of work that failed, wherever it belongs to; empty: a line on the terminal. The
  /// window's.
  using Report = std::function<void(const QString& problem)>;
  static void reportTo(Report report);

 signals:
  void busyChanged(bool busy);
  void failed(const QString& problem);

 private:
  void run(std::function<void()> job);
  void fail(const QString& problem);
  static void deliver(const QPointer<Background>& self, const std::shared_ptr<Cancelled>& flag,
                      std::function<void()> done);

  QThreadPool* pool_;
  std::shared_ptr<Cancelled> flag_;  // of the running work; null: idle
};

}  // namespace vsim::gui
