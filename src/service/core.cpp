#include "service/core.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::service {

namespace {

constexpr Milliseconds longest_sleep = std::chrono::minutes(10);
constexpr Milliseconds retry_after_failed_write = Seconds(5);

Error service_ends() { return error(Code::unavailable, "the service is shutting down"); }

}  // namespace

Core::Core(const sys::Context& context, Store store, World world, Installation& installation, CoreOptions options,
           Listener listener)
    : context_(context),
      store_(std::move(store)),
      world_(std::move(world)),
      published_(world_),
      installation_(installation),
      options_(options),
      listener_(std::move(listener)),
      settings_{.contact = [this](const HostRecord& record) { return contact_of(record); },
                .stops_at_limits = options.stops_at_limits} {
  contacts_.with_lock([&, now = contact_now()](auto& all) {
    for (const auto& [key, record] : world_.hosts) all[key] = now;
  });
}

Result<std::unique_ptr<Core>> Core::start(const sys::Context& context, Store store, Installation& installation,
                                          CoreOptions options, Listener listener) {
  World world = TRY(store.load());
  std::unique_ptr<Core> core(new Core(context, std::move(store), std::move(world), installation, options, std::move(listener)));
  // What happened while the service was away: limits may have passed, and preparations go on.
  core->thread_ = std::jthread([self = core.get()](const std::stop_token& stop) { self->run_loop(stop); });
  TRY(core->run([self = core.get()](Edit& edit) -> Result<> {
    for (const auto& [id, record] : edit.world().clusters) edit.touch_cluster(id);
    for (const auto& [key, record] : edit.world().hosts) {
      if (record->host.cluster.empty()) edit.touch_host(key);
    }
    for (const auto& [id, token] : Table<TokenRecord>(edit.world().tokens)) {
      if (token->expires <= edit.now()) edit.remove(Kind::token, id);
    }
    return Ok{};
  }));
  return core;
}

Core::~Core() {
  thread_.request_stop();
  wakeup_.notify();
  if (thread_.joinable()) thread_.join();
  for (auto& [cluster, thread] : preparations_) thread.request_stop();
  preparations_.clear();
}

Result<> Core::run(const Command& command) {
  std::promise<Result<>> promise;
  std::future<Result<>> future = promise.get_future();
  const bool is_closed = is_closed_.with_lock([&](bool closed) {
    if (!closed) waiting_.with_lock([&](std::vector<Waiting>& all) { all.push_back({command, std::move(promise)}); });
    return closed;
  });
  if (is_closed) return service_ends();
  wakeup_.notify();
  return future.get();
}

void Core::note_contact(const std::string& key) {
  contacts_.with_lock([&, now = contact_now()](auto& all) { all[key] = now; });
}

WallTime Core::contact_of(const HostRecord& record) const {
  const auto [steady, now] = contact_now();
  const auto contact = contacts_.with_lock([&](const auto& all) -> std::optional<Contact> {
    const auto found = all.find(record.table_key());
    return found == all.end() ? std::nullopt : std::optional(found->second);
  });
  if (!contact) return std::min(record.host.checked_in, now);  // it registers right now
  // Whole seconds: otherwise each look would find another time, by a millisecond.
  const Milliseconds set_by = (now - contact->wall) - (steady - contact->steady);
  const WallTime heard = std::min(contact->wall + std::chrono::round<Seconds>(set_by), now);
  // A registration counts before it is noted. A time in the future is from before the clock was set back.
  return record.host.checked_in <= now ? std::max(heard, record.host.checked_in) : heard;
}

void Core::forget_removed(const Edit& edit) {
  for (const auto& [kind, key] : edit.changed()) {
    if (kind != Kind::host || world_.hosts.contains(key)) continue;
    contacts_.with_lock([&, &gone = key](auto& all) { all.erase(gone); });
  }
}

Result<EventPage> Core::events(const EventQuery& query) {
  return store_.with_lock([&](Store& store) { return store.events(query); });
}

Result<std::optional<std::string>> Core::file(const std::string& owner, const std::string& name) {
  return store_.with_lock([&](Store& store) { return store.file(owner, name); });
}

Result<std::map<std::string, std::string>> Core::files(const std::string& owner) {
  return store_.with_lock([&](Store& store) -> Result<std::map<std::string, std::string>> {
    std::map<std::string, std::string> found;
    for (const std::string& name : TRY(store.files(owner))) found[name] = TRY(store.file(owner, name)).value_or("");
    return found;
  });
}

void Core::run_loop(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::uint64_t seen = wakeup_.count();
    start_preparations();
    std::vector<Waiting> batch = waiting_.with_lock([](std::vector<Waiting>& all) { return std::exchange(all, {}); });
    if (batch.empty() && next_wake() > context_.clock.steady()) {
      context_.clock.wait(next_wake(), stop, &wakeup_, seen);
      continue;
    }
    run_batch(std::move(batch));
  }
  is_closed_.with_lock([](bool& closed) { closed = true; });
  waiting_.with_lock([](std::vector<Waiting>& all) {
    for (Waiting& each : all) each.promise.set_value(service_ends());
    all.clear();
  });
}

