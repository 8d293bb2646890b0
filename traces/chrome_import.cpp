#include "traces/chrome_import.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <istream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <streambuf>
#include <unordered_map>

#include "traces/decimal_microseconds.h"

namespace vsim::traces {
namespace {

using core::Picoseconds;

/// Each text once. Index 0 is "".
class Texts {
 public:
  Texts() { add({}); }
  std::uint32_t add(const std::string& text) {
    const auto [found, isNew] = index_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (isNew) texts_.push_back(text);
    return found->second;
  }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::unordered_map<std::string, std::uint32_t> index_;  // looked up only; the order is that of texts_
  std::vector<std::string> texts_;
};

/// One event of the list, as far as it is of interest.
struct Event {
  std::string phase, name, category, process, thread;
  std::string argumentName, argumentPhase;   // args.name, args.phase
  std::optional<std::string> begin, length;  // numbers as written
  std::optional<std::int64_t> order;         // args.sort_index
};

struct RawSlice {
  std::uint32_t name = 0;
  std::uint8_t category = 0, phase = 0;
  bool open = false;  // begun, not ended
  SplitTime begin;
  Picoseconds length = 0;
};

struct RawThread {
  std::string process, thread, name;
  std::int64_t order = 0;
  std::vector<RawSlice> slices;
  std::vector<std::size_t> open;  // begun and not ended, innermost last
};

Picoseconds between(const SplitTime& from, const SplitTime& to) {
  constexpr std::int64_t kMost = 9'000'000'000'000;  // microseconds that fit as picoseconds: 104 days
  const std::int64_t whole = to.microseconds - from.microseconds;
  if (whole > kMost) return std::numeric_limits<Picoseconds>::max();
  if (whole < -kMost) return std::numeric_limits<Picoseconds>::min();
  return whole * core::kPicosecondsPerMicrosecond + to.picoseconds - from.picoseconds;
}

/// Takes the events one by one and makes the trace of them.
class Collector {
 public:
  /// False: `error` says why.
  bool take(const Event& event) {
    if (event.phase == "X" || event.phase == "B" || event.phase == "E") return slice(event);
    if (event.phase == "M") {
      metadata(event);
      return true;
    }
    ++other_;
    return true;
  }

  core::Result<ImportedTrace> finish(const std::string& file) {
    ImportedTrace trace;
    trace.otherEvents = other_;
    const SplitTime* first = nullptr;
    for (RawThread& thread : threads_) {
      trace.unfinished += static_cast<std::int64_t>(thread.open.size());
      std::erase_if(thread.slices, [](const RawSlice& raw) { return raw.open; });
      for (const RawSlice& raw : thread.slices)
        if (first == nullptr || between(raw.begin, *first) > 0) first = &raw.begin;
    }
    trace.unfinished += endsWithoutBegin_;
    if (first == nullptr)
      return core::fail(file + ": the trace holds no slices", "events with \"ph\": \"X\"");
    // Clocks that count from 1970, or from the machine's start days ago, are moved.
    constexpr std::int64_t kDay = 86'400'000'000;
    const SplitTime zero = first->microseconds > kDay || first->microseconds < 0 ? *first : SplitTime{};
    for (RawThread& thread : threads_) {
      if (thread.slices.empty()) continue;
      auto made = threadOf(thread, zero);
      if (!made)
        return core::fail(file + ": the trace spans more than 100 days", "is \"ts\" in microseconds?");
      trace.threads.push_back(std::move(*made));
    }
    std::stable_sort(trace.threads.begin(), trace.threads.end(), [](const auto& a, const auto& b) {
      return std::pair(a.processNumber, a.order) < std::pair(b.processNumber, b.order);
    });
    trace.names = names_.take();
    trace.categories = categories_.take();
    trace.phases = phases_.take();
    return trace;
  }

  std::string error;

 private:
  std::optional<ImportedThread> threadOf(RawThread& raw, const SplitTime& zero) {
    ImportedThread thread;
    thread.name = raw.name.empty() ? "thread " + raw.thread : raw.name;
    const std::string& process = processNames_[raw.process];
    thread.process = process.empty() ? "process " + raw.process : process;
    thread.processNumber = processes_.at(raw.process);
    thread.order = raw.order;
    thread.slices.reserve(raw.slices.size());
    for (const RawSlice& slice : raw.slices) {
      const Picoseconds begin = between(zero, slice.begin);
      constexpr Picoseconds kMost = std::numeric_limits<Picoseconds>::max() / 4;
      if (begin > kMost || begin < -kMost || slice.length > kMost) return std::nullopt;
      thread.slices.push_back({slice.name, slice.category, slice.phase, begin, begin + slice.length});
    }
    raw.slices = {};
    return thread;
  }

