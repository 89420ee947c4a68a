// What create() would do on a platform, what it needs there and what that costs. Pure, apart from preview_changes().
#pragma once

#include "base/findings.h"
#include "base/json.h"
#include "provider/plan/journal.h"
#include "provider/plan/platform.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::provider::plan {

enum class Action {
  keep,     // exists
  create,   // does not exist
  replace,  // exists, but its creation was interrupted: is removed and created
  refuse,   // exists, but is not of this cluster: create() fails
};

// "keep"
std::string_view to_string(Action action);

// What apply() does with a planned resource.
//
//   found  the resource that exists
//   state  of the journal
Action decide(const std::optional<Found>& found, Journal::State state);

struct Change {
  Action action = Action::keep;
  std::string key;
  std::string machine{};             // as in Resource
  std::vector<std::string> calls{};  // that change something, if the platform can tell: "EC2 RunInstances"

  bool operator==(const Change&) const = default;
};

// Looks all planned resources up, as apply() does, and changes nothing. errors: those of find()
Result<std::vector<Change>> preview_changes(const sys::Context& context, Platform& platform, const Journal::States& journal,
                                            const Plan& plan);

// The resources that do not exist. changes: as preview_changes() returns them for the plan
Plan missing_of(const Plan& plan, const std::vector<Change>& changes);

// A limit of the account or host that a plan uses.
struct Quota {
  std::string what;  // "VPCs"
  int needed = 0;
  int used = 0;
  std::optional<int> limit{};  // none: not known

  bool is_enough() const { return !limit || needed + used <= *limit; }
};

// The Ignition config of a machine.
struct UserData {
  std::string machine;
  std::size_t bytes = 0;
  std::size_t limit = 0;     // of the platform; 0: none
  bool has_pointer = false;  // larger, so the machine fetches it from elsewhere
};

// Something with a price.
struct Priced {
  std::string item;   // as price files have it: "machine/m6i.xlarge"
  double amount = 1;  // "volume/gp3": GiB
};

struct Preview {
  std::string place;  // as Provider::place()
  std::vector<Change> changes{};
  std::vector<Quota> quotas{};
  std::vector<UserData> user_data{};
  std::vector<std::string> missing_permissions{};  // "ec2:RunInstances"
  Findings problems{};                             // for which create() fails: those of quotas and permissions, and others
  std::vector<Priced> priced{};                    // of the whole plan

  bool has_work() const;
};

// An estimate of what things cost an hour, from a price file. `date`: when its prices were last compared with their sources.
//
//   {"date": "2025-06-01", "currency": "USD", "of": "on-demand list prices of us-east-1", "hourly": {"nat-gateway": 0.045}}
struct Costs {
  struct Row {
    std::string item;
    double amount = 0;
    std::optional<double> each{};  // an hour; none: the file has no price
  };
  std::string date{}, currency{}, of{};
  std::vector<Row> rows{};  // one for each item, in the order of the first

  double total() const;
  std::vector<std::string> without_price() const;
};

// errors: invalid: the price file lacks a member or has another type
Result<Costs> costs_of(const std::vector<Priced>& items, const Json& prices);

// For people; ends with a newline.
std::string preview_text(const Preview& preview, const std::optional<Costs>& costs);

// {"place", "changes": [{"action", "resource", "machine", "calls"}], "quotas": [{"what", "needed", "used", "limit"}],
// "userData": [{"machine", "bytes", "limit", "pointer"}], "missingPermissions": [], "problems": [],
// "costs": {"date", "currency", "of", "hourly", "rows": [{"item", "amount", "each"}]}}
Json preview_json(const Preview& preview, const std::optional<Costs>& costs);
Json costs_json(const Costs& costs);

}  // namespace slipway::provider::plan
