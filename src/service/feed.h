// Feed: clients that wait. Streams of events for people (server-sent events), and agents whose request for instructions is held
// until there is something new to do.
#pragma once

#include "assist/steps.h"
#include "base/guarded.h"
#include "net/http_server.h"
#include "service/core.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace slipway::service {

struct EventFilter {
  std::string cluster{}, infra_env{}, host{};  // empty: any
  bool with_changes = false;                   // also notices that objects changed without an event
};

// The token that opened a stream, which ends with it.
struct StreamToken {
  std::string id{};  // empty: the service takes requests without tokens
  WallTime expires{};
};

// What a record belongs to.
struct Owners {
  std::string cluster{}, infra_env{}, host{};
};

// Threads: any. The core calls take_events and take_changes.
class Feed {
 public:
  explicit Feed(const sys::Context& context);
  ~Feed();

  // Gives no more instructions. Call it while what set_steps() refers to still lives.
  void stop();

  // What the agent of a host is to do, by the key of the host; nullopt if the host is gone. Called on the feed's thread and by
  // hold(). Set it before the first request.
  void set_steps(std::function<std::optional<assist::Steps>(const std::string& key)> steps) { steps_ = std::move(steps); }

  // Whether the host has at most so many peers that each change of one of them is looked at.
  void set_peers(std::function<std::set<std::string>(const std::set<std::pair<Kind, std::string>>& changed)> affected) {
    affected_ = std::move(affected);
  }

  // What a changed record belongs to; nullopt if it is gone or is none that users see. Called on the feed's thread.
  void set_owners(std::function<std::optional<Owners>(Kind kind, const std::string& key)> owners) { owners_ = std::move(owners); }

  // When the token with this ID ends; nullopt if it was revoked. Called on the feed's thread.
  void set_tokens(std::function<std::optional<WallTime>(const std::string& id)> expiry) { expiry_ = std::move(expiry); }

  void take_events(const std::vector<EventRecord>& events);
  void take_changes(const std::set<std::pair<Kind, std::string>>& changed);

  // A stream of events, and of notices of changes: `event: change` with {"cluster_id"?, "infra_env_id"?, "host_id"?}, without a
  // number. A notice is not repeated to a client that lost the connection, so clients read the objects again then. First
  // come the events that `missed` returns, which have larger numbers than `last`. If these are too many, the stream ends after a
  // part of them: the client connects again, with the last number. The stream also ends when its token expires or is revoked.
  std::shared_ptr<net::AnswerStream> subscribe(EventFilter filter, StreamToken token, std::int64_t last,
                                               const std::function<std::vector<EventRecord>()>& missed);

  // The answer to an agent's request. It holds the instructions at once if they differ from the last ones or if their interval is
  // over; otherwise as soon as one of both is true, and none after `longest`.
  std::shared_ptr<net::AnswerStream> hold(const std::string& key, Seconds longest);

  // The instructions were given to the agent without a wait, or the agent is new.
  void note_given(const std::string& key, const assist::Steps& steps);
  void forget(const std::string& key);

  std::size_t held() const;  // requests

 private:
  struct Subscriber {
    EventFilter filter;
    StreamToken token;
    std::int64_t last = 0;
    std::shared_ptr<net::AnswerStream> stream;
  };
  struct Given {
    std::string ids{};
    SteadyTime due{};  // when they are given again
  };
  struct Held {
    std::shared_ptr<net::AnswerStream> stream;
    SteadyTime until{};
  };
  struct State {
    std::vector<Subscriber> subscribers;
    std::map<std::string, Given> given;
    std::map<std::string, Held> held;  // by host
    std::set<std::pair<Kind, std::string>> changed;
  };

  void run(const std::stop_token& stop);
  bool answer_if_new(State& state, const std::string& key, Held& held);
  static Given given_of(const assist::Steps& steps, SteadyTime now);
  void send_changes(const std::set<std::pair<Kind, std::string>>& changed);
  SteadyTime end_expired(const std::set<std::pair<Kind, std::string>>& changed);

  sys::Context context_;
  std::function<std::optional<assist::Steps>(const std::string&)> steps_;
  std::function<std::set<std::string>(const std::set<std::pair<Kind, std::string>>&)> affected_;
  std::function<std::optional<Owners>(Kind, const std::string&)> owners_;
  std::function<std::optional<WallTime>(const std::string&)> expiry_;
  Guarded<State> state_;
  sys::Wakeup wakeup_;
  std::jthread thread_;
};

// {"next_instruction_seconds", "post_step_action", "instructions"}
std::string instructions_text(const assist::Steps& steps);

}  // namespace slipway::service