  RawThread& threadFor(const Event& event) {
    if (last_ < threads_.size() && threads_[last_].process == event.process &&
        threads_[last_].thread == event.thread)
      return threads_[last_];
    const auto [found, isNew] = threadIndex_.try_emplace({event.process, event.thread}, threads_.size());
    if (isNew) {
      processes_.try_emplace(event.process, static_cast<std::uint32_t>(processes_.size()));
      threads_.push_back({event.process, event.thread, {}, 0, {}, {}});
    }
    last_ = found->second;
    return threads_[last_];
  }

  static std::uint8_t small(std::uint32_t index) {
    return index < 256 ? static_cast<std::uint8_t>(index) : 0;
  }

  bool slice(const Event& event) {
    RawThread& thread = threadFor(event);
    const auto begin = event.begin ? splitTime(*event.begin) : std::nullopt;
    if (!begin) return refuse(event, "\"ts\"", event.begin);
    if (event.phase == "E") {
      if (thread.open.empty()) {
        ++endsWithoutBegin_;
        return true;
      }
      RawSlice& open = thread.slices[thread.open.back()];
      thread.open.pop_back();
      open.open = false;
      open.length = between(open.begin, *begin);
      return open.length >= 0 || refuse(event, "an end before the begin, \"ts\"", event.begin);
    }
    RawSlice raw{names_.add(event.name),
                 small(categories_.add(event.category)),
                 small(phases_.add(event.argumentPhase)),
                 event.phase == "B",
                 *begin,
                 0};
    if (raw.open) {
      thread.open.push_back(thread.slices.size());
    } else {
      const auto length = splitTime(event.length.value_or("0"));
      if (!length || length->microseconds < 0) return refuse(event, "\"dur\"", event.length);
      raw.length = between({}, *length);
    }
    thread.slices.push_back(raw);
    return true;
  }

  bool refuse(const Event& event, const char* what, const std::optional<std::string>& value) {
    error = fmt::format("event \"{}\": {} is {}", event.name, what, value ? *value : "missing, or no number");
    return false;
  }

  void metadata(const Event& event) {
    if (event.name == "process_name") {
      processNames_[event.process] = event.argumentName;
    } else if (event.name == "thread_name") {
      threadFor(event).name = event.argumentName;
    } else if (event.name == "thread_sort_index" && event.order) {
      threadFor(event).order = *event.order;
    }
  }

  Texts names_, categories_, phases_;
  std::map<std::pair<std::string, std::string>, std::size_t> threadIndex_;
  std::map<std::string, std::uint32_t> processes_;
  std::map<std::string, std::string> processNames_;
  std::vector<RawThread> threads_;
  std::size_t last_ = 0;
  std::int64_t other_ = 0, endsWithoutBegin_ = 0;
};

/// Follows the parser: where the list of events is, which field of an event comes next. Everything else is
/// skipped at any depth; the parser itself does not recurse.
class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  Handler(Collector& collector, const std::function<bool()>& cancelled)
      : collector_(collector), cancelled_(cancelled) {}

  bool null() override { return value({}, false); }
  bool boolean(bool) override { return value({}, false); }
  bool number_integer(number_integer_t v) override { return value(std::to_string(v), true); }
  bool number_unsigned(number_unsigned_t v) override { return value(std::to_string(v), true); }
  bool number_float(number_float_t, const string_t& text) override { return value(text, true); }
  bool string(string_t& text) override { return value(std::move(text), false); }
  bool binary(binary_t&) override { return true; }

  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override {
    if ((depth_ == 0 || (depth_ == 1 && key_ == "traceEvents")) && listDepth_ == 0) {
      listDepth_ = depth_ + 1;
      foundList = true;
    }
    return open();
  }
  bool end_array() override { return close(); }
  bool key(string_t& text) override {
    if (depth_ == 1 || depth_ == listDepth_ + 1 || depth_ == listDepth_ + 2) key_ = text;
    if (listDepth_ > 0 && depth_ == listDepth_ + 1) inArguments_ = text == "args";
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    brokeAt = position;
    return false;
  }

