#include "cli/completion.h"

#include <gtest/gtest.h>

namespace slipway::cli {
namespace {

Result<> nothing(const Environment&, const Arguments&) { return Ok{}; }

const std::vector<Command> table = {
    {.words = "create", .summary = "Clusters"},
    {.words = "create cluster",
     .summary = "It's made",
     .options = {{.name = "--output", .value = "text|json", .help = "form", .choices = {"text", "json"}},
                 {.name = "--images", .value = "DIR", .help = "where"},
                 {.name = "--force", .value = "", .help = "now"}},
     .run = nothing},
    {.words = "analyze", .summary = "Look", .positionals = {{.name = "BUNDLE", .value = "", .help = "what"}}, .run = nothing},
    {.words = "own", .summary = "Called by us", .run = nothing, .is_hidden = true},
};

void expect_in(const std::string& script, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(script.find(part), std::string::npos) << part << " is not in\n" << script;
}

TEST(Completion, OfBashHasTheTable) {
  const std::string script = completion_script(Shell::bash, "openshift-install", table);
  expect_in(script,
            {"    '') echo 'create analyze' ;;\n", "    'create') echo 'cluster' ;;\n", "    'analyze') echo '@file' ;;\n",
             "    'create cluster') echo '--output --images --force' ;;\n",
             "    'create cluster --output') echo 'text json' ;;\n", "    'create cluster --images') echo '@directory' ;;\n",
             "    *' --dir') echo '@directory' ;;\n", "complete -o filenames -F _openshift_install openshift-install\n"});
  EXPECT_EQ(script.find("own"), script.find("own", script.size())) << "hidden commands are not completed";
  EXPECT_EQ(script.find("slipway"), std::string::npos);
}

TEST(Completion, OfZshIsThatOfBash) {
  const std::string script = completion_script(Shell::zsh, "slipway", table);
  EXPECT_TRUE(script.starts_with("#compdef slipway\n"));
  expect_in(script, {"bashcompinit", completion_script(Shell::bash, "slipway", table)});
}

TEST(Completion, OfFishHasTheTable) {
  expect_in(completion_script(Shell::fish, "slipway", table),
            {"contains -- $word --dir --events --images --log-level --output\n",
             "complete -c slipway -n '__slipway_at ' -a create -d 'Clusters'\n",
             "complete -c slipway -n '__slipway_at create' -a cluster -d 'It\\'s made'\n",
             "complete -c slipway -n '__slipway_in create cluster' -l output -x -a 'text json' -d 'form'\n",
             "complete -c slipway -n '__slipway_in create cluster' -l force -d 'now'\n",
             "complete -c slipway -n '__slipway_in analyze' -F\n"});
}

}  // namespace
}  // namespace slipway::cli
