#include "gui/view/memory/live_model.h"

#include <QPixmap>
#include <array>

#include "gui/paint/memory_style.h"

namespace vsim::gui {
namespace {

enum Column : int {
  kName,
  kBytes,
  kShare,
  kAsked,
  kStream,
  kAllocatedAt,
  kFreedAt,
  kPeakWithout,
  kAddress,
  kColumns
};
constexpr std::array<const char*, kColumns> kHeaders{
    "category, unit, buffer", "taken",    "share",        "asked",  "stream",
    "allocated at",           "freed at", "peak without", "address"};

}  // namespace

int LiveModel::add(int parent, std::size_t part) {
  const int id = static_cast<int>(nodes_.size());
  std::vector<int>& list = parent < 0 ? roots_ : nodes_[static_cast<std::size_t>(parent)].children;
  const int row = static_cast<int>(list.size());
  list.push_back(id);
  nodes_.push_back({parent, row, part, nullptr, nullptr, nullptr, {}});
  return id;
}

void LiveModel::setLive(Live live, std::shared_ptr<const core::ExecutionLog> log) {
  beginResetModel();
  nodes_.clear();
  roots_.clear();
  live_ = std::move(live);
  log_ = std::move(log);
  if (live_ && log_)
    for (const LiveSet::Part& part : live_->parts) {
      const int category = add(-1, part.part);
      nodes_[static_cast<std::size_t>(category)].category = &part;
      for (const LiveSet::Unit& unit : part.units) {
        const int middle = add(category, part.part);
        nodes_[static_cast<std::size_t>(middle)].unit = &unit;
        for (const LiveBuffer& buffer : unit.buffers)
          nodes_[static_cast<std::size_t>(add(middle, part.part))].buffer = &buffer;
      }
    }
  endResetModel();
}

const LiveModel::Node* LiveModel::node(const QModelIndex& index) const {
  return index.isValid() && index.internalId() < nodes_.size() ? &nodes_[index.internalId()] : nullptr;
}

core::Index LiveModel::bufferAt(const QModelIndex& index) const {
  const Node* n = node(index);
  return n != nullptr && n->buffer != nullptr ? n->buffer->buffer : core::kNone;
}

QModelIndex LiveModel::indexOf(core::Index buffer) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].buffer != nullptr && nodes_[i].buffer->buffer == buffer)
      return createIndex(nodes_[i].row, 0, static_cast<quintptr>(i));
  return {};
}

QModelIndex LiveModel::index(int row, int column, const QModelIndex& parent) const {
  const Node* n = node(parent);
  const std::vector<int>& list = n == nullptr ? roots_ : n->children;
  if (row < 0 || static_cast<std::size_t>(row) >= list.size() || column < 0 || column >= kColumns) return {};
  return createIndex(row, column, static_cast<quintptr>(list[static_cast<std::size_t>(row)]));
}

QModelIndex LiveModel::parent(const QModelIndex& index) const {
  const Node* n = node(index);
  if (n == nullptr || n->parent < 0) return {};
  return createIndex(nodes_[static_cast<std::size_t>(n->parent)].row, 0, static_cast<quintptr>(n->parent));
}

int LiveModel::rowCount(const QModelIndex& parent) const {
  if (parent.column() > 0) return 0;
  const Node* n = node(parent);
  return static_cast<int>(n == nullptr ? roots_.size() : n->children.size());
}

int LiveModel::columnCount(const QModelIndex&) const { return kColumns; }

QVariant LiveModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= kColumns)
    return {};
  return kHeaders[static_cast<std::size_t>(section)];
}

QVariant LiveModel::data(const QModelIndex& index, int role) const {
  const Node* n = node(index);
  if (n == nullptr) return {};
  const bool number = index.column() != kName && index.column() != kStream;
  switch (role) {
    case Qt::DisplayRole:
      return text(*n, index.column());
    case Qt::UserRole:
      return value(*n, index.column());
    case Qt::TextAlignmentRole:
      return static_cast<int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::DecorationRole:
      return index.column() == kName ? QVariant(memoryPartColor(paletteOf(session_.theme()), n->part))
                                     : QVariant();
    default:
      return {};
  }
}

QVariant LiveModel::text(const Node& n, int column) const {
  const QVariant plain = value(n, column);
  switch (column) {
    case kBytes:
    case kAsked:
    case kPeakWithout:
      return plain.isNull() ? QVariant() : bytesText(plain.toLongLong());
    case kShare:
      return QString("%1 %").arg(plain.toDouble(), 0, 'f', 1);
    case kAllocatedAt:
      if (n.buffer == nullptr) return {};
      return n.buffer->allocatedAt ? timeText(*n.buffer->allocatedAt) : QString("before the log");
    case kFreedAt:
      if (n.buffer == nullptr) return {};
      return n.buffer->freedAt ? timeText(*n.buffer->freedAt) : QString("never");
    case kAddress:
      return n.buffer == nullptr ? QVariant() : QString("0x%1").arg(n.buffer->address, 0, 16);
    default:
      return plain;
  }
}

QVariant LiveModel::value(const Node& n, int column) const {
  const core::StepProgram& program = *log_->program;
  const core::Bytes bytes = n.category ? n.category->bytes : n.unit ? n.unit->bytes : n.buffer->bytes;
  switch (column) {
    case kName:
      if (n.buffer) return QString::fromStdString(program.buffers[n.buffer->buffer].name);
      return QString::fromStdString(n.unit ? n.unit->name : std::string(memoryPartName(n.part)));
    case kBytes:
      return static_cast<qlonglong>(bytes);
    case kShare:
      return live_->allocated > 0 ? 100.0 * static_cast<double>(bytes) / static_cast<double>(live_->allocated)
                                  : 0.0;
    case kPeakWithout:
      if (n.category) return static_cast<qlonglong>(n.category->peakIfRemoved);
      return n.buffer ? QVariant(static_cast<qlonglong>(n.buffer->peakIfRemoved)) : QVariant();
    case kAsked:
      return n.buffer ? QVariant(static_cast<qlonglong>(n.buffer->asked)) : QVariant();
    case kStream: {
      if (!n.buffer) return {};
      const core::StreamId stream = program.buffers[n.buffer->buffer].stream;
      return stream < program.streams.size() ? QString::fromStdString(program.streams[stream])
                                             : QString::number(stream);
    }
    case kAllocatedAt:
      return n.buffer ? QVariant(static_cast<qlonglong>(n.buffer->allocatedAt.value_or(-1))) : QVariant();
    case kFreedAt:
      return n.buffer ? QVariant(static_cast<qlonglong>(
                            n.buffer->freedAt.value_or(std::numeric_limits<core::Picoseconds>::max())))
                      : QVariant();
    case kAddress:
      return n.buffer ? QVariant(static_cast<qulonglong>(n.buffer->address)) : QVariant();
    default:
      return {};
  }
}

}  // namespace vsim::gui
