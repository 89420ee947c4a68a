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

// The values that CLI11 fills in, by the names of rows.
struct Values {
  std::map<std::string, std::string> texts;
  std::map<std::string, std::vector<std::string>> lists;
  std::map<std::string, bool> switches;
};

// A command and its place in the tree of CLI11.
struct Leaf {
  const Command* command;
  CLI::App* app;
  Values values;
};

// Prints help: CLI11 knows neither the words before a command nor the names of positionals.
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
  // Global options follow the options of a command.
  std::string make_footer(const CLI::App* app) const override {
    const CLI::App* root = app;
    while (root->get_parent()) root = root->get_parent();
    if (root == app) return "";
    const auto is_general = [root](const CLI::Option* option) { return option != root->get_help_ptr(); };
    return make_group("Global Options", false, root->get_options(is_general)).substr(1);  // without its blank line
  }
};

// The names are those of openshift-install; slipway has four levels.
const std::map<std::string, Level> log_levels = {{"trace", Level::debug}, {"debug", Level::debug},  {"info", Level::info},
                                                 {"warn", Level::warn},   {"warning", Level::warn}, {"error", Level::error},
                                                 {"fatal", Level::error}, {"panic", Level::error}};

// Returns the app of the last word and creates its parents: "release info" is below "release".
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

void add_options(CLI::App& app, std::span<const Option> rows, Values& values) {
  for (const Option& row : rows) {
    if (row.value.empty()) {
      app.add_flag(row.name, values.switches[row.name], row.help);
      continue;
    }
    if (row.repeats) {
      app.add_option(row.name, values.lists[row.name], row.help)
          ->option_text(row.value)
          ->required(row.required)
          ->allow_extra_args(false);  // one value each time: what follows may be a positional
      continue;
    }
    values.texts[row.name] = row.fallback;
    CLI::Option* added = app.add_option(row.name, values.texts[row.name], row.help)->required(row.required);
    added->option_text(row.fallback.empty() ? row.value : fmt::format("{} (default {})", row.value, row.fallback));
    added->take_last();  // the last one counts: scripts append options to those of the user
    if (!row.choices.empty()) added->check(CLI::IsMember(row.choices));
  }
}

void add_positionals(CLI::App& app, std::span<const Option> rows, Values& values) {
  for (const Option& row : rows) {
    // CLI11 allows only letters in names of positionals, and would show its own names in messages. Help shows the names of the
    // rows, and missing_positional checks required ones.
    const std::string name = "positional" + std::to_string(app.get_options().size());
    CLI::Option* added = row.repeats ? app.add_option(name, values.lists[row.name], row.help)
                                     : app.add_option(name, values.texts[row.name] = row.fallback, row.help);
    added->option_text(row.required ? row.name : fmt::format("[{}]", row.name));
    if (!row.choices.empty()) added->check(CLI::IsMember(row.choices));
  }
}

// The app of the last word that was parsed.
const CLI::App& deepest(const CLI::App& root) {
  const CLI::App* app = &root;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

// Finds a second command at any level: `create cluster version` has two.
const CLI::App* second_command(const CLI::App& root) {
  for (const CLI::App* app = &root; !app->get_subcommands().empty(); app = app->get_subcommands().front()) {
    if (app->get_subcommands().size() > 1) return app->get_subcommands().at(1);
  }
  return nullptr;
}

Parsed mistake(const CLI::App& root, std::string_view what) {
  std::string words;
  for (const CLI::App* at = &deepest(root); at->get_parent(); at = at->get_parent()) words.insert(0, " " + at->get_name());
  return {{}, fmt::format("{}; see `{}{} --help`", what, root.get_name(), words), 1};
}

const Option* missing_positional(const Leaf& leaf) {
  for (const Option& positional : leaf.command->positionals) {
    const bool is_there =
        positional.repeats ? !leaf.values.lists.at(positional.name).empty() : !leaf.values.texts.at(positional.name).empty();
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
  CLI::App root("Installs OpenShift-style Kubernetes clusters.", std::string(program));
  root.formatter(std::make_shared<HelpFormatter>());
  root.set_help_flag("-h,--help", "show this help");
  root.option_defaults()->ignore_case(false);
  root.fallthrough();
  Values general;
  add_options(root, global_options(), general);

  std::list<Leaf> leaves;
  for (const Command& command : commands) {
    Leaf& leaf = leaves.emplace_back(Leaf{&command, app_for(root, command), {}});
    add_positionals(*leaf.app, command.positionals, leaf.values);
    add_options(*leaf.app, command.options, leaf.values);
  }
  try {
    std::vector<std::string> reversed(argv.rbegin(), argv.rend());  // CLI11 takes arguments from the back
    root.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return {{}, deepest(root).help(), 0};
  } catch (const CLI::ParseError& problem) {
    return mistake(root, problem.what());
  }
  if (const CLI::App* second = second_command(root)) {
    return mistake(root, fmt::format("The following argument was not expected: {}", second->get_name()));
  }
  const std::string log_level = general.texts["--log-level"];
  if (!log_levels.contains(log_level)) {
    return mistake(root, fmt::format("--log-level: '{}' is not one of trace, debug, info, warn, error, fatal, panic", log_level));
  }
  for (Leaf& leaf : leaves) {
    if (!leaf.app->parsed() || !leaf.command->run) continue;
    if (const Option* missing = missing_positional(leaf)) return mistake(root, missing->name + " is required");
    Values& values = leaf.values;
    values.texts.insert(general.texts.begin(), general.texts.end());
    for (const auto& [name, set] : values.switches) values.texts[name] = set ? "true" : "";
    return {Invocation{leaf.command, Arguments(std::move(values.texts), std::move(values.lists)), log_levels.at(log_level)}};
  }
  return {{}, deepest(root).help(), 0};
}

}  // namespace slipway::cli
