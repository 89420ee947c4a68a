// Members of etcd: who they are, how they are, and changes of them, through etcd's JSON gateway.
//
//   Gateway etcd(http, trust);
//   const std::vector<Member> members = TRY(etcd.list(context, "https://10.97.77.10:2381", Reading::agreed));
//   TRY(etcd.promote(context, "https://10.97.77.10:2381", members[1].id));
//
// With --listen-client-http-urls, which our pods have as upstream's do, the gateway answers there only (port 2381), and the port
// for clients speaks gRPC alone (seen with etcd 3.6.16). IDs are decimal texts there and members that have their default are
// missing (https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/).
#pragma once

#include "base/json.h"
#include "net/http.h"
#include "sys/context.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::etcd {

inline constexpr int client_port = 2379;
inline constexpr int peer_port = 2380;
inline constexpr int gateway_port = 2381;

using MemberId = std::uint64_t;

struct Member {
  MemberId id = 0;
  std::string name{};  // empty while it has never been started
  std::vector<std::string> peer_urls{};
  std::vector<std::string> client_urls{};  // none either while it has never been started
  bool is_learner = false;

  bool is_started() const { return !name.empty(); }
  bool operator==(const Member&) const = default;
};

// What a member says about itself.
struct MemberStatus {
  MemberId leader = 0;  // 0: it knows of none
  std::uint64_t term = 0;
  std::vector<std::string> errors{};  // alarms: "memberID:... alarm:NOSPACE"
};

enum class Reading {
  agreed,  // what the quorum knows; a learner cannot tell, nor can anybody without a quorum
  local,   // what the member that is asked knows
};

// The host of the first peer URL, an address; empty when there is none.
std::string host_of(const Member& member);
// "etcd-bootstrap"; "the member at 10.97.77.11" while it has no name.
std::string name_of(const Member& member);

// "https://10.97.77.10:2380"
std::string peer_url(std::string_view address);
std::string gateway_url(std::string_view address);

// Errors of all: unavailable: no answer within two seconds, no leader, no quorum, a learner that is not in sync, members that
// were not connected long enough; denied: our certificate is not taken; conflict: it is already so, or there are too many
// learners; not_found: no such member; cancelled. Threads: any.
class Gateway {
 public:
  // `http` outlives it.
  Gateway(net::Http& http, net::Trust trust) : http_(http), trust_(std::move(trust)) {}

  // endpoint: URL of a member's gateway.
  Result<std::vector<Member>> list(const sys::Context& context, const std::string& endpoint, Reading reading) const;
  Result<MemberStatus> status(const sys::Context& context, const std::string& endpoint) const;
  Result<> add_learner(const sys::Context& context, const std::string& endpoint, const std::string& peer_url) const;
  Result<> promote(const sys::Context& context, const std::string& endpoint, MemberId learner) const;
  Result<> remove(const sys::Context& context, const std::string& endpoint, MemberId member) const;
  // endpoint: of the leader. Returns when another leads.
  Result<> move_leader(const sys::Context& context, const std::string& endpoint, MemberId voter) const;

  // What stands under a key of slipway's own, after it was set to `to` if `from` stood there; empty: nothing. When two set it at
  // once, one is first, and both hear of that one.
  Result<std::string> exchange(const sys::Context& context, const std::string& endpoint, std::string_view key,
                               const std::string& from, const std::string& to) const;

  // Whether it answers other members at its peer URL: etcd that starts asks all the others this before it serves.
  Result<> answers_peers(const sys::Context& context, const std::string& peer_url) const;

 private:
  Result<Json> call(const sys::Context& context, const std::string& endpoint, std::string_view path, const Json& body) const;

  net::Http& http_;
  net::Trust trust_;
};

}  // namespace slipway::components::etcd