  std::optional<std::size_t> brokeAt;
  bool foundList = false, refused = false;

 private:
  bool open() {
    ++depth_;
    if (listDepth_ > 0 && depth_ == listDepth_ + 1) event_ = {};
    return true;
  }
  bool close() {
    --depth_;
    if (listDepth_ == 0) return true;
    if (depth_ == listDepth_) {
      inArguments_ = false;
      refused = !collector_.take(event_);
      constexpr std::uint64_t kAsk = 4096;
      return !refused && (++events_ % kAsk != 0 || !cancelled_ || !cancelled_());
    }
    if (depth_ == listDepth_ + 1) inArguments_ = false;
    if (depth_ < listDepth_) listDepth_ = 0;
    return true;
  }

  bool value(std::string text, bool number) {
    if (listDepth_ == 0) return true;
    if (depth_ == listDepth_ + 1) {
      field(std::move(text), number);
    } else if (depth_ == listDepth_ + 2 && inArguments_) {
      if (key_ == "name")
        event_.argumentName = std::move(text);
      else if (key_ == "phase")
        event_.argumentPhase = std::move(text);
      else if (key_ == "sort_index" && number && text.size() < 10)
        event_.order = std::atoll(text.c_str());
    }
    return true;
  }

  void field(std::string text, bool number) {
    if (key_ == "ph")
      event_.phase = std::move(text);
    else if (key_ == "name")
      event_.name = std::move(text);
    else if (key_ == "cat")
      event_.category = std::move(text);
    else if (key_ == "pid")
      event_.process = std::move(text);
    else if (key_ == "tid")
      event_.thread = std::move(text);
    else if (key_ == "ts" && number)
      event_.begin = std::move(text);
    else if (key_ == "dur")
      event_.length = number ? std::move(text) : "no number";
  }

  Collector& collector_;
  const std::function<bool()>& cancelled_;
  Event event_;
  std::string key_;
  std::size_t depth_ = 0, listDepth_ = 0;  // depth inside the list; 0: not there
  std::uint64_t events_ = 0;
  bool inArguments_ = false;
};

/// Plain or gzip file, a buffer at a time.
class GzipBuffer : public std::streambuf {
 public:
  explicit GzipBuffer(gzFile file) : file_(file) {}
  [[nodiscard]] bool failed() const { return failed_; }

 protected:
  int_type underflow() override {
    const int read = gzread(file_, buffer_.data(), static_cast<unsigned>(buffer_.size()));
    failed_ = failed_ || read < 0;
    if (read <= 0) return traits_type::eof();
    setg(buffer_.data(), buffer_.data(), buffer_.data() + read);
    return traits_type::to_int_type(buffer_.front());
  }

 private:
  gzFile file_;
  bool failed_ = false;
  std::array<char, 1 << 18> buffer_{};
};

template <class Input>
core::Result<ImportedTrace> parse(Input&& input, const std::string& name,
                                  const std::function<bool()>& cancelled) {
  Collector collector;
  Handler handler(collector, cancelled);
  const bool done = nlohmann::json::sax_parse(std::forward<Input>(input), &handler);
  if (handler.refused) return core::fail(name + ": " + collector.error);
  if (!done && !handler.brokeAt) return core::fail("cancelled");
  if (handler.brokeAt)
    return core::fail(
        fmt::format("{}: is no JSON, or cut off: it breaks off at byte {}", name, *handler.brokeAt));
  if (!handler.foundList)
    return core::fail(name + ": is no trace: there is no list of events",
                      "\"traceEvents\", as Trace Event Format has it");
  return collector.finish(name);
}

}  // namespace

core::Result<ImportedTrace> importChromeTrace(const std::string& path,
                                              const std::function<bool()>& cancelled) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) return core::fail(path + ": cannot be opened");
  auto buffer = std::make_unique<GzipBuffer>(file.get());
  std::istream in(buffer.get());
  auto trace = parse(in, path, cancelled);
  if (!trace && buffer->failed()) return core::fail(path + ": is no whole gzip file, or cannot be read");
  return trace;
}

core::Result<ImportedTrace> importChromeTraceText(std::string_view text, const std::string& name) {
  return parse(text, name, {});
}

}  // namespace vsim::traces
