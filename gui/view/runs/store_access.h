#pragma once

#include <QObject>
#include <QTimer>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "gui/session/background.h"
#include "traces/run_store.h"

namespace vsim::gui {

/// What a store looks like at one moment. Plain value.
struct StoreContent {
  enum class State { missing, empty, filled, failed };
  State state = State::missing;
  std::vector<traces::RunSummary> rows;  // newest first
  bool writable = false;                 // tags, notes, pins, deletions can be kept
  std::string problem;                   // why it cannot be read
};

/// Reads all that a store lists; brings an older schema up to date where the file may be written. For
/// background threads.
[[nodiscard]] StoreContent readStore(const std::string& path);

/// Reads the store of the run browser in the background, again whenever its file changes, and writes to it
/// one thing after the other. Lives in the window's thread.
class StoreAccess : public QObject {
  Q_OBJECT
 public:
  using Write = std::function<core::Result<void>(traces::RunStore&)>;

  explicit StoreAccess(QObject* parent = nullptr);

  void setPath(const std::string& path);
  [[nodiscard]] const std::string& path() const { return path_; }
  void refresh();
  /// Opens for writing, calls `work`, closes; `failed` when it could not. The list is read anew afterwards.
  void write(Write work);
  [[nodiscard]] bool settled() const { return !reading_.busy() && !writing_.busy() && writes_.empty(); }

 signals:
  void contentRead(const vsim::gui::StoreContent& content);
  void failed(const QString& problem);

 private:
  /// Sizes and times of the file and its log: changes when anybody writes.
  [[nodiscard]] std::string stamp() const;
  void poll();
  void writeNext();

  std::string path_, stamp_;
  Background reading_, writing_;
  std::deque<Write> writes_;
  QTimer timer_;
};

}  // namespace vsim::gui
