#include "service/store.h"

#include "data/data.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::service {

namespace {

using database::Bytes;
using database::Row;

template <class Record>
Result<> load_into(Table<Record>& table, const std::string& key, Result<Record> record) {
  if (!record.ok()) return std::move(record).error();
  table[key] = std::make_shared<const Record>(std::move(record).value());
  return Ok{};
}

template <class Record>
std::string body_of(const Table<Record>& table, const std::string& key) {
  const auto record = look_up(table, key);
  return record ? emit_json(to_json(*record), JsonStyle::compact) : std::string();
}

std::string body_of(const World& world, Kind kind, const std::string& key) {
  switch (kind) {
    case Kind::infra_env: return body_of(world.infra_envs, key);
    case Kind::cluster: return body_of(world.clusters, key);
    case Kind::host: return body_of(world.hosts, key);
    case Kind::token: break;
  }
  return body_of(world.tokens, key);
}

bool contains(const std::vector<std::string>& list, std::string_view text) {
  return list.empty() || std::ranges::find(list, text) != list.end();
}

bool matches(const EventRecord& event, const EventQuery& query) {
  return contains(query.hosts, event.host) && (!query.cluster_level || event.host.empty()) &&
         (query.message.empty() || event.message.find(query.message) != std::string::npos);
}

}  // namespace

Result<Store> Store::open(const std::string& path) {
  std::vector<std::string_view> migrations;
  for (const data::File& file : data::assist()) {
    if (file.path.starts_with("migrations/")) migrations.push_back(file.content);
  }
  return Store(TRY(database::Database::open(path, migrations)));
}

Result<World> Store::load() {
  World world;
  const auto on_row = [&](const Row& row) -> Result<> {
    const std::string kind = row.text(0), key = row.text(1);
    const Json body = TRY(parse_json(row.text(2), fmt::format("{} {}", kind, key)));
    if (kind == to_string(Kind::infra_env)) return load_into(world.infra_envs, key, parse_infra_env(body));
    if (kind == to_string(Kind::cluster)) return load_into(world.clusters, key, parse_cluster(body));
    if (kind == to_string(Kind::host)) return load_into(world.hosts, key, parse_host(body));
    return load_into(world.tokens, key, parse_token(body));
  };
  TRY(database_.run("SELECT kind, key, body FROM record", {}, on_row));
  return world;
}

Result<> Store::write(Edit& edit) {
  return database_.transaction([&]() -> Result<> {
    for (const auto& [kind, key] : edit.changed()) {
      const std::string body = body_of(edit.world(), kind, key);
      if (body.empty()) {
        TRY(database_.run("DELETE FROM record WHERE kind = ? AND key = ?", {to_string(kind), key}));
        TRY(database_.run("DELETE FROM file WHERE owner = ?", {key}));
        // The events of an object end with it, but for the one that says so.
        if (kind == Kind::cluster) TRY(database_.run("DELETE FROM event WHERE cluster = ?", {key}));
        if (kind == Kind::infra_env) TRY(database_.run("DELETE FROM event WHERE infra_env = ? AND cluster = ''", {key}));
      } else {
        TRY(database_.run("INSERT OR REPLACE INTO record (kind, key, body) VALUES (?, ?, ?)", {to_string(kind), key, body}));
      }
    }
    for (const FileChange& file : edit.files()) {
      if (file.is_removal) {
        TRY(database_.run("DELETE FROM file WHERE owner = ?1 AND (?2 = '' OR name = ?2)", {file.owner, file.name}));
      } else {
        TRY(database_.run("INSERT OR REPLACE INTO file (owner, name, content) VALUES (?, ?, ?)",
                          {file.owner, file.name, Bytes{file.content}}));
      }
    }
    for (EventRecord& event : edit.events()) {
      const std::string props = emit_json(event.props, JsonStyle::compact);
      TRY(database_.run(
          "INSERT INTO event (at, name, severity, cluster, infra_env, host, message, props) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          {std::int64_t{event.at.time_since_epoch().count()}, event.name, static_cast<std::int64_t>(event.severity),
           event.cluster, event.infra_env, event.host, event.message, props}));
      event.number = database_.last_id();
    }
    return Ok{};
  });
}

Result<EventPage> Store::events(const EventQuery& query) {
  EventPage page;
  std::vector<EventRecord> all;
  const auto on_row = [&](const Row& row) -> Result<> {
    EventRecord event{.number = row.number(0),
                      .at = WallTime(Milliseconds(row.number(1))),
                      .name = row.text(2),
                      .severity = static_cast<EventSeverity>(std::clamp<std::int64_t>(row.number(3), 0, 3)),
                      .cluster = row.text(4),
                      .infra_env = row.text(5),
                      .host = row.text(6),
                      .message = row.text(7)};
    const Json props = TRY(parse_json(row.text(8), "event"));
    if (props.is_object()) event.props = props.get_object();
    if (!matches(event, query)) return Ok{};
    ++page.of_severity[static_cast<std::size_t>(event.severity)];
    if (contains(query.severities, to_string(event.severity))) all.push_back(std::move(event));
    return Ok{};
  };
  TRY(
      database_.run("SELECT number, at, name, severity, cluster, infra_env, host, message, props FROM event "
                    "WHERE (?1 = '' OR cluster = ?1) AND (?2 = '' OR infra_env = ?2) AND number > ?3 ORDER BY number",
                    {query.cluster, query.infra_env, query.after}, on_row));
  page.total = all.size();
  if (query.newest_first) std::ranges::reverse(all);
  const std::size_t first = std::min(query.offset, all.size());
  const std::size_t count = query.limit == 0 ? all.size() - first : std::min(query.limit, all.size() - first);
  page.events.assign(std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(first)),
                     std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(first + count)));
  return page;
}

Result<std::optional<std::string>> Store::file(const std::string& owner, const std::string& name) {
  std::optional<std::string> content;
  const auto on_row = [&](const Row& row) -> Result<> {
    content = row.text(0);
    return Ok{};
  };
  TRY(database_.run("SELECT content FROM file WHERE owner = ? AND name = ?", {owner, name}, on_row));
  return content;
}

Result<std::vector<std::string>> Store::files(const std::string& owner) {
  std::vector<std::string> names;
  const auto on_row = [&](const Row& row) -> Result<> {
    names.push_back(row.text(0));
    return Ok{};
  };
  TRY(database_.run("SELECT name FROM file WHERE owner = ? ORDER BY name", {owner}, on_row));
  return names;
}

}  // namespace slipway::service
