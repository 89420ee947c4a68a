#include "components/etcd/discover.h"

#include "base/flags.h"
#include "base/number.h"
#include "base/text.h"
#include "net/ip.h"
#include "net/read_tls_options.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace slipway::components::etcd {

namespace {

const std::optional<std::string> not_yet;

using namespace std::chrono_literals;

constexpr Milliseconds poll_interval = 200ms;
// The value is the peer URL of the member whose turn it is, or of the last member that started.
constexpr std::string_view turn_key = "slipway/etcd/starting-member";
// Limit for the member whose turn it is: a member that never starts must not block the others. The next member takes the turn
// and gets the same time.
constexpr Seconds turn_limit = 60s;

std::string first_url(const Member& member) { return member.peer_urls.empty() ? std::string() : member.peer_urls.front(); }

// etcd requires distinct names, but does not compare them with the names that the members get later.
std::string placeholder_name(const Member& member, const std::set<std::string>& taken) {
  std::string name = fmt::format("not-started-{:x}", member.id);
  while (taken.contains(name)) name += "-";
  return name;
}

std::string initial_cluster(const std::vector<Member>& members, const Joining& joining) {
  std::set<std::string> names{joining.name};
  for (const Member& member : members) names.insert(member.name);
  std::vector<std::string> parts;
  for (const Member& member : members) {
    const std::string name = first_url(member) == joining.peer_url ? joining.name
                             : member.is_started()                 ? member.name
                                                                   : placeholder_name(member, names);
    for (const std::string& url : member.peer_urls) parts.push_back(fmt::format("{}={}", name, url));
  }
  std::ranges::sort(parts);
  return join(parts, ",");
}

// Reads the list of members again and again until the member may start.
class Discovery {
 public:
  Discovery(const Environment& environment, Gateway etcd, std::vector<std::string> endpoints, std::string data_dir,
            Joining joining)
      : files_(environment.files),
        etcd_(std::move(etcd)),
        endpoints_(std::move(endpoints)),
        data_dir_(std::move(data_dir)),
        joining_(std::move(joining)) {}

  Result<std::string> run(const sys::Context& context) {
    while (true) {
      if (const std::optional<std::string> cluster = TRY(try_once(context))) return *cluster;
      if (!sys::pause(context, poll_interval)) return error(Code::cancelled, "stopped");
    }
  }

 private:
  Result<std::optional<std::string>> try_once(const sys::Context& context) {
    TRY(read_data_dir());
    const Result<std::vector<Member>> listed = list(context);
    if (!listed.ok()) {
      if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
      // All machines may have just booted. Then no member answers until one of them starts with its own data.
      if (joining_.has_data) return std::optional<std::string>("");
      log_reason(context, listed.error().message());
      return not_yet;
    }
    const std::vector<Member>& members = listed.value();
    const bool is_unchanged = members == last_members_;
    last_members_ = members;
    const StartPlan plan = plan_start(members, joining_);
    switch (plan.kind) {
      case StartPlan::Kind::start:
        if (joining_.has_data) return std::optional(plan.initial_cluster);
        // etcd refuses to start with a list that lacks a member, and the operator adds several members in a row.
        if (!is_unchanged || !TRY(has_turn(context))) return not_yet;
        TRY(files_.write(joined_as_file(), std::to_string(plan.self), 0600));
        return std::optional(plan.initial_cluster);
      case StartPlan::Kind::move_aside: TRY(move_aside(context)); return not_yet;
      case StartPlan::Kind::lost:
        return error(Code::conflict,
                     "{}: is a member of etcd, but {} is empty, so its data is lost (remove the member with `etcdctl member "
                     "remove`; it is then added again)",
                     joining_.name, data_dir_);
      case StartPlan::Kind::wait:
        log_reason(context, fmt::format("{} is not a member of etcd yet", joining_.peer_url));
        return not_yet;
    }
    return not_yet;
  }

  std::string joined_as_file() const { return data_dir_ + "/joined-as"; }

  Result<> read_data_dir() {
    joining_.has_data = TRY(files_.info(data_dir_ + "/member/snap")).has_value();
    joining_.joined_as.reset();
    const bool has_log = TRY(files_.info(data_dir_ + "/member/wal")).has_value();
    const std::optional<std::string> text = TRY(files_.read_if_exists(joined_as_file()));
    if (has_log && text) joining_.joined_as = parse_number<MemberId>(trim(*text));
    return Ok{};
  }

