#include "provider/plan/preview.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::provider::plan {

namespace {

constexpr std::string_view bootstrap_machine = "bootstrap";

std::string amount_text(double amount) {
  return amount == static_cast<double>(static_cast<std::int64_t>(amount)) ? fmt::format("{:.0f}", amount)
                                                                          : fmt::format("{:.1f}", amount);
}

std::size_t count(const Preview& preview, Action action) {
  return static_cast<std::size_t>(std::ranges::count(preview.changes, action, &Change::action));
}

std::string costs_text(const Costs& costs) {
  std::string text =
      fmt::format("Estimated cost: {:.3f} {} an hour ({}; as of {})\n", costs.total(), costs.currency, costs.of, costs.date);
  for (const Costs::Row& row : costs.rows) {
    if (row.each) text += fmt::format("  {:>8} x {:<28} {:.6f}\n", amount_text(row.amount), row.item, *row.each);
  }
  if (const std::vector<std::string> unknown = costs.without_price(); !unknown.empty()) {
    text += fmt::format("  without a price: {}\n", join(unknown, ", "));
  }
  return text;
}

Result<double> price_of(const Json& prices, const std::string& item, const Json& value) {
  if (value.is_number()) return value.to_number<double>();
  return error(Code::invalid, "price file of {}: hourly.{}: must be a number", text_of(prices, {"date"}), item);
}

}  // namespace

std::string_view to_string(Action action) {
  switch (action) {
    case Action::keep: return "keep";
    case Action::create: return "create";
    case Action::replace: return "replace";
    case Action::refuse: return "refuse";
  }
  return "";
}

Action decide(const std::optional<Found>& found, Journal::State state) {
  if (!found) return Action::create;
  if (!found->is_ours) return Action::refuse;
  // A shared resource that is neither whole nor in the journal is replaced, too: wholeness is proved by its users, so it has
  // none. If another cluster is just creating it, remove() fails.
  return found->is_whole || state == Journal::State::created ? Action::keep : Action::replace;
}

Result<std::vector<Change>> preview_changes(const sys::Context& context, Platform& platform, const Journal::States& journal,
                                            const Plan& plan) {
  std::vector<Change> changes;
  changes.reserve(plan.size());
  for (const Resource& resource : plan) {
    std::string key = resource.key();
    const auto known = journal.find(key);
    const std::optional<Found> found = TRY(platform.find(context, resource).context(key));
    const Action action = decide(found, known == journal.end() ? Journal::State::unknown : known->second);
    changes.push_back({.action = action, .key = std::move(key), .machine = resource.machine});
    if (action == Action::create || action == Action::replace) changes.back().calls = platform.calls_of(resource);
  }
  return changes;
}

Plan missing_of(const Plan& plan, const std::vector<Change>& changes) {
  Plan missing;
  for (std::size_t i = 0; i < plan.size() && i < changes.size(); ++i) {
    if (changes[i].action == Action::create) missing.push_back(plan[i]);
  }
  return missing;
}

bool Preview::has_work() const {
  return std::ranges::any_of(changes, [](const Change& change) { return change.action != Action::keep; });
}

double Costs::total() const {
  double sum = 0;
  for (const Row& row : rows) sum += row.amount * row.each.value_or(0);
  return sum;
}

std::vector<std::string> Costs::without_price() const {
  std::vector<std::string> items;
  for (const Row& row : rows) {
    if (!row.each) items.push_back(row.item);
  }
  return items;
}

Result<Costs> costs_of(const std::vector<Priced>& items, const Json& prices) {
  Costs costs;
  costs.date = TRY(require_string(prices, {"date"}).context("price file"));
  costs.currency = TRY(require_string(prices, {"currency"}).context("price file"));
  costs.of = TRY(require_string(prices, {"of"}).context("price file"));
  const JsonObject& hourly = find_object(prices, {"hourly"});
  for (const Priced& priced : items) {
    const auto row = std::ranges::find(costs.rows, priced.item, &Costs::Row::item);
    if (row != costs.rows.end()) {
      row->amount += priced.amount;
      continue;
    }
    costs.rows.push_back({.item = priced.item, .amount = priced.amount});
    const Json* found = hourly.if_contains(priced.item);
    if (found) costs.rows.back().each = TRY(price_of(prices, priced.item, *found));
  }
  return costs;
}

