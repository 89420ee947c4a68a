#include "service/feed.h"

#include "service/views.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::service {

namespace {

constexpr Milliseconds heartbeat = Seconds(15);

// Bytes of events of the past in one stream. A stream with more than a MiB that waits for its client is cut off (AnswerStream).
constexpr std::size_t most_missed = 512 << 10;

std::string event_text(const EventRecord& event) {
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.number, event.name, emit_json(view_of(event), JsonStyle::compact));
}

// An event, or the owners of a record that changed.
template <class Subject>
bool matches(const EventFilter& filter, const Subject& subject) {
  return (filter.cluster.empty() || filter.cluster == subject.cluster) &&
         (filter.infra_env.empty() || filter.infra_env == subject.infra_env) &&
         (filter.host.empty() || filter.host == subject.host);
}

std::string change_text(const Owners& owners) {
  JsonObject object;
  if (!owners.cluster.empty()) object["cluster_id"] = owners.cluster;
  if (!owners.infra_env.empty()) object["infra_env_id"] = owners.infra_env;
  if (!owners.host.empty()) object["host_id"] = owners.host;
  return fmt::format("event: change\ndata: {}\n\n", emit_json(object, JsonStyle::compact));
}

}  // namespace

std::string instructions_text(const assist::Steps& steps) {
  JsonArray instructions;
  for (const assist::Step& step : steps.steps) {
    JsonArray args;
    if (!step.argument.empty()) args.emplace_back(step.argument);
    instructions.push_back(Json{{"step_type", step.type}, {"step_id", step.id}, {"args", std::move(args)}});
  }
  return emit_json(Json{{"next_instruction_seconds", steps.next.count()},
                        {"post_step_action", steps.exits ? "exit" : "continue"},
                        {"instructions", std::move(instructions)}},
                   JsonStyle::compact);
}

Feed::Feed(const sys::Context& context) : context_(context), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Feed::~Feed() { stop(); }

void Feed::stop() {
  thread_.request_stop();
  wakeup_.notify();
  if (thread_.joinable()) thread_.join();
}

Feed::Given Feed::given_of(const assist::Steps& steps, SteadyTime now) {
  Given given{.due = now + steps.next};
  for (const assist::Step& step : steps.steps) given.ids += step.id + " ";
  given.ids += steps.exits ? "exit" : "";
  return given;
}

void Feed::take_events(const std::vector<EventRecord>& events) {
  state_.with_lock([&](State& state) {
    for (Subscriber& each : state.subscribers) {
      for (const EventRecord& event : events) {
        if (event.number <= each.last || !matches(each.filter, event)) continue;
        each.last = event.number;
        (void)each.stream->write(event_text(event));
      }
    }
  });
}

void Feed::take_changes(const std::set<std::pair<Kind, std::string>>& changed) {
  state_.with_lock([&](State& state) {
    if (!state.held.empty() || !state.subscribers.empty()) state.changed.insert(changed.begin(), changed.end());
  });
  wakeup_.notify();
}

std::shared_ptr<net::AnswerStream> Feed::subscribe(EventFilter filter, StreamToken token, std::int64_t last,
                                                   const std::function<std::vector<EventRecord>()>& missed) {
  auto stream = std::make_shared<net::AnswerStream>();
  state_.with_lock([&](State& state) {
    Subscriber subscriber{.filter = std::move(filter), .token = std::move(token), .last = last, .stream = stream};
    (void)stream->write(": events of the assisted installation service\n\n");
    std::size_t size = 0;
    for (const EventRecord& event : missed()) {
      if (!matches(subscriber.filter, event)) continue;
      const std::string text = event_text(event);
      size += text.size();
      if (size > most_missed) return stream->end();
      subscriber.last = std::max(subscriber.last, event.number);
      (void)stream->write(text);
    }
    // The token may have been revoked since the request was checked.
    if (!subscriber.token.id.empty()) state.changed.emplace(Kind::token, subscriber.token.id);
    state.subscribers.push_back(std::move(subscriber));
  });
  wakeup_.notify();
  return stream;
}

