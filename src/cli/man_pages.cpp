#include "cli/man_pages.h"

#include "cli/program_version.h"

#include <algorithm>

namespace slipway::cli {

namespace {

// Text for roff: no character of it is a request or an escape.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool begins_line = out.empty() || out.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string dashed(std::string_view program, std::string_view words) {
  std::string name = fmt::format("{}-{}", program, words);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string heading(std::string_view name, std::string_view program, std::string_view version, std::string_view summary) {
  std::string upper(name);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format(".TH \"{}\" 1 \"\" \"{} {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", escaped(upper), escaped(program),
                     escaped(version), escaped(name), escaped(summary));
}

std::string rows(std::string_view title, std::span<const Option> options) {
  if (options.empty()) return "";
  std::string text = fmt::format(".SH {}\n", title);
  for (const Option& option : options) {
    text += fmt::format(".TP\n.B {}", escaped(option.name));
    if (option.name.starts_with("--") && !option.value.empty()) text += fmt::format(" \\fI{}\\fR", escaped(option.value));
    text += fmt::format("\n{}", escaped(option.help));
    if (option.required) text += " (required)";
    if (!option.fallback.empty()) text += fmt::format(" (default {})", escaped(option.fallback));
    text += '\n';
  }
  return text;
}

std::string page_of(std::string_view program, std::string_view version, const Command& command) {
  std::string text = heading(dashed(program, command.words), program, version, command.summary);
  text += fmt::format(".SH SYNOPSIS\n.B {} {}\n[\\fIOPTIONS\\fR]", escaped(program), escaped(command.words));
  for (const Option& positional : command.positionals) {
    const std::string name = fmt::format("\\fI{}\\fR", escaped(positional.name));
    text += positional.required ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
  }
  text += '\n';
  text += rows("ARGUMENTS", command.positionals);
  text += rows("OPTIONS", command.options);
  text += rows("GLOBAL OPTIONS", global_options());
  if (!command.when_interrupted.empty()) {
    text += fmt::format(".SH WHEN INTERRUPTED\n{}.\n", escaped(command.when_interrupted));
  }
  return text + fmt::format(".SH SEE ALSO\n.BR {} (1)\n", escaped(program));
}

std::string page_of_program(std::string_view program, std::string_view version, std::span<const Command> commands) {
  std::string text = heading(program, program, version, "installs OpenShift-style Kubernetes clusters");
  text += fmt::format(".SH SYNOPSIS\n.B {}\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH COMMANDS\n", escaped(program));
  for (const Command& command : commands) {
    if (command.is_hidden || !command.run) continue;
    text += fmt::format(".TP\n.BR {} (1)\n{}\n", escaped(dashed(program, command.words)), escaped(command.summary));
  }
  return text + rows("GLOBAL OPTIONS", global_options());
}

Result<> write_pages(const Environment& environment, const Arguments& arguments) {
  for (const auto& [name, text] : man_pages("slipway", program_version(), commands())) {
    TRY(environment.files.write(fmt::format("{}/{}", arguments["DIR"], name), text, 0644));
  }
  return Ok{};
}

}  // namespace

std::map<std::string, std::string> man_pages(std::string_view program, std::string_view version,
                                             std::span<const Command> commands) {
  std::map<std::string, std::string> pages = {{fmt::format("{}.1", program), page_of_program(program, version, commands)}};
  for (const Command& command : commands) {
    if (command.is_hidden || !command.run) continue;
    pages.emplace(dashed(program, command.words) + ".1", page_of(program, version, command));
  }
  return pages;
}

Command man_command() {
  return {.words = "man-pages",
          .summary = "Write the manual pages",
          .positionals = {{.name = "DIR", .value = "DIR", .help = "the folder to write to", .required = true}},
          .run = write_pages,
          .is_hidden = true};
}

}  // namespace slipway::cli
