#include "cli/completion.h"

#include "base/check.h"
#include "base/template.h"
#include "base/text.h"
#include "data/data.h"

#include <algorithm>
#include <map>
#include <set>

namespace slipway::cli {

namespace {

// The words that may follow the words of a group: "" -> analyze, create; "create" -> cluster, manifests.
std::map<std::string, std::vector<const Command*>> followers(std::span<const Command> commands) {
  std::map<std::string, std::vector<const Command*>> found;
  for (const Command& command : commands) {
    if (command.is_hidden) continue;
    const std::size_t blank = command.words.rfind(' ');
    found[blank == std::string::npos ? "" : command.words.substr(0, blank)].push_back(&command);
  }
  return found;
}

std::string last_word(const Command& command) { return std::string(split(command.words, ' ').back()); }

std::string names_of(std::span<const Option> options) {
  std::vector<std::string> names;
  for (const Option& option : options) names.push_back(option.name);
  return join(names, " ");
}

// The values of an option or a positional, in the form that the scripts use; empty for a switch.
std::string values_of(const Option& option) {
  const auto says = [&](std::string_view word) { return option.value.find(word) != std::string::npos; };
  if (!option.choices.empty()) return join(option.choices, " ");
  if (says("FILE") || says("BUNDLE")) return "@file";
  if (says("DIR")) return "@directory";
  return option.value.empty() ? "" : "@text";
}

std::string values_of_positional(Option positional) {
  positional.value = positional.name;
  return values_of(positional);
}

// Quotes text for single quotes of bash.
std::string bash_quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted;
}

std::string fish_quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return quoted;
}

// A branch of a `case` statement.
std::string branch(std::string_view pattern, std::string_view words) {
  return fmt::format("    {}) echo '{}' ;;\n", pattern, bash_quoted(words));
}

TemplateValues bash_values(std::span<const Command> commands) {
  std::string words, options, values;
  for (const auto& [group, members] : followers(commands)) {
    std::vector<std::string> names;
    for (const Command* command : members) names.push_back(last_word(*command));
    words += branch(fmt::format("'{}'", group), join(names, " "));
  }
  for (const Option& option : global_options()) {
    if (const std::string takes = values_of(option); !takes.empty()) values += branch("*' " + option.name + "'", takes);
  }
  for (const Command& command : commands) {
    if (command.is_hidden || !command.run) continue;
    if (!command.options.empty()) options += branch(fmt::format("'{}'", command.words), names_of(command.options));
    if (!command.positionals.empty()) {
      words += branch(fmt::format("'{}'", command.words), values_of_positional(command.positionals.front()));
    }
    for (const Option& option : command.options) {
      const std::string takes = values_of(option);
      if (!takes.empty()) values += branch(fmt::format("'{} {}'", command.words, option.name), takes);
    }
  }
  return {{"WORDS", words}, {"OPTIONS", options}, {"VALUES", values}, {"GLOBAL_OPTIONS", "--help " + names_of(global_options())}};
}

// The arguments of `complete` of fish for the value of an option.
std::string fish_arguments(const Option& option) {
  const std::string takes = values_of(option);
  if (takes.empty()) return "";
  if (takes == "@file") return " -r -F";
  if (takes == "@directory") return " -x -a '(__fish_complete_directories)'";
  return takes == "@text" ? " -x" : fmt::format(" -x -a '{}'", fish_quoted(takes));
}

std::string fish_positional(const Option& positional) {
  const std::string takes = values_of_positional(positional);
  if (takes == "@file") return " -F";
  if (takes == "@directory") return " -a '(__fish_complete_directories)'";
  return takes == "@text" ? "" : fmt::format(" -a '{}'", fish_quoted(takes));
}

std::string fish_option(std::string_view program, std::string_view condition, const Option& option) {
  return fmt::format("complete -c {}{} -l {}{} -d '{}'\n", program, condition, option.name.substr(2), fish_arguments(option),
                     fish_quoted(option.help));
}

TemplateValues fish_values(std::string_view name, std::string_view program, std::span<const Command> commands) {
  std::set<std::string> valued;
  std::string rows;
  const auto add = [&](std::string_view condition, const Option& option) {
    if (!option.value.empty()) valued.insert(option.name);
    rows += fish_option(program, condition, option);
  };
  for (const Option& option : global_options()) add("", option);
  for (const Command& command : commands) {
    if (command.is_hidden) continue;
    const std::size_t blank = command.words.rfind(' ');
    rows += fmt::format("complete -c {} -n '__{}_at {}' -a {} -d '{}'\n", program, name,
                        blank == std::string::npos ? "" : command.words.substr(0, blank), last_word(command),
                        fish_quoted(command.summary));
    const std::string condition = fmt::format(" -n '__{}_in {}'", name, command.words);
    for (const Option& option : command.options) add(condition, option);
    for (const Option& positional : command.positionals) {
      const std::string takes = fish_positional(positional);
      if (!takes.empty()) rows += fmt::format("complete -c {}{}{}\n", program, condition, takes);
    }
  }
  return {{"ROWS", rows}, {"VALUED", join({valued.begin(), valued.end()}, " ")}};
}

std::string filled(std::string_view file, TemplateValues values, std::string_view name, std::string_view program) {
  values.emplace("NAME", name);
  values.emplace("PROGRAM", program);
  Result<std::string> text = fill_template(data::content(data::command_line(), file), file, values);
  CHECK(text.ok());
  return std::move(text).value();
}

template <Shell shell>
Result<> print(const Environment& environment, const Arguments&) {
  environment.print(completion_script(shell, environment.program, commands()));
  return Ok{};
}

Command command_for(std::string shell, std::string how, Result<> (*run)(const Environment&, const Arguments&)) {
  return {.words = "completion " + shell, .summary = fmt::format("Print the completion for {}: {}", shell, how), .run = run};
}

}  // namespace

std::string completion_script(Shell shell, std::string_view program, std::span<const Command> commands) {
  std::string name(program);  // of functions
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '.'; }, '_');
  if (shell == Shell::fish) return filled("completion.fish", fish_values(name, program, commands), name, program);
  std::string bash = filled("completion.bash", bash_values(commands), name, program);
  return shell == Shell::bash ? bash : filled("completion.zsh", {{"BASH", bash}}, name, program);
}

Command completion_bash_command() { return command_for("bash", "source <(slipway completion bash)", print<Shell::bash>); }
Command completion_zsh_command() { return command_for("zsh", "source <(slipway completion zsh)", print<Shell::zsh>); }
Command completion_fish_command() { return command_for("fish", "slipway completion fish | source", print<Shell::fish>); }

}  // namespace slipway::cli
