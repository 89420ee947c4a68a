#include "cli/ask.h"

#include "base/text.h"
#include "cli/terminal.h"
#include "data/data.h"
#include "sys/environment_variable.h"

namespace slipway::cli {

namespace {

// "Platform:" with its choices below, then "Number or name [local]: ".
std::string prompt_of(const config::Question& question) {
  const std::string fallback = question.fallback.empty() ? "" : fmt::format(" [{}]", question.fallback);
  if (question.choices.empty()) return fmt::format("{}{}: ", question.words, fallback);
  std::string text = question.words + ":\n";
  for (std::size_t i = 0; i < question.choices.size(); ++i) text += fmt::format("  {}) {}\n", i + 1, question.choices[i]);
  return fmt::format("{}Number or name{}: ", text, fallback);
}

// The public keys in ~/.ssh.
std::vector<config::PublicKey> public_keys(sys::Files& files) {
  std::vector<config::PublicKey> keys;
  const std::string home = sys::environment_variable("HOME");
  if (home.empty()) return keys;
  const std::string folder = fmt::format("{}/.ssh", home);
  const Result<std::vector<std::string>> names = files.list(folder);
  if (!names.ok()) return keys;
  for (const std::string& name : names.value()) {
    if (!name.ends_with(".pub")) continue;
    const std::string path = fmt::format("{}/{}", folder, name);
    const Result<std::string> text = files.read(path);
    if (text.ok()) keys.push_back({path, std::string(trim(text.value()))});
  }
  return keys;
}

}  // namespace

Result<> ask(const Prompter& prompter, config::Wizard& wizard) {
  while (const std::optional<config::Question> question = wizard.next()) {
    const std::optional<std::string> line = TRY(prompter.read_line(prompt_of(*question), question->is_secret));
    if (!line) return error(Code::invalid, "input ended before all questions were answered; nothing was written");
    const Result<> taken = wizard.answer(*line);
    if (taken.ok()) continue;
    for (const std::string_view problem : split(taken.error().message(), '\n')) prompter.show(fmt::format("  {}\n", problem));
  }
  return Ok{};
}

Result<std::string> ask_for_install_config(const Environment& environment, const std::string& folder) {
  if (!is_at_terminal()) {
    return error(Code::not_found,
                 "{}/install-config.yaml: not found, and standard input is not a terminal (create the file, for example:)\n{}",
                 folder, data::content(data::command_line(), "install-config.yaml"));
  }
  config::Wizard wizard(public_keys(environment.files));
  const std::stop_token stop = environment.context.stop;
  const auto read = [&stop](std::string_view prompt, bool hidden) { return read_line(stop, prompt, hidden); };
  TRY(ask({.show = show, .read_line = read}, wizard));
  return wizard.install_config();
}

}  // namespace slipway::cli
