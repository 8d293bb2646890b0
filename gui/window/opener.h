#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>

#include "gui/session/background.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// Answers Session::openRequested: loads or simulates in the background and hands the run to the session. A
/// new request cancels the one under way; runs to compare wait for each other.
class Opener : public QObject {
  Q_OBJECT
 public:
  explicit Opener(Session& session, QObject* parent = nullptr);

  void cancel();
  [[nodiscard]] bool busy() const { return work_.busy() || !waiting_.empty(); }

 signals:
  void started(const QString& what);
  void progress(const QString& what, double fraction);
  void finished();
  /// Problems of the input, one a line, the first in front.
  void failed(const QString& title, const QStringList& problems);

 private:
  struct Request {
    RunSource source;
    OpenAs use = OpenAs::current;
  };
  void request(const RunSource& source, OpenAs use);
  void next();
  void previewArrived(Session::Run run, int report);
  /// The run that is shown without its logs stays like that.
  void giveUpLogs();
  void handOver();
  void arrived(const Request& request, const core::ResultAll<std::shared_ptr<const OpenedRun>>& run);

  Session& session_;
  // What was cancelled may go on for a moment: it does not keep the pages' work waiting.
  QThreadPool pool_;
  Background work_{nullptr, &pool_};
  std::vector<Request> waiting_;
  Session::Run preview_;  // opened, its logs are being read; shared with the session
  int serial_ = 0;        // of the request under way
};

}  // namespace vsim::gui