// Called with the lock held.
bool Feed::answer_if_new(State& state, const std::string& key, Held& held) {
  const std::optional<assist::Steps> steps = steps_(key);
  const SteadyTime now = context_.clock.steady();
  if (!steps) {
    (void)held.stream->write(instructions_text({}));
    held.stream->end();
    return true;
  }
  const Given next = given_of(*steps, now);
  const auto given = state.given.find(key);
  const bool is_new = given == state.given.end() || given->second.ids != next.ids || given->second.due <= now;
  if (!is_new && held.until > now) return false;
  (void)held.stream->write(instructions_text(is_new ? *steps : assist::Steps{.next = steps->next}));
  held.stream->end();
  if (is_new) state.given[key] = next;
  return true;
}

std::shared_ptr<net::AnswerStream> Feed::hold(const std::string& key, Seconds longest) {
  auto stream = std::make_shared<net::AnswerStream>();
  state_.with_lock([&](State& state) {
    Held held{.stream = stream, .until = context_.clock.steady() + longest};
    if (answer_if_new(state, key, held)) return;
    // An agent has one request: an older one is of a connection that it lost.
    if (const auto old = state.held.find(key); old != state.held.end()) old->second.stream->end();
    state.held[key] = std::move(held);
  });
  wakeup_.notify();
  return stream;
}

void Feed::note_given(const std::string& key, const assist::Steps& steps) {
  state_.with_lock([&](State& state) { state.given[key] = given_of(steps, context_.clock.steady()); });
}

void Feed::forget(const std::string& key) {
  state_.with_lock([&](State& state) { state.given.erase(key); });
}

void Feed::send_changes(const std::set<std::pair<Kind, std::string>>& changed) {
  std::vector<Owners> subjects;
  for (const auto& [kind, key] : changed) {
    if (std::optional<Owners> owners = owners_(kind, key)) subjects.push_back(std::move(*owners));
  }
  state_.with_lock([&](State& state) {
    for (Subscriber& each : state.subscribers) {
      if (!each.filter.with_changes) continue;
      for (const Owners& subject : subjects) {
        if (matches(each.filter, subject)) (void)each.stream->write(change_text(subject));
      }
    }
  });
}

// Returns when to look again, at the next heartbeat at the latest: the clock may jump.
SteadyTime Feed::end_expired(const std::set<std::pair<Kind, std::string>>& changed) {
  std::map<std::string, WallTime> ends;
  for (const auto& [kind, id] : changed) {
    if (kind == Kind::token) ends[id] = expiry_(id).value_or(WallTime{});
  }
  const WallTime now = context_.clock.now();
  Milliseconds left = heartbeat;
  state_.with_lock([&](State& state) {
    std::erase_if(state.subscribers, [&](Subscriber& each) {
      if (each.token.id.empty()) return false;
      if (const auto end = ends.find(each.token.id); end != ends.end()) each.token.expires = end->second;
      if (each.token.expires <= now) {
        each.stream->end();
        return true;
      }
      left = std::min(left, each.token.expires - now);
      return false;
    });
  });
  return context_.clock.steady() + left;
}

std::size_t Feed::held() const {
  return state_.with_lock([](const State& state) { return state.held.size(); });
}

void Feed::run(const std::stop_token& stop) {
  SteadyTime next_heartbeat = context_.clock.steady() + heartbeat;
  while (!stop.stop_requested()) {
    const std::uint64_t seen = wakeup_.count();
    const SteadyTime now = context_.clock.steady();
    const bool beats = now >= next_heartbeat;
    if (beats) next_heartbeat = now + heartbeat;
    const auto changed = state_.with_lock([](State& state) { return std::exchange(state.changed, {}); });
    const SteadyTime expiry = end_expired(changed);
    if (!changed.empty()) send_changes(changed);
    const std::set<std::string> affected = changed.empty() ? std::set<std::string>() : affected_(changed);
    const SteadyTime wake = state_.with_lock([&](State& state) {
      if (beats) {
        // Also ends the streams of clients that have left.
        std::erase_if(state.subscribers, [](const Subscriber& each) { return !each.stream->write(":\n\n"); });
      }
      SteadyTime until = std::min(next_heartbeat, expiry);
      for (auto next = state.held.begin(); next != state.held.end();) {
        auto& [key, held] = *next;
        const auto given = state.given.find(key);
        const SteadyTime due = given == state.given.end() ? held.until : std::min(held.until, given->second.due);
        if ((due <= now || affected.contains(key)) && answer_if_new(state, key, held)) {
          next = state.held.erase(next);
          continue;
        }
        until = std::min(until, due);
        ++next;
      }
      return until;
    });
    context_.clock.wait(wake, stop, &wakeup_, seen);
  }
}

}  // namespace slipway::service