void Core::run_batch(std::vector<Waiting> batch) {
  Edit edit(world_, context_.clock.now());
  std::vector<Result<>> results;
  for (const Waiting& each : batch) {
    const Edit::Mark mark = edit.mark();
    results.push_back(each.command(edit));
    if (!results.back().ok()) edit.undo(mark);
  }
  mark_passed_limits(edit);
  const std::set<std::string> clusters = edit.take_touched_clusters(), hosts = edit.take_touched_hosts();
  for (const std::string& id : clusters) refresh_cluster(edit, id, settings_);
  for (const std::string& key : hosts) refresh_host(edit, key, settings_);

  const bool has_changes = !edit.changed().empty() || !edit.events().empty() || !edit.files().empty();
  const Result<> written = has_changes ? store_.with_lock([&](Store& store) { return store.write(edit); }) : Result<>(Ok{});
  if (!written.ok()) {
    context_.log.error("cannot write the state: {}; the requests are refused", written.error().message());
    edit.undo({});
    const WallTime later = edit.now() + retry_after_failed_write;
    for (const std::string& id : clusters) limits_.clusters[id] = later;
    for (const std::string& key : hosts) limits_.hosts[key] = later;
  } else {
    published_.with_lock([&](World& world) { publish(edit.changed(), world_, world); });
    forget_removed(edit);
    update_limits(edit, clusters, hosts);
    if (listener_.on_events && !edit.events().empty()) listener_.on_events(edit.events());
    if (listener_.on_changes && !edit.changed().empty()) listener_.on_changes(edit.changed());
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (!written.ok() && results[i].ok()) {
      results[i] =
          error(written.error().code(), "the change could not be stored, so it did not happen: {}", written.error().message());
    }
    batch[i].promise.set_value(std::move(results[i]));
  }
}

void Core::mark_passed_limits(Edit& edit) {
  for (const auto& [id, limit] : limits_.clusters) {
    if (limit <= edit.now()) edit.touch_cluster(id);
  }
  for (const auto& [key, limit] : limits_.hosts) {
    if (limit <= edit.now()) edit.touch_host(key);
  }
}

void Core::update_limits(const Edit& edit, const std::set<std::string>& clusters, const std::set<std::string>& hosts) {
  const auto update = [](std::map<std::string, WallTime>& limits, const std::string& key, std::optional<WallTime> limit) {
    if (limit) {
      limits[key] = *limit;
    } else {
      limits.erase(key);
    }
  };
  for (const std::string& id : clusters) update(limits_.clusters, id, next_limit_of_cluster(world_, id, edit.now(), settings_));
  for (const std::string& key : hosts) {
    const auto record = look_up(world_.hosts, key);
    const bool is_in_pool = record && record->host.cluster.empty();
    update(limits_.hosts, key, is_in_pool ? next_limit_of_host(world_, key, edit.now(), settings_) : std::nullopt);
  }
}

SteadyTime Core::next_wake() const {
  const WallTime now = context_.clock.now();
  Milliseconds wait = longest_sleep;
  for (const auto* limits : {&limits_.clusters, &limits_.hosts}) {
    for (const auto& [key, limit] : *limits) wait = std::min(wait, std::max(limit - now, Milliseconds(0)));
  }
  return context_.clock.steady() + wait;
}

// Starts what a cluster that is being prepared still needs, also after a restart of the service.
void Core::start_preparations() {
  const std::set<std::string> ended = ended_preparations_.with_lock([](auto& all) { return std::exchange(all, {}); });
  for (const std::string& id : ended) preparations_.erase(id);
  for (const auto& [id, record] : world_.clusters) {
    const bool needs_files = record->cluster.status == assist::ClusterStatus::preparing_for_installation &&
                             !record->reports.assets_are_made && !record->reports.assets_failed;
    if (!needs_files || preparations_.contains(id)) continue;
    preparations_[id] = std::jthread([this, cluster = id](const std::stop_token& stop) { prepare(cluster, stop); });
  }
}

void Core::prepare(const std::string& cluster, const std::stop_token& stop) {
  InstallationRequest request = look([&](const World& world) -> InstallationRequest {
    return {.cluster = look_up(world.clusters, cluster), .hosts = world.hosts_of_cluster(cluster)};
  });
  if (request.cluster) {
    const Result<InstallationFiles> made = [&]() -> Result<InstallationFiles> {
      request.manifests = TRY(files(manifests_of(cluster)));
      return installation_.make(request, stop);
    }();
    const WallTime began = request.cluster->reports.preparation_began;
    (void)run([&](Edit& edit) -> Result<> {
      const auto old = look_up(edit.world().clusters, cluster);
      // A preparation that was cancelled, or another one, does not get these files.
      if (!old || old->cluster.status != assist::ClusterStatus::preparing_for_installation ||
          old->reports.preparation_began != began)
        return Ok{};
      ClusterRecord record = *old;
      record.reports.assets_are_made = made.ok();
      record.reports.assets_failed = !made.ok();
      if (made.ok()) {
        for (const auto& [name, content] : made.value()) edit.put_file(cluster, name, content);
      } else {
        record.preparation_reason = made.error().message();
      }
      edit.put(std::move(record));
      edit.touch_cluster(cluster);
      return Ok{};
    });
  }
  ended_preparations_.with_lock([&](auto& all) { all.insert(cluster); });
  wakeup_.notify();
}

}  // namespace slipway::service
