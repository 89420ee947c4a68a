// Hosts, as their agents see the service.
#include "assist/host_progress.h"
#include "assist/replies.h"
#include "base/number.h"
#include "base/text.h"
#include "service/api_parts.h"
#include "service/discovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::service {

namespace {

using assist::HostStatus;
using assist::HostTrigger;

constexpr Milliseconds life_of_host_token = std::chrono::hours(24);
// A host with another key is another machine as long as the first one answers. Live systems make a new key at each boot.
constexpr Milliseconds silence_before_new_key = std::chrono::minutes(3);
constexpr Seconds longest_wait{50};
constexpr std::size_t most_held = 4000;  // requests; further agents ask in intervals
constexpr Milliseconds offset_step = Seconds(5);
constexpr int medium_lost = 256;
// The names and addresses that get certificates are those with which the installation began.
constexpr assist::Set<HostStatus> keeps_inventory = {HostStatus::preparing_for_installation, HostStatus::preparing_successful,
                                                     HostStatus::installing, HostStatus::installing_in_progress,
                                                     HostStatus::installing_pending_user_action};

struct Registration {
  std::string host{}, agent_version{}, boot_id{}, key{};
};

Result<Registration> read_registration(const Call& call) {
  const JsonObject body = TRY(body_object(call));
  Registration found{.host = TRY(require_string(body, {"host_id"}))};
  if (!is_uuid(found.host)) return error(Code::invalid, "host_id: '{}' is no UUID", to_utf8(found.host));
  found.agent_version = to_utf8(text_of(body, {"discovery_agent_version"})).substr(0, 256);
  found.boot_id = to_utf8(text_of(body, {"boot_id"})).substr(0, 64);
  found.key = text_of(body, {"public_key"});
  if (found.key.size() > 4096)
    return error(Code::invalid, "public_key: has {} bytes, at most 4096 are allowed", found.key.size());
  return found;
}

Result<> register_new(Edit& edit, const InfraEnvRecord& infra_env, const Registration& registration) {
  const auto cluster = look_up(edit.world().clusters, infra_env.cluster);
  const assist::HostChange change =
      assist::first_registration({.cluster = cluster ? std::optional(cluster->cluster.status) : std::nullopt});
  if (!change.refusal.empty()) return error(Code::conflict, "host {}: {}", registration.host, change.refusal);
  HostRecord record;
  record.host = {.id = registration.host, .infra_env = infra_env.id, .cluster = infra_env.cluster, .status = change.status};
  record.host.status_since = record.host.checked_in = edit.now();
  record.created = record.registered = record.updated = edit.now();
  record.status_info = change.info;
  record.agent_version = registration.agent_version;
  record.boot_id = registration.boot_id;
  record.key = registration.key;
  edit.add(event_of(record, "host_registration_succeeded", EventSeverity::info, "registered"));
  edit.touch(record);
  edit.put(std::move(record));
  return Ok{};
}

// is_in_use: another machine has the ID
Result<> register_again(Edit& edit, const HostRecord& old, const Registration& registration, WallTime contact, bool& is_in_use) {
  const bool is_other_key = old.key != registration.key && !old.key.empty();
  is_in_use = is_other_key && edit.now() - contact < silence_before_new_key;
  if (is_in_use) {
    return error(Code::conflict, "host {}: another machine with this ID answered {} ago: both may have the same serial number",
                 old.host.id, human_duration(edit.now() - contact));
  }
  const HostLook look = look_at(edit.world(), look_up(edit.world().hosts, old.table_key()));
  const assist::HostScene scene = look.scene(edit.now());
  assist::HostFacts facts = assist::host_facts(scene, old.validations, false);
  facts.is_same_boot = !registration.boot_id.empty() && registration.boot_id == old.boot_id && !is_other_key;
  const assist::HostChange change = assist::change_of(old.host.status, HostTrigger::registered, facts);
  if (!change.refusal.empty()) return error(Code::conflict, "host {}: {}", old.host.id, change.refusal);
  HostRecord record = old;
  record.agent_version = registration.agent_version;
  record.boot_id = registration.boot_id;
  record.key = registration.key;
  record.registered = record.updated = record.host.checked_in = edit.now();
  record.host.has_medium = true;
  if (is_other_key)
    edit.add(event_of(record, "host_registration_succeeded", EventSeverity::warning, "registered again with a new key"));
  edit.touch(record);
  if (change.status != old.host.status) {
    set_status(edit, std::move(record), change);
    return Ok{};
  }
  if (change.forgets_inventory) forget_inventory(record);
  edit.put(std::move(record));
  return Ok{};
}

bool is_lost(HostStatus status) { return status == HostStatus::disconnected || status == HostStatus::disconnected_unbound; }

Result<> note_clock(Api& api, const std::string& key, const HostRecord& record, const std::string& timestamp) {
  const auto seconds = parse_number<std::int64_t>(timestamp);
  if (!timestamp.empty() && (!seconds || *seconds < 0 || *seconds > 100'000'000'000))
    return error(Code::invalid, "timestamp: must be seconds since 1970");
  const Milliseconds offset = seconds ? WallTime(Seconds(*seconds)) - api.core.now() : record.host.clock_offset;
  // The timestamp has whole seconds, and the request took some time: only steps count.
  const bool has_moved = std::chrono::abs(offset - record.host.clock_offset) > offset_step;
  if (!has_moved && !is_lost(record.host.status)) return Ok{};
  return api.core.run([&](Edit& edit) -> Result<> {
    HostRecord changed = *TRY(host_of(edit.world(), key));
    if (has_moved) changed.host.clock_offset = offset;
    edit.touch(changed);
    edit.put(std::move(changed));
    return Ok{};
  });
}

std::optional<Seconds> wanted_wait(const net::ServerRequest& request) {
  constexpr std::string_view wait = "wait=";
  for (const std::string_view each : split(request.header("Prefer").value_or(""), ',')) {
    const std::string_view preference = trim(each);
    if (!preference.starts_with(wait)) continue;
    const auto seconds = parse_number<int>(preference.substr(wait.size()));
    if (seconds && *seconds > 0) return std::min(Seconds(*seconds), longest_wait);
  }
  return std::nullopt;
}

// What a failed step changes.
Result<> apply_failed(Edit& edit, HostRecord record, const std::string& type, const Json& argument, int exit_code,
                      const std::string& why) {
  if (exit_code == medium_lost) {
    record.host.has_medium = false;
    edit.add(event_of(record, "host_media_disconnected", EventSeverity::warning, "cannot read its discovery image any more"));
  } else if (type == "install") {
    edit.add(
        event_of(record, "host_installation_failed", EventSeverity::error, fmt::format("the installer did not start: {}", why)));
    const std::string key = record.table_key();
    edit.put(std::move(record));
    return trigger(edit, key, HostTrigger::installation_failed);
  } else {
    assist::apply_failure(record.host, type, argument);
    edit.add(event_of(record, "host_step_failed", EventSeverity::warning, fmt::format("step {} failed: {}", type, why)));
  }
  edit.put(std::move(record));
  return Ok{};
}

void tell_of_checks(Edit& edit, const HostRecord& record, const std::string& type) {
  if (type == "container-image-availability" && record.host.checks.images) {
    const bool all = std::ranges::all_of(*record.host.checks.images, [](const auto& each) { return each.second; });
    edit.add(event_of(record, "image_status_updated", all ? EventSeverity::info : EventSeverity::warning,
                      all ? "can pull the images of the release" : "cannot pull the images of the release"));
  }
}

}  // namespace

Answer register_host(Api& api, const Call& call) {
  const Registration registration = TRY(read_registration(call));
  if (!registration.key.empty()) {
    // Who registers proves to have the key.
    if (const Result<> signature = check_signature(call.request, registration.key); !signature.ok()) {
      return json_answer(401, {{"code", 401}, {"message", signature.error().message()}});
    }
  } else if (api.options.authenticates) {
    return error(Code::invalid, "public_key: missing: this service only takes hosts whose agent has a key");
  }
  const std::string key = host_key(call.target.infra_env, registration.host);
  std::string token;
  WallTime expires{};
  bool is_in_use = false;
  const Result<> done = api.core.run([&](Edit& edit) -> Result<> {
    const auto infra_env = TRY(infra_env_of(edit.world(), call.target.infra_env));
    if (const auto old = look_up(edit.world().hosts, key)) {
      TRY(register_again(edit, *old, registration, api.core.contact_of(*old), is_in_use));
    } else {
      TRY(register_new(edit, *infra_env, registration));
    }
    if (!api.options.authenticates) return Ok{};
    for (const auto& [id, each] : Table<TokenRecord>(edit.world().tokens)) {
      if (each->kind == TokenKind::host && host_key(each->infra_env, each->host) == key) edit.remove(Kind::token, id);
    }
    expires = edit.now() + life_of_host_token;
    token =
        TRY(issue_token(edit, api.environment.random,
                        {.kind = TokenKind::host, .infra_env = infra_env->id, .host = registration.host, .expires = expires}));
    return Ok{};
  });
  if (!done.ok() && is_in_use) {
    return json_answer(409, {{"kind", "Error"},
                             {"id", 409},
                             {"href", ""},
                             {"code", "409"},
                             {"reason", done.error().message()},
                             {"cause", "host-id-in-use"}});
  }
  TRY(done);
  api.core.note_contact(key);
  api.feed.forget(key);
  const auto record = TRY(api.core.look([&](const World& world) { return host_of(world, key); }));
  const auto cluster = api.core.look([&](const World& world) { return look_up(world.clusters, record->host.cluster); });
  Json view = view_of(*record, cluster.get(), api.core.contact_of(*record));
  JsonObject& object = view.get_object();
  object["next_step_runner_command"] = Json{{"command", ""}, {"args", JsonArray{}}, {"retry_seconds", 60}};
  if (!token.empty()) {
    object["host_token"] = token;
    object["host_token_expires_at"] = to_rfc3339(expires);
  }
  return json_answer(201, view);
}

Answer get_instructions(Api& api, const Call& call) {
  const std::string key = call.key();
  const auto record = TRY(api.core.look([&](const World& world) { return host_of(world, key); }));
  api.core.note_contact(key);
  TRY(note_clock(api, key, *record, call["timestamp"]));
  const std::optional<Seconds> wait = wanted_wait(call.request);
  if (wait && api.feed.held() < most_held) {
    return net::ServerAnswer{.status = 200,
                             .headers = {{"Content-Type", "application/json"},
                                         {"Cache-Control", "no-store"},
                                         {"Preference-Applied", fmt::format("wait={}", wait->count())}},
                             .stream = api.feed.hold(key, *wait)};
  }
  const std::optional<assist::Steps> steps = api.steps_of(key);
  if (!steps) return error(Code::not_found, "the host does not exist");
  api.feed.note_given(key, *steps);
  net::ServerAnswer answer = net::text_answer(200, instructions_text(*steps), "application/json");
  answer.headers.push_back({"Cache-Control", "no-store"});
  return answer;
}

Answer post_reply(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const std::string type = TRY(require_string(body, {"step_type"}));
  const int exit_code = integer_of(body, {"exit_code"});
  const std::string text = text_of(body, {"output"});
  const bool is_kept = exit_code == 0 && assist::is_kept(type);
  const Json output = is_kept ? TRY(parse_part(text, fmt::format("output of {}", to_utf8(type)))) : Json();
  api.core.note_contact(call.key());
  // The argument of a failed check says what failed.
  Json argument;
  if (exit_code != 0) {
    if (const auto steps = api.steps_of(call.key())) {
      for (const assist::Step& step : steps->steps) {
        if (step.type != type || step.argument.empty()) continue;
        if (Result<Json> parsed = parse_json(step.argument, "argument"); parsed.ok()) argument = std::move(parsed).value();
      }
    }
  }
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    HostRecord record = *TRY(host_of(edit.world(), call.key()));
    if (exit_code != 0) {
      edit.touch(record);
      return apply_failed(edit, std::move(record), to_utf8(type), argument, exit_code,
                          to_utf8(text_of(body, {"error"})).substr(0, 2000));
    }
    if (!is_kept) return Ok{};
    // The same output again changes nothing.
    if (const auto old = record.outputs.find(type);
        old != record.outputs.end() && old->second == output && record.host.has_medium)
      return Ok{};
    edit.touch(record);
    if (type == "inventory" && keeps_inventory.contains(record.host.status)) {
      return error(Code::conflict, "host {} is {}: its hardware does not change now", record.host.id,
                   assist::to_string(record.host.status));
    }
    TRY(assist::apply_output(record.host, type, output));
    record.outputs[type] = output;
    record.host.has_medium = true;
    tell_of_checks(edit, record, type);
    edit.put(std::move(record));
    return Ok{};
  }));
  return empty_answer(204);
}

