// slipway, the program on the user's machine: connects the real environment to the commands.
#include "cli/command.h"
#include "cli/console.h"
#include "cli/install_log.h"
#include "cli/parse.h"
#include "cli/program_version.h"
#include "cli/progress.h"
#include "main/world.h"
#include "sys/signals.h"

#include <unistd.h>
#include <cstdio>
#include <filesystem>
#include <optional>

namespace {

using namespace slipway;

// Writes log lines to standard error, in the style of the name by which the program was called.
class Console {
 public:
  explicit Console(std::string program)
      : program_(std::move(program)), terminal_(::isatty(STDERR_FILENO) == 1), style_(cli::style_for(program_, terminal_)) {}

  const std::string& program() const { return program_; }
  std::string with_program_name(std::string_view text) const {
    return cli::with_called_name(program_, std::string(text), cli::commands());
  }

  void write(std::string_view level, std::string_view text) const {
    write_to(stderr, cli::console_lines(style_, level, with_program_name(text)));
  }

  // openshift-install logs an exit with status 1 as fatal.
  void write_end(int status, std::string_view text) const {
    write(style_ != cli::Style::plain && status == 1 ? "fatal" : "error", text);
  }

  sys::Events::Sink progress() const {
    if (style_ == cli::Style::plain) {
      return cli::progress_sink(terminal_, [](std::string_view text) { write_to(stderr, text); });
    }
    return [this](const sys::Event& event) {
      const auto line = cli::describe(event);
      if (line && (cli::is_lasting(event) || cli::is_announced(event))) write("info", *line);
    };
  }

 private:
  const std::string program_;
  const bool terminal_;
  const cli::Style style_;
};

int exit_status(const Error& error, int said, bool was_stopped) {
  if (error.code() == Code::cancelled || was_stopped) return static_cast<int>(cli::ExitStatus::interrupted);
  return said != 0 ? said : static_cast<int>(cli::ExitStatus::failure);
}

int run(const cli::Invocation& invocation, const Console& console, const sys::StopOnSignal& signals) {
  sys::RealFiles files;
  sys::RealClock clock;
  std::optional<cli::InstallLog> file;
  if (cli::writes_install_log(invocation.command->words)) {
    file.emplace(files, clock, invocation.arguments["--dir"], [&](const Error& why) {
      console.write("warning", fmt::format("cannot keep a log: {}; continuing without it", why.message()));
    });
    file->write("debug", fmt::format("{} {}", console.program(), cli::program_version()));
    if (!cli::program_commit().empty()) file->write("debug", fmt::format("built from commit {}", cli::program_commit()));
  }
  const auto write_line = [&](Level level, std::string_view text) {
    if (level >= invocation.log_level) console.write(to_string(level), text);
    if (file) file->write(to_string(level), console.with_program_name(text));
  };
  World world("slipway", Level::debug, signals.token(), write_line);
  world.events.add_sink(console.progress());
  if (file) {
    world.events.add_sink([&](const sys::Event& event) {
      const auto line = cli::describe(event);
      if (line) file->write(cli::is_lasting(event) ? "info" : "debug", console.with_program_name(*line));
    });
  }
  if (invocation.arguments.has("--events")) {
    world.events.add_sink(sys::journal_sink(world.files, invocation.arguments["--events"], [&](const Error& why) {
      world.log.warn("cannot write events: {}; continuing without them", why.message());
    }));
  }
  int status = 0;
  const cli::Environment environment{world.environment(), status, console.program()};
  const Result<> result = invocation.command->run(environment, invocation.arguments);
  if (result.ok()) return status;
  const int end = exit_status(result.error(), status, signals.token().stop_requested());
  if (end == static_cast<int>(cli::ExitStatus::interrupted)) {
    const std::string& goes_on = invocation.command->when_interrupted;
    world.log.warn("interrupted: {}{}{}", result.error().message(), goes_on.empty() ? "" : "; ", goes_on);
    return end;
  }
  console.write_end(end, result.error().message());
  if (file) file->write(end == 1 ? "fatal" : "error", console.with_program_name(result.error().message()));
  return end;
}

}  // namespace

int main(int argc, char** argv) {
  const sys::StopOnSignal signals;
  const Console console(argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "slipway");
  const cli::Parsed parsed =
      cli::parse(console.program(), argc > 0 ? std::vector<std::string>{argv + 1, argv + argc} : std::vector<std::string>(),
                 cli::commands());
  if (parsed.invocation) return run(*parsed.invocation, console, signals);
  if (parsed.status == 0) {
    write_to(stdout, console.with_program_name(parsed.text));
  } else {
    console.write_end(parsed.status, parsed.text);
  }
  return parsed.status;
}
