#include "base/findings.h"

#include <algorithm>
#include <tuple>

namespace slipway {

std::string to_string(const Place& place) {
  std::string text = place.file;
  if (place.line > 0) {
    if (!text.empty()) text += ':';
    text += fmt::format("{}:{}", place.line, place.column);
  }
  return text;
}

std::string to_string(const Finding& finding) {
  std::string text = to_string(finding.place);
  if (!text.empty()) text += ": ";
  text += finding.severity == Severity::error ? "error: " : "warning: ";
  if (!finding.field.empty()) text += finding.field + ": ";
  text += finding.message;
  if (!finding.hint.empty()) text += fmt::format(" ({})", finding.hint);
  return text;
}

Findings::Added Findings::add(Finding finding) {
  all_.push_back(std::move(finding));
  return Added(all_.back());
}

void Findings::append(Findings other) {
  all_.insert(all_.end(), std::make_move_iterator(other.all_.begin()), std::make_move_iterator(other.all_.end()));
}

bool Findings::has_errors() const {
  return std::ranges::any_of(all_, [](const Finding& f) { return f.severity == Severity::error; });
}

std::string Findings::to_text() const {
  std::vector<const Finding*> ordered;
  for (const Finding& finding : all_) ordered.push_back(&finding);
  std::ranges::stable_sort(ordered, {}, [](const Finding* f) { return std::tie(f->place.file, f->place.line, f->place.column); });
  std::string text;
  for (const Finding* finding : ordered) text += to_string(*finding) + '\n';
  return text;
}

Result<> Findings::to_result() const {
  if (!has_errors()) return Ok{};
  std::string text = to_text();
  text.pop_back();
  return Error(Code::invalid, std::move(text));
}

}  // namespace slipway
