#include "components/etcd/members.h"

#include "base/digest.h"
#include "base/number.h"
#include "net/ip.h"
#include "net/url.h"

#include <optional>

namespace slipway::components::etcd {

namespace {

// Members are in one network; a member that takes longer counts as unhealthy.
constexpr Milliseconds connect_limit{1'000};
constexpr Milliseconds answer_limit{2'000};
// For changes. etcd itself waits up to one election timeout when the leader is moved.
constexpr Milliseconds change_limit{10'000};
constexpr Milliseconds defragmentation_limit = Seconds(600);
constexpr std::string_view defragmentation_path = "/v3/maintenance/defragment";

std::uint64_t number(const Json& object, std::string_view key) {
  return parse_number<std::uint64_t>(find_string(object, {key}).value_or("")).value_or(0);
}

Member parse_member(const Json& object) {
  return {.id = number(object, "ID"),
          .name = text_of(object, {"name"}),
          .peer_urls = texts_of(object, {"peerURLs"}),
          .client_urls = texts_of(object, {"clientURLs"}),
          .is_learner = is_true(object, {"isLearner"})};
}

// The gateway maps gRPC codes to HTTP statuses, several of them to 400. The message shows which of these are temporary.
Code code_of(int status, std::string_view message) {
  if (status == 401 || status == 403) return Code::denied;
  if (status == 404) return Code::not_found;
  if (status >= 500 || status == 408 || status == 429) return Code::unavailable;
  if (message.find("in sync with leader") != std::string_view::npos) return Code::unavailable;
  return Code::conflict;
}

Json id_body(std::string_view key, MemberId id) { return {{key, std::to_string(id)}}; }

}  // namespace

std::string host_of(const Member& member) {
  if (member.peer_urls.empty()) return {};
  Result<net::Url> url = net::parse_url(member.peer_urls.front());
  return url.ok() ? url->host : std::string();
}

std::string name_of(const Member& member) {
  return member.is_started() ? member.name : fmt::format("the member at {}", host_of(member));
}

std::string peer_url(std::string_view address) { return "https://" + net::host_and_port(address, peer_port); }
std::string gateway_url(std::string_view address) { return "https://" + net::host_and_port(address, gateway_port); }

Result<Json> Gateway::call(const sys::Context& context, const std::string& endpoint, std::string_view path,
                           const Json& body) const {
  net::Url url = TRY(net::parse_url(endpoint));
  net::Request request{.method = "POST", .url = std::move(url)};
  request.url.target = path;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = emit_json(body, JsonStyle::compact);
  request.tls = tls_;
  request.connect_limit = connect_limit;
  request.whole_limit = path.starts_with("/v3/cluster/member/list") || path.ends_with("/status") ? answer_limit
                        : path == defragmentation_path                                           ? defragmentation_limit
                                                                                                 : change_limit;
  const std::string what = fmt::format("{}{}", endpoint, path);
  const net::Answer answer = TRY(http_.send(request, context.stop).context(what));
  Result<Json> json = parse_json(answer.body, what);
  if (answer.status == 200) return json;
  std::string message = fmt::format("status {}", answer.status);
  if (json.ok()) message = find_string(json.value(), {"message"}).value_or(message);
  return error(code_of(answer.status, message), "{}: {}", what, message);
}

Result<std::vector<Member>> Gateway::list(const sys::Context& context, const std::string& endpoint,
                                          Consistency consistency) const {
  const Json answer =
      TRY(call(context, endpoint, "/v3/cluster/member/list", {{"linearizable", consistency == Consistency::linearizable}}));
  std::vector<Member> members;
  for (const Json& object : find_array(answer, {"members"})) members.push_back(parse_member(object));
  if (members.empty()) return error(Code::unavailable, "{}: etcd returned no members", endpoint);
  return members;
}

Result<MemberStatus> Gateway::status(const sys::Context& context, const std::string& endpoint) const {
  const Json answer = TRY(call(context, endpoint, "/v3/maintenance/status", JsonObject()));
  return MemberStatus{.leader = number(answer, "leader"),
                      .term = number(answer, "raftTerm"),
                      .errors = texts_of(answer, {"errors"}),
                      .size = number(answer, "dbSize"),
                      .used = number(answer, "dbSizeInUse")};
}

Result<> Gateway::add_learner(const sys::Context& context, const std::string& endpoint, const std::string& peer_url) const {
  TRY(call(context, endpoint, "/v3/cluster/member/add", {{"peerURLs", JsonArray{Json(peer_url)}}, {"isLearner", true}}));
  return Ok{};
}

Result<> Gateway::promote(const sys::Context& context, const std::string& endpoint, MemberId learner) const {
  TRY(call(context, endpoint, "/v3/cluster/member/promote", id_body("ID", learner)));
  return Ok{};
}

Result<> Gateway::remove(const sys::Context& context, const std::string& endpoint, MemberId member) const {
  TRY(call(context, endpoint, "/v3/cluster/member/remove", id_body("ID", member)));
  return Ok{};
}

Result<> Gateway::move_leader(const sys::Context& context, const std::string& endpoint, MemberId voter) const {
  TRY(call(context, endpoint, "/v3/maintenance/transfer-leadership", id_body("targetID", voter)));
  return Ok{};
}

Result<> Gateway::defragment(const sys::Context& context, const std::string& endpoint) const {
  TRY(call(context, endpoint, defragmentation_path, JsonObject()));
  return Ok{};
}

Result<std::string> Gateway::exchange(const sys::Context& context, const std::string& endpoint, std::string_view key,
                                      const std::string& from, const std::string& to) const {
  const std::string name = base64_encode(key);
  JsonObject is_there = {{"key", name}};
  if (from.empty()) {
    is_there.insert({{"target", "CREATE"}, {"create_revision", "0"}});
  } else {
    is_there.insert({{"target", "VALUE"}, {"value", base64_encode(from)}});
  }
  const JsonObject put = {{"requestPut", {{"key", name}, {"value", base64_encode(to)}}}};
  const JsonObject read = {{"requestRange", {{"key", name}}}};
  const Json answer =
      TRY(call(context, endpoint, "/v3/kv/txn",
               {{"compare", JsonArray{Json(is_there)}}, {"success", JsonArray{Json(put)}}, {"failure", JsonArray{Json(read)}}}));
  if (is_true(answer, {"succeeded"})) return to;
  for (const Json& response : find_array(answer, {"responses"})) {
    for (const Json& pair : find_array(response, {"response_range", "kvs"})) {
      return base64_decode(find_string(pair, {"value"}).value_or("")).context(endpoint);
    }
  }
  return std::string();
}

Result<> Gateway::answers_peers(const sys::Context& context, const std::string& peer_url) const {
  net::Url url = TRY(net::parse_url(peer_url));
  net::Request request{.url = std::move(url)};
  request.url.target = "/version";
  request.tls = tls_;
  request.connect_limit = connect_limit;
  request.whole_limit = answer_limit;
  const net::Answer answer = TRY(http_.send(request, context.stop));
  if (answer.status != 200) return error(Code::unavailable, "{}/version: status {}", peer_url, answer.status);
  return Ok{};
}

}  // namespace slipway::components::etcd