std::string preview_text(const Preview& preview, const std::optional<Costs>& costs) {
  std::string text = fmt::format("On {}:\n", preview.place);
  for (const Change& change : preview.changes) {
    if (change.action == Action::keep) continue;
    std::string note;
    if (change.machine == bootstrap_machine) note = " (removed at the end of the bootstrap)";
    if (change.action == Action::replace) note = " (its creation was interrupted)";
    if (change.action == Action::refuse) note = " (exists, but is not of this cluster: remove or rename it)";
    text += fmt::format("  {:<8} {}{}\n", to_string(change.action), change.key, note);
  }
  std::size_t calls = 0;
  for (const Change& change : preview.changes) calls += change.calls.size();
  text += fmt::format("  {} to create, {} to replace, {} exist", count(preview, Action::create), count(preview, Action::replace),
                      count(preview, Action::keep));
  text += calls == 0 ? "\n" : fmt::format("; {} calls change something\n", calls);
  if (!preview.quotas.empty()) text += "Quotas:\n";
  for (const Quota& quota : preview.quotas) {
    text +=
        fmt::format("  {}: {} needed, {} of {} used{}\n", quota.what, quota.needed, quota.used,
                    quota.limit ? std::to_string(*quota.limit) : "an unknown number", quota.is_enough() ? "" : ": not enough");
  }
  if (!preview.user_data.empty()) text += "User data:\n";
  for (const UserData& each : preview.user_data) {
    const std::string limit = each.limit == 0 ? "" : fmt::format(" of {}", each.limit);
    text += fmt::format("  {}: {}{} bytes{}\n", each.machine, each.bytes, limit,
                        each.has_pointer ? ": too large, the machine fetches it" : "");
  }
  for (const std::string& permission : preview.missing_permissions) text += fmt::format("Missing permission: {}\n", permission);
  for (const Finding& problem : preview.problems.all()) text += fmt::format("Problem: {}\n", to_string(problem));
  return costs ? text + costs_text(*costs) : text;
}

Json costs_json(const Costs& costs) {
  JsonArray rows;
  for (const Costs::Row& row : costs.rows) {
    rows.push_back({{"item", row.item}, {"amount", row.amount}, {"each", row.each ? Json(*row.each) : Json(nullptr)}});
  }
  return {
      {"date", costs.date}, {"currency", costs.currency}, {"of", costs.of}, {"hourly", costs.total()}, {"rows", std::move(rows)}};
}

Json preview_json(const Preview& preview, const std::optional<Costs>& costs) {
  JsonArray changes, quotas, user_data, permissions, problems;
  for (const Change& change : preview.changes) {
    JsonArray calls;
    for (const std::string& call : change.calls) calls.emplace_back(call);
    changes.push_back({{"action", to_string(change.action)},
                       {"resource", change.key},
                       {"machine", change.machine},
                       {"calls", std::move(calls)}});
  }
  for (const Quota& quota : preview.quotas) {
    quotas.push_back({{"what", quota.what},
                      {"needed", quota.needed},
                      {"used", quota.used},
                      {"limit", quota.limit ? Json(*quota.limit) : Json(nullptr)}});
  }
  for (const UserData& each : preview.user_data) {
    user_data.push_back({{"machine", each.machine}, {"bytes", each.bytes}, {"limit", each.limit}, {"pointer", each.has_pointer}});
  }
  for (const std::string& permission : preview.missing_permissions) permissions.emplace_back(permission);
  for (const Finding& problem : preview.problems.all()) problems.emplace_back(to_string(problem));
  return {{"place", preview.place},
          {"changes", std::move(changes)},
          {"quotas", std::move(quotas)},
          {"userData", std::move(user_data)},
          {"missingPermissions", std::move(permissions)},
          {"problems", std::move(problems)},
          {"costs", costs ? costs_json(*costs) : Json(nullptr)}};
}

}  // namespace slipway::provider::plan
