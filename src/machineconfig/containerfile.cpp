#include "machineconfig/containerfile.h"

#include "base/characters.h"
#include "base/similar.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace slipway::machineconfig {

namespace {

constexpr std::size_t longest_text = 4096;
constexpr std::array<std::string_view, 18> instructions = {"add",    "arg",   "cmd",         "copy",  "entrypoint", "env",
                                                           "expose", "from",  "healthcheck", "label", "maintainer", "onbuild",
                                                           "run",    "shell", "stopsignal",  "user",  "volume",     "workdir"};

// The words after << of here-documents in a line: `RUN <<EOF`, `COPY <<-"END" /etc/motd`.
std::vector<std::string> here_documents(std::string_view line) {
  std::vector<std::string> ends;
  for (std::size_t at = line.find("<<"); at != std::string_view::npos; at = line.find("<<", at + 2)) {
    std::size_t begin = at + 2;
    if (begin < line.size() && line[begin] == '-') ++begin;
    if (begin < line.size() && (line[begin] == '"' || line[begin] == '\'')) ++begin;
    std::size_t end = begin;
    while (end < line.size() && (is_letter_or_digit(line[end]) || line[end] == '_')) ++end;
    if (end > begin && !is_digit(line[begin])) ends.emplace_back(line.substr(begin, end - begin));
  }
  return ends;
}

// Only comments at the beginning of the text can change the character that continues a line.
char escape_of(const std::vector<std::string_view>& lines) {
  for (const std::string_view raw : lines) {
    const std::string line = to_lower(trim(raw));
    if (!line.starts_with('#')) break;
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) break;
    if (trim(std::string_view(line).substr(1, equals - 1)) == "escape" && trim(std::string_view(line).substr(equals + 1)) == "`")
      return '`';
  }
  return '\\';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : lines_(split(text, '\n')), escape_(escape_of(lines_)) {}

  std::vector<Instruction> read() {
    std::vector<Instruction> found;
    while (at_ < lines_.size()) {
      const int line = static_cast<int>(at_) + 1;
      const std::string text = next_logical_line();
      if (text.empty()) continue;
      const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
      Instruction instruction{
          .line = line, .name = to_lower(text.substr(0, end)), .rest = std::string(trim(std::string_view(text).substr(end)))};
      if (instruction.name == "run" || instruction.name == "copy" || instruction.name == "add") skip_here_documents(instruction);
      found.push_back(std::move(instruction));
    }
    return found;
  }

 private:
  bool is_comment(std::string_view line) const { return line.starts_with('#'); }

  // Joins continued lines; comments and empty lines between them do not end the instruction.
  std::string next_logical_line() {
    std::string joined;
    while (at_ < lines_.size()) {
      const std::string_view line = trim(lines_[at_++]);
      if (line.empty() || is_comment(line)) {
        if (joined.empty()) return "";
        continue;
      }
      const bool continues = line.ends_with(escape_);
      joined += std::string(continues ? line.substr(0, line.size() - 1) : line);
      if (!continues) break;
      joined += ' ';
    }
    return std::string(trim(joined));
  }

  void skip_here_documents(Instruction& instruction) {
    for (const std::string& end : here_documents(instruction.rest)) {
      while (at_ < lines_.size() && trim(lines_[at_]) != end) ++at_;
      if (at_ == lines_.size()) {
        instruction.open_document = end;
        return;
      }
      ++at_;
    }
  }

  std::vector<std::string_view> lines_;
  const char escape_;
  std::size_t at_ = 0;
};

// The image and the name of `FROM [--platform=P] IMAGE [AS NAME]`, in lower case, because names of stages are compared that way.
struct From {
  std::string image, name;
};
From read_from(std::string_view rest) {
  From from;
  std::vector<std::string> words;
  for (const std::string_view word : split(rest, ' ')) {
    if (!trim(word).empty() && !trim(word).starts_with("--")) words.push_back(to_lower(trim(word)));
  }
  if (!words.empty()) from.image = words[0];
  if (words.size() == 3 && words[1] == "as") from.name = words[2];
  return from;
}

}  // namespace

std::vector<Instruction> read_instructions(std::string_view containerfile) { return Reader(containerfile).read(); }

void check_containerfile(std::string_view text, const std::string& field, const std::function<Place(int line)>& place_of_line,
                         Findings& findings) {
  if (text.size() > longest_text) {
    findings.error(place_of_line(1), field, "has {} characters, the longest Containerfile has {}", text.size(), longest_text)
        .hint("put long scripts into an image, and copy them from there with COPY --from");
  }
  const std::vector<Instruction> found = read_instructions(text);
  std::set<std::string> on_configs = {std::string(configs_stage)};
  const Instruction* last_from = nullptr;
  bool is_on_configs = false;
  for (const Instruction& instruction : found) {
    if (!instruction.open_document.empty()) {
      findings.error(place_of_line(instruction.line), field, "the here-document <<{} has no end", instruction.open_document)
          .hint("add a line with " + instruction.open_document);
    }
    if (std::ranges::find(instructions, instruction.name) == instructions.end()) {
      auto added = findings.error(place_of_line(instruction.line), field, "unknown instruction {}", instruction.name);
      const std::string_view similar = similar_word(instruction.name, {instructions.begin(), instructions.end()});
      if (!similar.empty()) added.hint(fmt::format("did you mean {}?", similar));
      continue;
    }
    if (instruction.rest.empty()) {
      findings.error(place_of_line(instruction.line), field, "{} has no arguments", instruction.name);
      continue;
    }
    if (instruction.name != "from") {
      if (!last_from && instruction.name != "arg") {
        findings.error(place_of_line(instruction.line), field, "{} before the first FROM", instruction.name);
      }
      continue;
    }
    const From from = read_from(instruction.rest);
    is_on_configs = on_configs.contains(from.image);
    if (!from.name.empty()) {
      if (is_on_configs)
        on_configs.insert(from.name);
      else
        on_configs.erase(from.name);
    }
    last_from = &instruction;
  }
  if (!last_from) {
    findings.error(place_of_line(1), field, "has no FROM").hint("begin with FROM configs AS final");
  } else if (!is_on_configs) {
    findings
        .error(place_of_line(last_from->line), field,
               "the last stage is not built on the stage {}, so it is not the system of the release", configs_stage)
        .hint("begin the last stage with FROM configs AS final");
  }
}

}  // namespace slipway::machineconfig
