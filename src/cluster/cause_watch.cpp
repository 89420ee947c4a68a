#include "cluster/cause_watch.h"

#include "sys/wait_for.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::cluster {

namespace {

std::string key_of(const diagnosis::Link& link) { return link.name + " " + link.object; }

}  // namespace

CauseWatch::CauseWatch(sys::Clock& clock) : CauseWatch(clock, Pace()) {}

CauseWatch::CauseWatch(sys::Clock& clock, Pace pace) : clock_(clock), pace_(pace) {}

std::string CauseWatch::sentence() const {
  return cause_.with_lock([](const auto& cause) { return cause ? cause->sentence : std::string(); });
}

const diagnosis::Chain* CauseWatch::choose(const std::vector<diagnosis::Chain>& chains) {
  const SteadyTime now = clock_.steady();
  std::map<std::string, SteadyTime> seen;
  const diagnosis::Chain* first = nullptr;
  const diagnosis::Chain* as_before = nullptr;
  const std::string before =
      cause_.with_lock([](const auto& cause) { return cause ? key_of(*cause) : std::string(); });
  for (const diagnosis::Chain& chain : chains) {
    const diagnosis::Link& end = chain.back();
    const auto known = first_seen_.find(key_of(end));
    const SteadyTime since = known == first_seen_.end() ? now : known->second;
    seen.emplace(key_of(end), since);
    // A time that the platform has recorded proves a fault of a machine at once.
    const bool is_proven = end.since && end.row().level == diagnosis::Level::machine;
    if (!is_proven && known == first_seen_.end()) continue;
    if (!end.since && now - since < diagnosis::patience_of(end.row(), diagnosis::Situation::installing)) continue;
    if (!first) first = &chain;
    if (key_of(end) == before && end.row().level == first->back().row().level) as_before = &chain;
  }
  first_seen_ = std::move(seen);
  return as_before ? as_before : first;
}

void CauseWatch::tell(const sys::Context& context, const diagnosis::Chain* cause) {
  const std::optional<diagnosis::Link> before = cause_.with_lock([&](auto& current) {
    return std::exchange(current, cause ? std::optional(cause->back()) : std::nullopt);
  });
  if (before && cause && key_of(*before) == key_of(cause->back())) return;
  if (before) {
    context.events.emit(
        {.kind = "cause",
         .name = before->name,
         .phase = sys::Phase::finished,
         .fields = {{"description", fmt::format("no longer: {}", before->sentence)}, {"object", before->object}}});
  }
  if (cause) context.events.emit(diagnosis::to_event(*cause));
}

Result<> CauseWatch::run(const sys::Context& context, const Look& look_at_cluster) {
  Milliseconds before_look = pace_.first;
  for (;;) {
    if (!sys::pause(context, before_look)) return error(Code::cancelled, "stopped");
    const SteadyTime start = clock_.steady();
    const Result<std::vector<diagnosis::Chain>> chains = look_at_cluster(context);
    if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
    if (chains.ok()) {
      tell(context, choose(chains.value()));
    } else {
      context.log.debug("looking at the cluster: {}", chains.error().message());
    }
    const auto took = std::chrono::duration_cast<Milliseconds>(clock_.steady() - start);
    before_look = std::max(pace_.between, took * pace_.share);
  }
}

}  // namespace slipway::cluster
