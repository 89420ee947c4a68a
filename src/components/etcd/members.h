// Members of etcd: lists them, reads their status and changes them through etcd's JSON gateway.
//
//   Gateway etcd(http, trust);
//   const std::vector<Member> members = TRY(etcd.list(context, "https://10.97.77.10:2381", Consistency::linearizable));
//   TRY(etcd.promote(context, "https://10.97.77.10:2381", members[1].id));
//
// The pods set --listen-client-http-urls, as upstream's pods do. Then only port 2381 serves the gateway, and the client port
// serves gRPC only (observed with etcd 3.6.16). In the gateway's JSON, IDs are decimal strings, and fields with default values
// are
// omitted (https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/).
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
  std::string name{};  // empty until the member has started for the first time
  std::vector<std::string> peer_urls{};
  std::vector<std::string> client_urls{};  // empty until the member has started for the first time
  bool is_learner = false;

  bool is_started() const { return !name.empty(); }
  bool operator==(const Member&) const = default;
};

// The status that a member reports about itself.
struct MemberStatus {
  MemberId leader = 0;  // 0: it knows no leader
  std::uint64_t term = 0;
  std::vector<std::string> errors{};  // alarms: "memberID:... alarm:NOSPACE"
  std::uint64_t size = 0, used = 0;   // of its database, in bytes
};

enum class Consistency {
  linearizable,  // a learner cannot answer, and without a quorum no member can
  local,         // the list of the member that is asked
};

// The host of the first peer URL, which is an address; empty when the member has no peer URL.
std::string host_of(const Member& member);
// "etcd-bootstrap"; "the member at 10.97.77.11" while it has no name.
std::string name_of(const Member& member);

// "https://10.97.77.10:2380"
std::string peer_url(std::string_view address);
std::string gateway_url(std::string_view address);

// Client of the gateway of one member.
//
//   time     at most two seconds for a list or a status, ten minutes for a defragmentation, ten seconds for another change
//   errors   of all functions: unavailable: no answer in time, no leader, no quorum, a learner that is not in sync, members that
//            were not connected long enough; denied: etcd rejects the client certificate; conflict: already done, or too many
//            learners; not_found: no such member; cancelled
//   threads  any
class Gateway {
 public:
  // `http` must outlive the gateway.
  Gateway(net::Http& http, net::TlsOptions tls) : http_(http), tls_(std::move(tls)) {}

  // endpoint: URL of the gateway of a member.
  Result<std::vector<Member>> list(const sys::Context& context, const std::string& endpoint, Consistency consistency) const;
  Result<MemberStatus> status(const sys::Context& context, const std::string& endpoint) const;
  Result<> add_learner(const sys::Context& context, const std::string& endpoint, const std::string& peer_url) const;
  Result<> promote(const sys::Context& context, const std::string& endpoint, MemberId learner) const;
  Result<> remove(const sys::Context& context, const std::string& endpoint, MemberId member) const;
  // endpoint: gateway of the leader. Returns when another member leads.
  Result<> move_leader(const sys::Context& context, const std::string& endpoint, MemberId voter) const;

  // Returns when the database of this member is defragmented; it answers no requests meanwhile. time: seconds for each gigabyte
  Result<> defragment(const sys::Context& context, const std::string& endpoint) const;

  // Compare-and-set of one of slipway's own keys: sets the key to `to` if its value is `from`.
  //
  //   from     the expected value; empty: the key must not exist
  //   returns  the value of the key afterwards; when two callers set the key at once, both get the value of the first
  Result<std::string> exchange(const sys::Context& context, const std::string& endpoint, std::string_view key,
                               const std::string& from, const std::string& to) const;

  // Whether the member answers at its peer URL. etcd asks all other members this when it starts, before it serves requests.
  Result<> answers_peers(const sys::Context& context, const std::string& peer_url) const;

 private:
  Result<Json> call(const sys::Context& context, const std::string& endpoint, std::string_view path, const Json& body) const;

  net::Http& http_;
  net::TlsOptions tls_;
};

}  // namespace slipway::components::etcd
