#include "gui/view/runs/store_access.h"

#include <unistd.h>

#include <QDateTime>
#include <QFileInfo>
#include <ctime>
#include <filesystem>
#include <limits>

namespace vsim::gui {
namespace {

constexpr int kPollMs = 1000;
constexpr std::int64_t kKeepDeletedSeconds = 24 * 3600;

bool canWrite(const std::string& path) {
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(path, ignored).parent_path();
  return ::access(path.c_str(), W_OK) == 0 && ::access(folder.c_str(), W_OK) == 0;
}

StoreContent failure(std::string problem) {
  return {.state = StoreContent::State::failed, .rows = {}, .writable = false, .problem = std::move(problem)};
}

}  // namespace

StoreContent readStore(const std::string& path) {
  std::error_code ignored;
  StoreContent content;
  if (path.empty() || !std::filesystem::exists(path, ignored)) return content;
  content.writable = canWrite(path);
  auto store = traces::RunStore::open(path, traces::RunStore::Access::readOnly);
  if (!store && content.writable && store.error().message.find("earlier version") != std::string::npos)
    store = traces::RunStore::open(path, traces::RunStore::Access::readWrite);  // brings it up to date
  if (!store) return failure(store.error().text());
  auto rows = store->list(std::numeric_limits<std::int64_t>::max());
  if (!rows) return failure(rows.error().text());
  content.state = rows->empty() ? StoreContent::State::empty : StoreContent::State::filled;
  content.rows = std::move(*rows);
  return content;
}

StoreAccess::StoreAccess(QObject* parent) : QObject(parent) {
  connect(&timer_, &QTimer::timeout, this, &StoreAccess::poll);
  timer_.start(kPollMs);
}

void StoreAccess::setPath(const std::string& path) {
  path_ = path;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && canWrite(path))
    write([](traces::RunStore& store) { return store.purge(std::time(nullptr) - kKeepDeletedSeconds); });
  refresh();
}

std::string StoreAccess::stamp() const {
  std::string result;
  for (const char* end : {"", "-wal"}) {
    const QFileInfo file(QString::fromStdString(path_ + end));
    result +=
        std::to_string(file.size()) + " " + std::to_string(file.lastModified().toMSecsSinceEpoch()) + " ";
  }
  return result;
}

void StoreAccess::poll() {
  if (reading_.busy() || writing_.busy() || path_.empty()) return;
  if (stamp() != stamp_) refresh();
}

void StoreAccess::refresh() {
  stamp_ = stamp();
  reading_.start<StoreContent>([path = path_](const Background::Cancelled&) { return readStore(path); },
                               [this](const StoreContent& content) { emit contentRead(content); });
}

void StoreAccess::write(Write work) {
  writes_.push_back(std::move(work));
  if (!writing_.busy()) writeNext();
}

void StoreAccess::writeNext() {
  if (writes_.empty()) return;
  Write work = std::move(writes_.front());
  writes_.pop_front();
  using Done = core::Result<void>;
  writing_.start<Done>(
      [path = path_, work = std::move(work)](const Background::Cancelled&) -> Done {
        auto store = traces::RunStore::open(path, traces::RunStore::Access::readWrite);
        if (!store) return tl::unexpected(store.error());
        return work(*store);
      },
      [this](const Done& done) {
        if (!done) emit failed(QString::fromStdString(done.error().text()));
        if (writes_.empty()) return refresh();
        // The slot is free once this returns.
        QMetaObject::invokeMethod(this, &StoreAccess::writeNext, Qt::QueuedConnection);
      });
}

}  // namespace vsim::gui
