#pragma once

#include <QAbstractItemModel>
#include <memory>

#include "gui/model/live_set.h"
#include "gui/session/session.h"

namespace vsim::gui {

/// A live set as a tree: categories, units, buffers. Qt::UserRole answers values to sort by.
class LiveModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  using Live = std::shared_ptr<const LiveSet>;  // shared with the job that made it

  explicit LiveModel(Session& session, QObject* parent) : QAbstractItemModel(parent), session_(session) {}
  void setLive(Live live, std::shared_ptr<const core::ExecutionLog> log);
  /// kNone: not a buffer's row.
  [[nodiscard]] core::Index bufferAt(const QModelIndex& index) const;
  [[nodiscard]] QModelIndex indexOf(core::Index buffer) const;

  [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& index) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Node {
    int parent = -1, row = 0;
    std::size_t part = 0;
    const LiveSet::Part* category = nullptr;  // one of the three is set
    const LiveSet::Unit* unit = nullptr;
    const LiveBuffer* buffer = nullptr;
    std::vector<int> children;
  };
  int add(int parent, std::size_t part);
  [[nodiscard]] const Node* node(const QModelIndex& index) const;
  [[nodiscard]] QVariant text(const Node& node, int column) const;
  [[nodiscard]] QVariant value(const Node& node, int column) const;

  Session& session_;
  Live live_;
  std::shared_ptr<const core::ExecutionLog> log_;  // shared with the run
  std::vector<Node> nodes_;
  std::vector<int> roots_;
};

}  // namespace vsim::gui
