#include "components/etcd/discover.h"

#include "base/flags.h"
#include "base/number.h"
#include "base/text.h"
#include "net/ip.h"
#include "net/read_trust.h"
#include "sys/wait_for.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace slipway::components::etcd {

namespace {

const std::optional<std::string> not_yet;

using namespace std::chrono_literals;

constexpr Milliseconds look_pause = 200ms;
// The peer URL of the member that may start, or was the last that did.
constexpr std::string_view turn_key = "slipway/etcd/starting-member";
// One that does not come must not keep all others away for ever. Who goes past it has the turn, and is waited for as long.
constexpr Seconds turn_limit = 60s;

std::string first_url(const Member& member) { return member.peer_urls.empty() ? std::string() : member.peer_urls.front(); }

// Names have to differ; nobody compares them with those that the others will have.
std::string made_up_name(const Member& member, const std::set<std::string>& taken) {
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
                                                                   : made_up_name(member, names);
    for (const std::string& url : member.peer_urls) parts.push_back(fmt::format("{}={}", name, url));
  }
  std::ranges::sort(parts);
  return join(parts, ",");
}

// What is done about one list of members after another until it is clear how to start.
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
      if (const std::optional<std::string> cluster = TRY(look(context))) return *cluster;
      if (!sys::pause(context, look_pause)) return error(Code::cancelled, "stopped");
    }
  }

 private:
  Result<std::optional<std::string>> look(const sys::Context& context) {
    TRY(look_into_folder());
    const Result<std::vector<Member>> listed = list(context);
    if (!listed.ok()) {
      if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
      // All machines may just have been switched on: nobody can answer before somebody starts.
      if (joining_.has_data) return std::optional<std::string>("");
      say(context, listed.error().message());
      return not_yet;
    }
    const std::vector<Member>& members = listed.value();
    const bool is_still_so = members == last_;
    last_ = members;
    const StartPlan standing = plan_start(members, joining_);
    switch (standing.kind) {
      case StartPlan::Kind::start:
        if (joining_.has_data) return std::optional(standing.initial_cluster);
        // etcd refuses to start with a list that lacks a member, and several are added in a row.
        if (!is_still_so || !TRY(has_turn(context))) return not_yet;
        TRY(files_.write(joined_as_file(), std::to_string(standing.self), 0600));
        return std::optional(standing.initial_cluster);
      case StartPlan::Kind::put_aside: TRY(put_aside(context)); return not_yet;
      case StartPlan::Kind::lost:
        return error(Code::conflict,
                     "{}: is a member of etcd, but {} is empty, so its data is lost (remove the member with `etcdctl member "
                     "remove`; it is then added again)",
                     joining_.name, data_dir_);
      case StartPlan::Kind::wait: say(context, fmt::format("{} is not a member of etcd yet", joining_.peer_url)); return not_yet;
    }
    return not_yet;
  }

  std::string joined_as_file() const { return data_dir_ + "/joined-as"; }

  Result<> look_into_folder() {
    joining_.has_data = TRY(files_.info(data_dir_ + "/member/snap")).has_value();
    joining_.joined_as.reset();
    const bool has_log = TRY(files_.info(data_dir_ + "/member/wal")).has_value();
    const std::optional<std::string> text = TRY(files_.read_if_exists(joined_as_file()));
    if (has_log && text) joining_.joined_as = parse_number<MemberId>(trim(*text));
    return Ok{};
  }

  // What the quorum knows; to those that have been a member before, also what any single one knows.
  Result<std::vector<Member>> list(const sys::Context& context) {
    Error last = error(Code::unavailable, "no endpoint given");
    for (Reading reading : {Reading::agreed, Reading::local}) {
      if (reading == Reading::local && !joining_.has_data) break;
      for (const std::string& endpoint : endpoints_) {
        Result<std::vector<Member>> listed = etcd_.list(context, endpoint, reading);
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
      say(context, holder.error().message());
      return false;
    }
    holder_ = holder.value();
    held_since_ = context.clock.steady();
    if (holder_ == joining_.peer_url) return true;
    say(context, fmt::format("waiting until {} has started", holder_));
    return false;
  }

  // Whether the member that has the turn has still to come, and may.
  bool is_awaited(const sys::Context& context) const {
    if (context.clock.steady() - held_since_ >= turn_limit) return false;
    const bool is_to_start =
        std::ranges::any_of(last_, [&](const Member& member) { return !member.is_started() && first_url(member) == holder_; });
    return is_to_start && !etcd_.answers_peers(context, holder_).ok();
  }

  Result<> put_aside(const sys::Context& context) {
    const std::string from = data_dir_ + "/member";
    const auto seconds = std::chrono::floor<Seconds>(context.clock.now()).time_since_epoch().count();
    const std::string to = fmt::format("{}/member-removed-archive-{}", data_dir_, seconds);
    context.log.warn("{} belongs to a removed member; moved to {}", from, to);
    return files_.rename(from, to);
  }

  // Once for each reason in a row.
  void say(const sys::Context& context, const std::string& why) {
    if (why != said_) context.log.info("waiting: {}", why);
    said_ = why;
  }

  sys::Files& files_;
  Gateway etcd_;
  std::vector<std::string> endpoints_;
  std::string data_dir_;
  Joining joining_;
  std::vector<Member> last_{};
  std::string endpoint_{};   // the last that was asked for members
  std::string holder_{};     // the peer URL of who has the turn; empty: nobody is known to
  SteadyTime held_since_{};  // when that was heard
  std::string said_{};
};

}  // namespace

StartPlan plan_start(const std::vector<Member>& members, const Joining& joining) {
  const auto self = std::ranges::find_if(members, [&](const Member& member) { return first_url(member) == joining.peer_url; });
  if (self == members.end()) return {StartPlan::Kind::wait};
  if (self->is_started()) return {joining.has_data ? StartPlan::Kind::start : StartPlan::Kind::lost};
  // One that ended before it told its name goes on with its log: the leader counts on what is in it.
  if (joining.has_data) return {joining.joined_as == self->id ? StartPlan::Kind::start : StartPlan::Kind::put_aside};
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
  net::Trust trust = TRY(net::read_trust(environment.files, flags.text("cacert"), flags.text("cert"), flags.text("key")));
  std::vector<std::string> endpoints;
  for (std::string_view endpoint : split(flags.text("endpoints"), ',')) endpoints.emplace_back(trim(endpoint));
  Discovery discovery(environment, Gateway(environment.http, std::move(trust)), std::move(endpoints), flags.text("data-dir"),
                      {peer_url(flags.text("target-peer-url-host")), flags.text("target-name")});
  const std::string cluster = TRY(discovery.run(environment.context));
  environment.print(cluster + "\n");
  return Ok{};
}

}  // namespace slipway::components::etcd
