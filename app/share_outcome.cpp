#include "app/share_outcome.h"

#include <nlohmann/json.hpp>

namespace vsim::app {
namespace {

using Json = nlohmann::json;

std::string outcomeText(const Outcome<void>& outcome) {
  if (outcome) return {};
  Json list = Json::array();
  for (const core::Error& e : outcome.error().errors)
    list.push_back({e.message, e.file, e.line, e.column, e.hint});
  return Json{{"wrong_input", outcome.error().wrongInput}, {"errors", std::move(list)}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

Outcome<void> outcomeFrom(const std::string& text) {
  if (text.empty()) return {};
  Failure failure;
  try {
    const Json json = Json::parse(text);
    failure.wrongInput = json.at("wrong_input");
    for (const Json& e : json.at("errors"))
      failure.errors.push_back(
          {.message = e.at(0), .file = e.at(1), .line = e.at(2), .column = e.at(3), .hint = e.at(4)});
  } catch (const Json::exception&) {
    failure.errors.push_back({.message = "the leading process failed, and its error is not readable"});
  }
  return tl::unexpected(std::move(failure));
}

}  // namespace

Outcome<void> shareOutcome(gpu::Machine& machine, const std::function<Outcome<void>()>& work) {
  Outcome<void> outcome;
  if (machine.leads()) outcome = work();
  const auto told = machine.broadcast(outcomeText(outcome));
  if (machine.leads() && !outcome) return outcome;
  if (!told) return machineFailed(told.error());
  return machine.leads() ? outcome : outcomeFrom(*told);
}

}  // namespace vsim::app
