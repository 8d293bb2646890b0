#pragma once

#include <QPainter>
#include <QString>
#include <QVariantMap>
#include <QWidget>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "gui/model/data_table.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// One thing the user can do: menus, key list, palette and tests are made from these.
struct Command {
  QString id;    // "timeline.zoom-in"
  QString name;  // "Zoom in"
  QString keys;  // "W, Ctrl++" (QKeySequence::listFromString with ';' between alternatives)
  QString help;  // one sentence
  std::function<void()> run;
};

/// A page of the window. Views show the session and change it; they keep no state that others need. Work that
/// may take longer than 20 ms goes to Background (gui/session/background.h).
class View : public QWidget {
  Q_OBJECT
 public:
  View(Session& session, QWidget* parent) : QWidget(parent), session_(session) {}

  [[nodiscard]] virtual QString key() const = 0;    // "timeline": as --screenshot names it
  [[nodiscard]] virtual QString title() const = 0;  // "Timeline"
  [[nodiscard]] virtual std::vector<Command> commands() { return {}; }

  /// Draws the view's content for export, `size` in logical pixels: PNG and SVG both come from here, so text
  /// and few shapes are vectors, dense parts one image.
  virtual void drawExport(QPainter& painter, QSize size) = 0;
  [[nodiscard]] virtual DataTable exportTable() const = 0;
  /// Makes the same table on another thread; holds all that it needs. Views whose table may have millions of
  /// rows answer one that does the work then.
  using TableJob = std::function<DataTable(const std::atomic<bool>& cancelled)>;
  [[nodiscard]] virtual TableJob tableJob() const {
    auto table = std::make_shared<const DataTable>(exportTable());  // functions must be copyable
    return [table = std::move(table)](const std::atomic<bool>&) { return *table; };
  }
  /// What the page remembers between two starts of the program: its splitters, the columns of tables that
  /// have a name, and whatever it adds. setLook() ignores what look() has not made.
  [[nodiscard]] virtual QVariantMap look() const;
  virtual void setLook(const QVariantMap& look);

  /// What of the user's would be lost with the window; empty: nothing.
  [[nodiscard]] virtual QString unsaved() const { return {}; }
  /// Keeps that, asking where to if need be, then calls `then`.
  virtual void saveThen(std::function<void()> then) { then(); }

  /// All background work has arrived and the next paint shows the final picture (screenshots wait for it).
  [[nodiscard]] virtual bool settled() const { return true; }

 protected:
  [[nodiscard]] Session& session() const { return session_; }

 private:
  Session& session_;
};

}  // namespace vsim::gui