  // The list of the quorum. A member that has data also accepts the list of a single member.
  Result<std::vector<Member>> list(const sys::Context& context) {
    Error last = error(Code::unavailable, "no endpoint given");
    for (Consistency consistency : {Consistency::linearizable, Consistency::local}) {
      if (consistency == Consistency::local && !joining_.has_data) break;
      for (const std::string& endpoint : endpoints_) {
        Result<std::vector<Member>> listed = etcd_.list(context, endpoint, consistency);
        endpoint_ = endpoint;
        if (listed.ok() || context.stop.stop_requested()) return listed;
        last = std::move(listed).error();
      }
    }
    return last;
  }

  Result<bool> has_turn(const sys::Context& context) {
    if (!holder_.empty() && is_awaited(context)) return false;
    const Result<std::string> holder = etcd_.exchange(context, endpoint_, turn_key, holder_, joining_.peer_url);
    if (!holder.ok()) {
      if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
      log_reason(context, holder.error().message());
      return false;
    }
    holder_ = holder.value();
    held_since_ = context.clock.steady();
    if (holder_ == joining_.peer_url) return true;
    log_reason(context, fmt::format("{} has to start first", holder_));
    return false;
  }

  // Whether the member whose turn it is has not started yet and still has time.
  bool is_awaited(const sys::Context& context) const {
    if (context.clock.steady() - held_since_ >= turn_limit) return false;
    const bool is_to_start = std::ranges::any_of(
        last_members_, [&](const Member& member) { return !member.is_started() && first_url(member) == holder_; });
    return is_to_start && !etcd_.answers_peers(context, holder_).ok();
  }

  Result<> move_aside(const sys::Context& context) {
    const std::string from = data_dir_ + "/member";
    const auto seconds = std::chrono::floor<Seconds>(context.clock.now()).time_since_epoch().count();
    const std::string to = fmt::format("{}/member-removed-archive-{}", data_dir_, seconds);
    context.log.warn("{} belongs to a removed member; moved to {}", from, to);
    return files_.rename(from, to);
  }

  // Logs a reason only when it differs from the last one.
  void log_reason(const sys::Context& context, const std::string& why) {
    if (why != logged_reason_) context.log.info("waiting: {}", why);
    logged_reason_ = why;
  }

  sys::Files& files_;
  Gateway etcd_;
  std::vector<std::string> endpoints_;
  std::string data_dir_;
  Joining joining_;
  std::vector<Member> last_members_{};
  std::string endpoint_{};   // the endpoint that was last asked for members
  std::string holder_{};     // peer URL of the member whose turn it is; empty: not known
  SteadyTime held_since_{};  // when holder_ was read
  std::string logged_reason_{};
};

}  // namespace

StartPlan plan_start(const std::vector<Member>& members, const Joining& joining) {
  const auto self = std::ranges::find_if(members, [&](const Member& member) { return first_url(member) == joining.peer_url; });
  if (self == members.end()) return {StartPlan::Kind::wait};
  if (self->is_started()) return {joining.has_data ? StartPlan::Kind::start : StartPlan::Kind::lost};
  // A member that ended before it published its name continues with its log: the leader relies on the entries in it.
  if (joining.has_data) return {joining.joined_as == self->id ? StartPlan::Kind::start : StartPlan::Kind::move_aside};
  return {StartPlan::Kind::start, initial_cluster(members, joining), self->id};
}

Result<> run_discover(const Environment& environment, const Arguments& arguments) {
  const Flags flags = TRY(parse_flags("discover-etcd-initial-cluster",
                                      {{.name = "cacert", .required = true},
                                       {.name = "cert", .required = true},
                                       {.name = "key", .required = true},
                                       {.name = "endpoints", .required = true},
                                       {.name = "data-dir", .required = true},
                                       {.name = "target-peer-url-host", .required = true},
                                       {.name = "target-name", .required = true}},
                                      arguments));
  net::TlsOptions tls =
      TRY(net::read_tls_options(environment.files, flags.text("cacert"), flags.text("cert"), flags.text("key")));
  std::vector<std::string> endpoints;
  for (std::string_view endpoint : split(flags.text("endpoints"), ',')) endpoints.emplace_back(trim(endpoint));
  Discovery discovery(environment, Gateway(environment.http, std::move(tls)), std::move(endpoints), flags.text("data-dir"),
                      {peer_url(flags.text("target-peer-url-host")), flags.text("target-name")});
  const std::string cluster = TRY(discovery.run(environment.context));
  environment.print(cluster + "\n");
  return Ok{};
}

}  // namespace slipway::components::etcd
