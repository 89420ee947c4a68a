#include "machineconfig/containerfile.h"

#include "base/characters.h"
#include "base/similar.h"
#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

namespace slipway::machineconfig {

namespace {

constexpr std::size_t longest_text = 4096;
constexpr char usual_escape = '\\';
constexpr std::array<std::string_view, 18> instructions = {"add",    "arg",   "cmd",         "copy",  "entrypoint", "env",
                                                           "expose", "from",  "healthcheck", "label", "maintainer", "onbuild",
                                                           "run",    "shell", "stopsignal",  "user",  "volume",     "workdir"};

// The words of an instruction, with their quotes.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!quote && (c == ' ' || c == '\t')) {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
      continue;
    }
    word += c;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else if (c == quote) {
      quote = 0;
    } else if (!quote && (c == '"' || c == '\'')) {
      quote = c;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

struct HereDocument {
  std::string end;       // the line that ends it
  bool may_be_indented;  // by tabs
};

// `RUN <<EOF`, `RUN cat 3<<A`, `COPY <<-"END" /etc/motd`. Only at the beginning of a word: `$((1<<n))` is none.
std::vector<HereDocument> here_documents(std::string_view arguments) {
  std::vector<HereDocument> found;
  for (const std::string& each : words_of(arguments)) {
    std::string_view word = each;
    while (!word.empty() && is_digit(word[0])) word.remove_prefix(1);
    if (!word.starts_with("<<")) continue;
    word.remove_prefix(2);
    const bool has_dash = word.starts_with('-');
    if (has_dash) word.remove_prefix(1);
    if (word.find('<') != std::string_view::npos) continue;
    std::string end(word);
    std::erase_if(end, [](char c) { return c == '"' || c == '\''; });
    if (!end.empty()) found.push_back({.end = std::move(end), .may_be_indented = has_dash});
  }
  return found;
}

bool may_have_here_documents(const Instruction& instruction) {
  std::string name = instruction.name;
  if (name == "onbuild") name = to_lower(instruction.rest.substr(0, instruction.rest.find_first_of(" \t")));
  return name == "run" || name == "copy" || name == "add";
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
  return usual_escape;
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
      if (may_have_here_documents(instruction)) skip_here_documents(instruction);
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
    for (const HereDocument& document : here_documents(instruction.rest)) {
      while (at_ < lines_.size() && !is_end(lines_[at_], document)) ++at_;
      if (at_ == lines_.size()) {
        instruction.open_document = document.end;
        return;
      }
      ++at_;
    }
  }

  static bool is_end(std::string_view line, const HereDocument& document) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    while (document.may_be_indented && line.starts_with('\t')) line.remove_prefix(1);
    return line == document.end;
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
  for (const std::string& word : words_of(rest)) {
    if (!word.starts_with("--")) words.push_back(to_lower(word));
  }
  if (!words.empty()) from.image = words[0];
  if (words.size() == 3 && words[1] == "as") from.name = words[2];
  return from;
}

}  // namespace

std::vector<Instruction> read_instructions(std::string_view containerfile) { return Reader(containerfile).read(); }

std::string lines_for_the_beginning(std::string_view containerfile) {
  std::string text;
  const char escape = escape_of(split(containerfile, '\n'));
  if (escape != usual_escape) text += fmt::format("# escape={}\n", escape);
  const std::vector<Instruction> found = read_instructions(containerfile);
  for (const Instruction& instruction : found) {
    if (instruction.name != "arg") break;
    text += fmt::format("ARG {}\n", instruction.rest);
  }
  return text;
}

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
          .hint(fmt::format("end it with a line that has only {}", instruction.open_document));
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
