#include "node/os_build/steps.h"

#include "base/characters.h"
#include "base/number.h"
#include "base/text.h"

#include <algorithm>
#include <optional>

namespace slipway::node {

namespace {

bool has_word(std::string_view text, std::string_view word) {
  return to_lower(text.substr(0, text.find_first_of(" \t"))) == word;
}

// The words after << in `RUN <<EOF` and `COPY <<-"END" /etc/motd`.
std::vector<std::string> here_documents(std::string_view text) {
  std::vector<std::string> ends;
  for (std::size_t at = text.find("<<"); at != std::string_view::npos; at = text.find("<<", at + 2)) {
    std::string_view word = text.substr(at + 2);
    word = word.substr(std::min(word.find_first_not_of("-\"'"), word.size()));
    const auto end = std::ranges::find_if_not(word, [](char c) { return is_letter_or_digit(c) || c == '_'; });
    if (end != word.begin() && !is_digit(word.front())) ends.emplace_back(word.begin(), end);
  }
  return ends;
}

// Parser directives are comments at the beginning of the file.
char escape_of(const std::vector<std::string_view>& lines) {
  for (const std::string_view raw : lines) {
    std::string line = to_lower(trim(raw));
    if (!line.starts_with('#')) break;
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
    if (line == "#escape=`") return '`';
  }
  return '\\';
}

// "[2/3] STEP 4/5: RUN make" -> {2, 4}
std::optional<std::pair<int, int>> step_of(std::string_view line) {
  int stage = 1;
  if (line.starts_with('[')) {
    line.remove_prefix(1);
    const std::optional<int> number = take_number<int>(line);
    const std::size_t end = line.find("] ");
    if (!number || end == std::string_view::npos) return std::nullopt;
    stage = *number;
    line.remove_prefix(end + 2);
  }
  constexpr std::string_view word = "STEP ";
  if (!line.starts_with(word)) return std::nullopt;
  line.remove_prefix(word.size());
  const std::optional<int> step = take_number<int>(line);
  if (!step || !line.starts_with('/')) return std::nullopt;
  return std::pair(stage, *step);
}

}  // namespace

std::vector<Instruction> instructions_of(std::string_view containerfile) {
  const std::vector<std::string_view> lines = split(containerfile, '\n');
  const char escape = escape_of(lines);
  std::vector<Instruction> found;
  int stage = 0, step = 0;
  for (std::size_t at = 0; at < lines.size();) {
    Instruction each{.stage = 0, .step = 0, .line = static_cast<int>(at) + 1, .text = {}};
    for (bool continues = true; continues && at < lines.size();) {
      const std::string_view line = trim(lines[at++]);
      if (line.empty() || line.starts_with('#')) {  // does not end a continued line
        continues = !each.text.empty();
        continue;
      }
      continues = line.ends_with(escape);
      if (!each.text.empty()) each.text += ' ';
      each.text += trim(continues ? line.substr(0, line.size() - 1) : line);
    }
    if (each.text.empty()) continue;
    const bool can_have_documents = has_word(each.text, "run") || has_word(each.text, "copy") || has_word(each.text, "add");
    for (const std::string& end : can_have_documents ? here_documents(each.text) : std::vector<std::string>()) {
      while (at < lines.size() && trim(lines[at++]) != end) {
      }
    }
    if (has_word(each.text, "from")) ++stage, step = 0;
    if (stage > 0) each.stage = stage, each.step = ++step;
    found.push_back(std::move(each));
  }
  return found;
}

const Instruction* last_step(const std::vector<Instruction>& instructions, const std::vector<std::string>& output) {
  for (std::size_t i = output.size(); i-- > 0;) {
    const auto numbers = step_of(output[i]);
    if (!numbers) continue;
    const auto found = std::ranges::find_if(instructions, [&](const Instruction& instruction) {
      return instruction.stage == numbers->first && instruction.step == numbers->second;
    });
    return found == instructions.end() ? nullptr : &*found;
  }
  return nullptr;
}

}  // namespace slipway::node
