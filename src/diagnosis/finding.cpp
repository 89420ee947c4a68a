#include "diagnosis/finding.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::diagnosis {

namespace {

constexpr std::size_t longest_quote = 300;

std::string place(const Quote& quote) { return quote.line == 0 ? quote.file : fmt::format("{}:{}", quote.file, quote.line); }

// The lines of a paragraph after the first.
std::string details(const Finding& finding) {
  std::string text = fmt::format("  stage: {}\n", finding.stage);
  for (const Quote& quote : finding.evidence) text += fmt::format("  seen in {}: {}\n", place(quote), quote.text);
  return text + fmt::format("  what to do: {}\n", finding.next_step);
}

}  // namespace

std::string shortened(std::string_view line, std::string_view focus) {
  constexpr std::size_t before = 120;
  line = trim(line);
  std::string_view cut;
  const std::size_t at = focus.empty() ? std::string_view::npos : line.find(focus);
  if (line.size() > longest_quote && at != std::string_view::npos && at > before) {
    line.remove_prefix(at - before);
    cut = "... ";
  }
  std::string text = to_utf8(line);
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  if (text.size() > longest_quote) text = to_utf8(text.substr(0, longest_quote)) + " ...";
  return std::string(cut) + text;
}

std::string to_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{}{}: {}{}\n{}", text.empty() ? "" : "\n", finding.name, finding.cause,
                        finding.is_final ? " (final: does not resolve by itself)" : "", details(finding));
  }
  return text;
}

Json to_json(const std::vector<Finding>& findings) {
  JsonArray list;
  for (const Finding& finding : findings) {
    JsonArray evidence;
    for (const Quote& quote : finding.evidence) {
      evidence.push_back({{"file", quote.file}, {"line", quote.line}, {"text", quote.text}});
    }
    list.push_back({{"name", finding.name},
                    {"stage", finding.stage},
                    {"cause", finding.cause},
                    {"evidence", std::move(evidence)},
                    {"next_step", finding.next_step},
                    {"is_final", finding.is_final}});
  }
  return {{"findings", std::move(list)}};
}

sys::Event to_event(const Finding& finding) {
  const Json all = to_json({finding});
  JsonObject fields = {{"stage", finding.stage}, {"is_final", finding.is_final}, {"next_step", finding.next_step}};
  fields["evidence"] = *find(find_array(all, {"findings"}).front(), {"evidence"});
  return {.kind = "finding",
          .name = finding.name,
          .phase = sys::Phase::failed,
          .error = Error(finding.is_final ? Code::invalid : Code::unavailable, finding.cause),
          .fields = std::move(fields)};
}

Error to_error(const Finding& finding, const std::string& bundle) {
  std::string text = fmt::format("{}: {}\n{}", finding.name, finding.cause, details(finding));
  if (!bundle.empty()) text += fmt::format("  log bundle: {}\n", bundle);
  text.pop_back();
  return {Code::invalid, std::move(text)};
}

}  // namespace slipway::diagnosis
