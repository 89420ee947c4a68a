#include "provider/plan/apply.h"

#include "base/time.h"
#include "provider/plan/preview.h"
#include "sys/task_group.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <span>

namespace slipway::provider::plan {

namespace {

// The platform may still execute a call of a killed run, which can undo what this run does. Another pass sees that.
constexpr int most_passes = 3;
constexpr sys::Pace between_attempts{.first = Milliseconds(1000), .longest = Milliseconds(30'000)};

JsonObject event_fields(const std::string& key, std::string_view change) {
  return {{"change", change}, {"description", fmt::format("{} is {}", key, change)}};
}

// Returns whether the resource was created.
Result<bool> apply_one(const sys::Context& context, Platform& platform, Journal& journal, const Resource& resource,
                       bool tells_what_exists) {
  const std::string key = resource.key();
  const std::optional<Found> found = TRY(platform.find(context, resource));
  const Action action = decide(found, journal.state_of(key));
  if (action == Action::refuse) {
    return error(Code::conflict, "exists, but does not belong to this cluster (remove or rename it, then run the command again)");
  }
  if (action == Action::keep) {
    TRY(journal.created(key));
    if (!tells_what_exists) return false;
    JsonObject fields = event_fields(key, "created");
    fields["reason"] = "done before";
    context.events.emit({.kind = "resource", .name = key, .phase = sys::Phase::skipped, .fields = std::move(fields)});
    return false;
  }
  sys::Span span(context.events, context.clock, "resource", key, event_fields(key, "created"));
  const auto replace = [&]() -> Result<> {
    TRY(journal.begin(key));
    if (found) TRY(platform.remove(context, *found).context("removing what an earlier run left"));
    TRY(platform.create(context, resource));
    return journal.created(key);
  };
  TRY(span.end(replace()));
  return true;
}

// Keys are not unique if the platform has several places.
std::string id_of(const Found& found) {
  return found.place.empty() ? found.key() : fmt::format("{} in {}", found.key(), found.place);
}

// All other errors may end when other resources are removed, or with time.
bool ends_removal(Code code) { return code == Code::denied || code == Code::cancelled; }

// Removes resources in rounds. Used by one thread.
class Removal {
 public:
  Removal(const sys::Context& context, Platform& platform, Journal& journal)
      : context_(context), platform_(platform), journal_(journal) {}

  Result<> run(const Chosen& chosen) {
    const Patience patience = platform_.patience();
    int empty_scans = 0;
    for (int idle_rounds = 0; idle_rounds < patience.idle_rounds;) {
      if (idle_rounds > 0 && !sys::pause(context_, patience.pause)) return error(Code::cancelled, "stopped");
      Result<std::vector<Found>> scanned = platform_.scan(context_).context("listing the resources of the cluster");
      if (!scanned.ok()) {
        empty_scans = 0;
        if (ends_removal(scanned.error().code()) || ++idle_rounds == patience.idle_rounds) return std::move(scanned).error();
        continue;
      }
      std::vector<Found> resources = std::move(scanned).value();
      std::erase_if(resources, [](const Found& found) { return !found.is_ours; });
      const std::size_t of_cluster = resources.size();
      if (chosen) std::erase_if(resources, [&](const Found& found) { return !chosen(found); });
      if (!resources.empty()) {
        empty_scans = 0;
        idle_rounds = TRY(run_round(resources)) ? 0 : idle_rounds + 1;
      } else if (++empty_scans == 2) {
        return of_cluster == 0 ? journal_.forget() : Ok{};
      }
    }
    std::string text =
        fmt::format("resources that could not be removed: {} (fix the reasons below, then run the command again)", left_.size());
    for (const std::string& id : left_) text += fmt::format("\n{}: {}", id, attempts_.at(id).reason->message());
    return Error(Code::unavailable, std::move(text));
  }

  // Emits the last event of each removal that has none.
  void end_events(const Result<>& outcome) {
    for (auto& [id, attempt] : attempts_) {
      (void)attempt.span.end(outcome.ok() || !attempt.reason ? outcome : Result<>(*attempt.reason));
    }
    attempts_.clear();
  }

 private:
  // The removal of a resource, over all rounds.
  struct Attempt {
    sys::Span span;
    std::optional<Error> reason{};  // why the last round did not remove it
  };

  // Tries to remove each resource. Returns whether any was removed that no earlier round removed.
  Result<bool> run_round(std::span<const Found> resources) {
    left_.clear();
    bool is_idle = true;
    while (!resources.empty()) {
      const auto neighbors = resources.first(parallel_at_front(resources));
      resources = resources.subspan(neighbors.size());
      for (const Found& found : neighbors) begin(found);
      TRY(sys::for_each_at_once(context_, neighbors.size(), calls_at_once, [&](const sys::Context& own, std::size_t i) {
        return try_one(own, neighbors[i]).context(id_of(neighbors[i]));
      }));
      for (const Found& found : neighbors) {
        const std::string id = id_of(found);
        if (attempts_.at(id).reason) {
          left_.push_back(id);
          continue;
        }
        attempts_.erase(id);
        removed_.insert(id);
        is_idle = false;
      }
    }
    return !is_idle;
  }

  // How many of the first resources can be removed in parallel. Those of the whole cluster are few, and may need each other.
  static std::size_t parallel_at_front(std::span<const Found> resources) {
    std::size_t count = 1;
    if (resources[0].machine.empty()) return count;
    while (count < resources.size() && resources[count].kind == resources[0].kind && !resources[count].machine.empty()) ++count;
    return count;
  }

  void begin(const Found& found) {
    const std::string id = id_of(found), key = found.key();
    if (attempts_.contains(id)) return;
    attempts_.emplace(id, Attempt{sys::Span(context_.events, context_.clock, "resource", key, event_fields(key, "removed"))});
  }

  // errors: those that end the removal. Threads: any; only reads the members, apart from the attempt of its resource.
  Result<> try_one(const sys::Context& context, const Found& found) {
    const std::string id = id_of(found);
    Attempt& attempt = attempts_.at(id);
    Result<> outcome = remove(context, found);
    // Without this, a platform whose removals have no effect would be asked forever.
    if (outcome.ok() && removed_.contains(id)) outcome = error(Code::conflict, "still exists after its removal");
    if (outcome.ok()) {
      attempt.reason.reset();
      return attempt.span.end(std::move(outcome));
    }
    attempt.reason = outcome.error();
    if (ends_removal(outcome.error().code())) return outcome;
    return Ok{};
  }

  Result<> remove(const sys::Context& context, const Found& found) {
    TRY(journal_.begin(found.key()));
    TRY(platform_.remove(context, found));
    return journal_.removed(found.key());
  }

  const sys::Context& context_;
  Platform& platform_;
  Journal& journal_;
  std::map<std::string, Attempt> attempts_;  // by id_of(); those that did not succeed yet
  std::set<std::string> removed_;            // id_of() of each
  std::vector<std::string> left_;            // the same; after the last round, in the order of removal
};

}  // namespace

Result<> apply(const sys::Context& context, Platform& platform, Journal& journal, const Plan& plan) {
  const std::vector<Plan> groups = TRY(in_order(plan));
  bool is_complete = false;
  for (int pass = 1; !is_complete && pass <= most_passes; ++pass) {
    std::atomic<bool> has_created = false;
    for (const Plan& group : groups) {
      TRY(sys::for_each_at_once(context, group.size(), calls_at_once, [&](const sys::Context& own, std::size_t i) -> Result<> {
        const auto attempt = [&] { return apply_one(own, platform, journal, group[i], pass == 1); };
        if (TRY(sys::retry<bool>(own, platform.attempts(), between_attempts, attempt).context(group[i].key())))
          has_created = true;
        return Ok{};
      }));
    }
    is_complete = !has_created;
  }
  return Ok{};
}

Result<> destroy(const sys::Context& context, Platform& platform, Journal& journal, const Chosen& chosen) {
  Removal removal(context, platform, journal);
  Result<> outcome = removal.run(chosen);
  removal.end_events(outcome);
  return outcome;
}

Result<Drift> refresh(const sys::Context& context, Platform& platform, Journal& journal) {
  Drift drift;
  std::set<std::string> existing;
  for (const Found& found : TRY(platform.scan(context))) {
    const std::string key = found.key();
    // A shared one that other clusters use, too, may count as theirs.
    existing.insert(key);
    if (!found.is_ours || !found.is_whole || journal.state_of(key) != Journal::State::unknown) continue;
    TRY(journal.created(key));
    drift.unrecorded.push_back(key);
  }
  for (const auto& [key, state] : journal.states()) {
    if (state == Journal::State::unknown || existing.contains(key)) continue;
    TRY(journal.removed(key));
    drift.gone.push_back(key);
  }
  return drift;
}

}  // namespace slipway::provider::plan
