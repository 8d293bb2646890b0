#pragma once

#include <QObject>
#include <QPointer>
#include <atomic>
#include <functional>
#include <memory>

namespace vsim::gui {

/// One slot for background work: starting anew cancels what ran before, and results of cancelled work are
/// dropped. Lives in the window's thread; results arrive there. Work must look at its flag now and then.
class Background : public QObject {
  Q_OBJECT
 public:
  using Cancelled = std::atomic<bool>;

  explicit Background(QObject* parent = nullptr) : QObject(parent) {}
  ~Background() override { cancel(); }

  /// `work` runs on a thread of the global pool; `done` gets its result in this object's thread.
  template <class Result>
  void start(std::function<Result(const Cancelled&)> work, std::function<void(Result)> done) {
    cancel();
    const auto flag = std::make_shared<Cancelled>(false);  // shared with the pool's thread
    flag_ = flag;
    emit busyChanged(true);
    run([self = QPointer<Background>(this), flag, work = std::move(work), done = std::move(done)] {
      // Only moved through the event queue: shared, as functions must be copyable.
      auto result = std::make_shared<Result>(work(*flag));
      deliver(self, flag, [result, done] { done(std::move(*result)); });
    });
  }
  void cancel();
  [[nodiscard]] bool busy() const { return flag_ != nullptr; }

 signals:
  void busyChanged(bool busy);

 private:
  static void run(std::function<void()> job);
  static void deliver(const QPointer<Background>& self, const std::shared_ptr<Cancelled>& flag,
                      std::function<void()> done);

  std::shared_ptr<Cancelled> flag_;  // of the running work; null: idle
};

}  // namespace vsim::gui