Answer put_progress(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const std::string name = TRY(require_string(body, {"current_stage"}));
  const auto stage = assist::find_stage(name);
  if (!stage) return error(Code::invalid, "current_stage: '{}' is no stage", to_utf8(name));
  const std::string info = to_utf8(text_of(body, {"progress_info"})).substr(0, 2000);
  if (call.caller.kind == TokenKind::host) api.core.note_contact(call.key());
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    HostRecord record = *TRY(host_of(edit.world(), call.key()));
    const auto cluster = look_up(edit.world().clusters, record.host.cluster);
    if (!cluster) return error(Code::conflict, "host {} has no cluster", record.host.id);
    TRY(assist::check_progress(assist::placement_of(record.host, cluster->cluster), record.host.stage, *stage));
    const std::optional<assist::Stage> before = record.host.stage;
    // A failure keeps the stage in which it happened.
    HostRecord reported = record;
    reported.host.stage = *stage;
    reported.host.stage_since = edit.now();
    reported.progress_info = info;
    if (before != *stage) reported.stage_started = edit.now();
    edit.put(reported);
    TRY(trigger(edit, call.key(), HostTrigger::progress));
    if (*stage == assist::Stage::failed) {
      HostRecord failed = *TRY(host_of(edit.world(), call.key()));
      failed.host.stage = before;
      failed.status_info = info.empty() ? failed.status_info : fmt::format("{}: {}", failed.status_info, info);
      edit.put(std::move(failed));
    }
    edit.add(event_of(reported, "host_install_progress_updated",
                      *stage == assist::Stage::failed ? EventSeverity::error : EventSeverity::info,
                      info.empty() ? std::string(name) : fmt::format("{} ({})", name, info), {{"stage", name}}));
    edit.touch(record);
    return Ok{};
  }));
  return empty_answer(200);
}

