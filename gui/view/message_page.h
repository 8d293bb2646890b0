#pragma once

#include <QWidget>

#include "gui/session/session.h"

namespace vsim::gui {

/// Stands in for a view's content where there is none. `message`: what is missing, then, after a line break,
/// what to do; it belongs to the view and may change.
class MessagePage : public QWidget {
  Q_OBJECT
 public:
  MessagePage(const Session& session, const QString& message, QWidget* parent)
      : QWidget(parent), session_(session), message_(message) {}

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Session& session_;
  const QString& message_;
};

}  // namespace vsim::gui
