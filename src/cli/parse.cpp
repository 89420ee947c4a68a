#include "cli/parse.h"

#include "base/check.h"
#include "base/text.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <list>
#include <memory>

namespace slipway::cli {

namespace {

// The values that CLI11 fills in for one command, and where the command hangs in its tree.
struct Leaf {
  const Command* command;
  CLI::App* app;
  std::map<std::string, std::string> values;
  std::map<std::string, std::vector<std::string>> lists;
  std::map<std::string, bool> switches;
};

// Help in our words: CLI11 knows neither the words before a command nor our names of positionals.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    std::string line = app->get_name();
    for (const CLI::App* at = app->get_parent(); at; at = at->get_parent()) line.insert(0, at->get_name() + " ");
    if (!app->get_subcommands({}).empty()) line += " COMMAND";
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional()) line += " " + option->get_option_text();
    }
    return fmt::format("Usage: {} [OPTIONS]\n", line);
  }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return is_positional ? "" : CLI::Formatter::make_option_name(option, is_positional);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_positional() ? option->get_option_text() : CLI::Formatter::make_option_opts(option);
  }
};

const std::map<std::string, Level> log_levels = {
    {"debug", Level::debug}, {"info", Level::info}, {"warn", Level::warn}, {"warning", Level::warn}, {"error", Level::error}};

// The app of the last word, making those on the way: "release info" hangs under "release".
CLI::App* app_for(CLI::App& root, const Command& command) {
  CLI::App* app = &root;
  for (std::string_view word : split(command.words, ' ')) {
    const std::string name(word);
    const std::vector<CLI::App*> known = app->get_subcommands([&](const CLI::App* other) { return other->get_name() == name; });
    app = known.empty() ? app->add_subcommand(name) : known.front();
  }
  app->description(command.summary);
  app->group(command.is_hidden ? "" : "Commands");
  return app;
}

void add_options(Leaf& leaf) {
  for (const Option& positional : leaf.command->positionals) {
    // CLI11 allows letters only in names of positionals and would show its own in messages: help gets ours, and whether a
    // required one is there is looked at by missing_positional.
    const std::string name = "positional" + std::to_string(leaf.app->get_options().size());
    CLI::Option* added = positional.repeats
                             ? leaf.app->add_option(name, leaf.lists[positional.name], positional.help)
                             : leaf.app->add_option(name, leaf.values[positional.name] = positional.fallback, positional.help);
    added->option_text(positional.name);
  }
  for (const Option& option : leaf.command->options) {
    if (option.value.empty()) {
      leaf.app->add_flag(option.name, leaf.switches[option.name], option.help);
      continue;
    }
    if (option.repeats) {
      leaf.app->add_option(option.name, leaf.lists[option.name], option.help)
          ->option_text(option.value)
          ->required(option.required)
          ->allow_extra_args(false);  // one value each time: what follows may be a positional
      continue;
    }
    leaf.values[option.name] = option.fallback;
    CLI::Option* added = leaf.app->add_option(option.name, leaf.values[option.name], option.help)->required(option.required);
    added->option_text(option.fallback.empty() ? option.value : fmt::format("{} (default {})", option.value, option.fallback));
    if (!option.choices.empty()) added->check(CLI::IsMember(option.choices));
  }
}

// The app of the last word that was understood.
const CLI::App& deepest(const CLI::App& root) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

Parsed mistake(const CLI::App& root, std::string_view what) {
  std::string words;
  for (const CLI::App* at = &deepest(root); at->get_parent(); at = at->get_parent()) words.insert(0, " " + at->get_name());
  return {{}, fmt::format("error: {}; see `{}{} --help`\n", what, root.get_name(), words), 1};
}

const Option* missing_positional(const Leaf& leaf) {
  for (const Option& positional : leaf.command->positionals) {
    const bool is_there = positional.repeats ? !leaf.lists.at(positional.name).empty() : !leaf.values.at(positional.name).empty();
    if (positional.required && !is_there) return &positional;
  }
  return nullptr;
}

}  // namespace

const std::string& Arguments::operator[](const std::string& name) const {
  auto found = values_.find(name);
  CHECK(found != values_.end());
  return found->second;
}

const std::vector<std::string>& Arguments::list(const std::string& name) const {
  auto found = lists_.find(name);
  CHECK(found != lists_.end());
  return found->second;
}

Parsed parse(std::string_view program, const std::vector<std::string>& argv, std::span<const Command> commands) {
  CLI::App root("Installs Kubernetes clusters in the manner of OpenShift.", std::string(program));
  root.formatter(std::make_shared<HelpFormatter>());
  root.set_help_flag("-h,--help", "show this help");
  root.option_defaults()->ignore_case(false);
  root.fallthrough();
  std::string log_level = "info", events_path;
  root.add_option("--log-level", log_level, "least level of log lines on standard error")
      ->option_text("debug|info|warn|error (default info)");
  root.add_option("--events", events_path, "append what happens to this file, one JSON object a line")->option_text("FILE");

  std::list<Leaf> leaves;
  for (const Command& command : commands) {
    Leaf& leaf = leaves.emplace_back(Leaf{&command, app_for(root, command), {}, {}, {}});
    add_options(leaf);
  }
  try {
    std::vector<std::string> reversed(argv.rbegin(), argv.rend());  // CLI11 takes arguments from the back
    root.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return {{}, deepest(root).help(), 0};
  } catch (const CLI::ParseError& problem) {
    return mistake(root, problem.what());
  }
  if (!log_levels.contains(log_level)) {
    return mistake(root, fmt::format("--log-level: '{}' is none of debug, info, warn, error", log_level));
  }
  for (Leaf& leaf : leaves) {
    if (!leaf.app->parsed() || !leaf.command->run) continue;
    if (const Option* missing = missing_positional(leaf)) return mistake(root, missing->name + " is required");
    for (const auto& [name, set] : leaf.switches) leaf.values[name] = set ? "true" : "";
    return {Invocation{leaf.command, Arguments(std::move(leaf.values), std::move(leaf.lists)), log_levels.at(log_level),
                       std::move(events_path)}};
  }
  return {{}, deepest(root).help(), 0};
}

}  // namespace slipway::cli
