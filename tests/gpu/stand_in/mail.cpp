#include "tests/gpu/stand_in/mail.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace vsim::test {

namespace fs = std::filesystem;

void LocalMail::announce(int member) {
  const std::lock_guard lock(mutex_);
  members_.insert(member);
  changed_.notify_all();
}

int LocalMail::announced() {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(members_.size());
}

void LocalMail::put(const Route& route, Message message) {
  const std::lock_guard lock(mutex_);
  boxes_[route].push_back(std::move(message));
  changed_.notify_all();
}

std::optional<Message> LocalMail::take(const Route& route) {
  const std::lock_guard lock(mutex_);
  std::deque<Message>& box = boxes_[route];
  if (box.empty()) return std::nullopt;
  Message message = std::move(box.front());
  box.pop_front();
  return message;
}

// Something may have come since the caller looked: so it is only a little that is waited.
void LocalMail::pause() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::microseconds(300));
}

namespace {

void writeWhole(const std::string& path, const Message& message) {
  const std::string unfinished = path + ".part";
  {
    std::ofstream out(unfinished, std::ios::binary);
    out.write(reinterpret_cast<const char*>(message.data()), static_cast<std::streamsize>(message.size()));
  }
  std::error_code error;
  fs::rename(unfinished, path, error);
}

}  // namespace

void FileMail::announce(int member) { writeWhole(fmt::format("{}.member{}", prefix_, member), {}); }

int FileMail::announced() {
  const std::lock_guard lock(mutex_);
  while (fs::exists(fmt::format("{}.member{}", prefix_, known_))) ++known_;
  return known_;
}

std::string FileMail::pathOf(const Route& route, std::uint64_t number) const {
  return fmt::format("{}.{}.{}.{}.{}", prefix_, route.from, route.to, route.subject, number);
}

void FileMail::put(const Route& route, Message message) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = sent_[route]++;
  }
  writeWhole(pathOf(route, number), message);
}

std::optional<Message> FileMail::take(const Route& route) {
  const std::lock_guard lock(mutex_);
  const std::string path = pathOf(route, received_[route]);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  Message message(static_cast<std::size_t>(fs::file_size(path, error)));
  std::ifstream in(path, std::ios::binary);
  in.read(reinterpret_cast<char*>(message.data()), static_cast<std::streamsize>(message.size()));
  fs::remove(path, error);
  ++received_[route];
  return message;
}

void FileMail::pause() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

std::shared_ptr<Mail> LocalMails::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Mail> mail = known_[name].lock();
  if (!mail) known_[name] = mail = std::make_shared<LocalMail>();
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  return mail;
}

}  // namespace vsim::test
