#include "assets/preview/preview.h"

#include "assets/preview/masked.h"
#include "assets/preview/unified_diff.h"

#include <algorithm>
#include <array>

namespace slipway::assets {

namespace {

constexpr std::array<std::string_view, 4> action_names = {"add", "change", "consume", "remove"};
constexpr std::string_view nowhere = "/dev/null";

std::string_view name_of(Action action) { return action_names[static_cast<std::size_t>(action)]; }

std::string shown(Masker& masker, const Snapshot& files, const std::string& path) {
  const auto found = files.find(path);
  return found == files.end() ? "" : masker.text(path, found->second);
}

}  // namespace

std::string plan_text(Target target, const Plan& plan) {
  const std::vector<Change>& changes = plan.changes;
  if (changes.empty()) return fmt::format("create {} would change nothing.\n", to_string(target));
  std::string text = fmt::format("create {} would:\n", to_string(target));
  std::size_t width = 0;
  for (const Change& change : changes) width = std::max(width, change.path.size());
  for (const Change& change : changes) {
    text += fmt::format("  {:<7}  {:<{}}  {}\n", name_of(change.action), change.path, width, change.why);
  }
  return text;
}

Json plan_json(Target target, const Plan& plan) {
  JsonArray changes;
  for (const Change& change : plan.changes) {
    changes.push_back({{"action", name_of(change.action)}, {"path", change.path}, {"reason", change.why}});
  }
  return {{"target", to_string(target)},
          {"changes", std::move(changes)},
          {"warnings", JsonArray(plan.warnings.begin(), plan.warnings.end())}};
}

std::string diff_text(const Snapshot& files, const Plan& plan) {
  Masker masker;
  std::string text;
  for (const Change& change : plan.changes) {
    if (change.action == Action::consume || change.action == Action::remove) {
      text += fmt::format("{} {}\n", name_of(change.action), change.path);
    } else if (!change.path.starts_with(consumed_folder)) {
      const bool is_new = change.action == Action::add;
      const std::string before = shown(masker, files, change.path), after = masker.text(change.path, change.content);
      const std::string difference = unified_diff(is_new ? nowhere : change.path, before, change.path, after);
      text += difference.empty() ? fmt::format("change {}: only formatting and comments\n", change.path) : difference;
    }
  }
  return text;
}

}  // namespace slipway::assets
