#include "diagnosis/probe.h"

#include "diagnosis/finding.h"

#include "base/text.h"

#include <algorithm>
#include <set>

namespace slipway::diagnosis {

Probe parse_probe(std::string_view text, std::string_view file) {
  Probe probe{std::string(file), {}};
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    Probe::Line parsed{number, {}, std::string(trim(line))};
    for (const std::string_view word : split(parsed.text, ' ')) {
      if (!word.empty()) parsed.words.emplace_back(word);
    }
    if (parsed.words.size() > 1) probe.all.push_back(std::move(parsed));
  }
  return probe;
}

bool Probe::Line::has_answer() const {
  if (words[0] == "port") return words.size() == 3 && words[2] == "open";
  return words.size() == 3 && words[2].find_first_not_of("0123456789") == std::string::npos;
}

std::vector<Probe::Line> Probe::lines(std::string_view keyword, std::string_view first_word) const {
  std::vector<Line> found;
  const bool asks_others = keyword == "reach" || keyword == "port" || keyword == "name";
  if (asks_others && std::ranges::none_of(all, [](const Line& line) { return line.words[0] == "address"; })) return found;
  for (const Line& line : all) {
    if (line.words[0] == keyword && (first_word.empty() || line.words[1] == first_word)) found.push_back(line);
  }
  return found;
}

std::vector<std::size_t> to_ask_again(const std::vector<Probe>& probes) {
  const auto targets_of = [](const Probe& probe) {
    std::vector<Probe::Line> lines = probe.lines("reach");
    std::ranges::move(probe.lines("port"), std::back_inserter(lines));
    return lines;
  };
  std::set<std::string> reached;
  for (const Probe& probe : probes) {
    for (const Probe::Line& line : targets_of(probe)) {
      if (line.has_answer()) reached.insert(line.words[1]);
    }
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const std::vector<Probe::Line> lines = targets_of(probes[i]);
    const auto is_missed = [&](const Probe::Line& line) { return !line.has_answer() && reached.contains(line.words[1]); };
    if (std::ranges::any_of(lines, is_missed)) found.push_back(i);
  }
  return found;
}

Quote quote(const Probe& probe, const Probe::Line& line) { return {probe.file, line.number, shortened(line.text)}; }

}  // namespace slipway::diagnosis