Answer put_logs_progress(Api& api, const Call& call) {
  const JsonObject body = TRY(body_object(call));
  const std::string state = TRY(require_string(body, {"logs_state"}));
  constexpr std::array<std::string_view, 4> states = {"requested", "collecting", "completed", "timeout"};
  if (std::ranges::find(states, state) == states.end())
    return error(Code::invalid, "logs_state: '{}' is no state", to_utf8(state));
  TRY(api.core.run([&](Edit& edit) -> Result<> {
    HostRecord record = *TRY(host_of(edit.world(), call.key()));
    record.logs_state = state;
    edit.put(std::move(record));
    return Ok{};
  }));
  return empty_answer(204);
}

Answer get_final_ignition(Api& api, const Call& call) {
  const auto record = TRY(api.core.look([&](const World& world) { return host_of(world, call.key()); }));
  constexpr assist::Set<HostStatus> installing = {HostStatus::installing, HostStatus::installing_in_progress,
                                                  HostStatus::installing_pending_user_action};
  if (!installing.contains(record->host.status)) {
    return error(Code::conflict, "host {} is {}: its config is only given while it is installed", record->host.id,
                 assist::to_string(record->host.status));
  }
  if (record->key != record->key_of_installation)
    return error(Code::denied, "the host has another key than when its installation began");
  const std::string name = fmt::format("{}.ign", assist::to_string(record->host.effective_role()));
  const auto cluster = TRY(api.core.look([&](const World& world) { return cluster_of(world, record->host.cluster); }));
  std::optional<std::string> base = TRY(api.core.file(record->host.cluster, name));
  if (is_imported(*cluster)) base = pointer_ignition(cluster->cluster, text_of(record->overrides, {"ignition_token"}));
  if (!base) return error(Code::conflict, "{} does not exist yet", name);
  const auto infra_env = TRY(api.core.look([&](const World& world) { return infra_env_of(world, record->host.infra_env); }));
  return file_answer(TRY(host_ignition(*record, *base, infra_env->settings)),
                     fmt::format("{}-{}.ign", assist::to_string(record->host.effective_role()), record->host.id));
}

}  // namespace slipway::service
