#include "node/os_update/deployments.h"

#include "base/text.h"

#include <algorithm>

namespace slipway::node {

namespace {

constexpr std::string_view version_prefix = "Version: ";
constexpr std::string_view ostree_prefix = "ostree=";

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool is_quoted = false;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for (const char c : text) {
    if (c == '"') is_quoted = !is_quoted;
    if (!is_quoted && (c == ' ' || c == '\t' || c == '\n')) {
      end_word();
    } else {
      word += c;
    }
  }
  end_word();
  return words;
}

std::vector<std::string> options_of(std::string_view entry) {
  constexpr std::string_view key = "options ";
  for (const std::string_view line : split(entry, '\n')) {
    if (line.starts_with(key)) return words_of(line.substr(key.size()));
  }
  return {};
}

}  // namespace

std::vector<Deployment> parse_deployments(std::string_view status) {
  std::vector<Deployment> deployments;
  for (const std::string_view line : split(status, '\n')) {
    const std::string_view text = trim(line);
    // "* OS COMMIT.SERIAL" or "  OS COMMIT.SERIAL (pending)"; then lines of its properties, indented by four.
    const bool booted = line.starts_with("* ");
    if (booted || (line.starts_with("  ") && !line.starts_with("   "))) {
      const std::vector<std::string_view> words = split(booted ? trim(line.substr(2)) : text, ' ');
      if (words.size() < 2) continue;
      const std::size_t dot = words[1].rfind('.');
      if (dot != 64) continue;
      deployments.push_back({.os = std::string(words[0]),
                             .commit = std::string(words[1].substr(0, dot)),
                             .serial = std::string(words[1].substr(dot + 1)),
                             .booted = booted});
    } else if (text.starts_with(version_prefix) && !deployments.empty()) {
      deployments.back().version = text.substr(version_prefix.size());
    }
  }
  return deployments;
}

Result<std::vector<Deployment>> read_deployments(const Environment& environment) {
  return parse_deployments(
      TRY(sys::run_checked(environment.runner, environment.context, {.argv = {"ostree", "admin", "status"}})));
}

const Deployment* find_booted(const std::vector<Deployment>& deployments) {
  const auto booted = std::ranges::find(deployments, true, &Deployment::booted);
  return booted == deployments.end() ? nullptr : &*booted;
}

std::vector<std::string> arguments_of_entry(std::string_view entry) {
  std::vector<std::string> words = options_of(entry);
  std::erase_if(words, [](const std::string& word) { return word.starts_with(ostree_prefix); });
  return words;
}

bool is_entry_of(std::string_view entry, std::string_view kernel_command_line) {
  const std::vector<std::string> options = options_of(entry), running = words_of(kernel_command_line);
  const auto deployment = std::ranges::find_if(options, [](const std::string& word) { return word.starts_with(ostree_prefix); });
  return deployment != options.end() && std::ranges::find(running, *deployment) != running.end();
}

std::vector<std::string> single_arguments(const std::vector<std::string>& items) {
  std::vector<std::string> arguments;
  for (const std::string& item : items) {
    for (std::string& word : words_of(item)) arguments.push_back(std::move(word));
  }
  return arguments;
}

std::vector<std::string> change_arguments(std::vector<std::string> running, const std::vector<std::string>& from,
                                          const std::vector<std::string>& to) {
  for (const std::string& argument : single_arguments(from)) {
    const auto known = std::ranges::find(running, argument);
    if (known != running.end()) running.erase(known);
  }
  for (std::string& argument : single_arguments(to)) running.push_back(std::move(argument));
  return running;
}

}  // namespace slipway::node
