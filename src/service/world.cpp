#include "service/world.h"

namespace slipway::service {

std::vector<std::shared_ptr<const HostRecord>> World::hosts_of_cluster(std::string_view cluster) const {
  std::vector<std::shared_ptr<const HostRecord>> found;
  for (const auto& [key, record] : hosts) {
    if (!cluster.empty() && record->host.cluster == cluster) found.push_back(record);
  }
  return found;
}

std::vector<std::shared_ptr<const HostRecord>> World::hosts_of_infra_env(std::string_view infra_env) const {
  std::vector<std::shared_ptr<const HostRecord>> found;
  const std::string prefix = host_key(infra_env, "");
  for (auto next = hosts.lower_bound(prefix); next != hosts.end() && next->first.starts_with(prefix); ++next)
    found.push_back(next->second);
  return found;
}

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::infra_env: return "infra_env";
    case Kind::cluster: return "cluster";
    case Kind::host: return "host";
    case Kind::token: break;
  }
  return "token";
}

template <class Record>
void Edit::replace(Table<Record>& table, Kind kind, const std::string& key, std::shared_ptr<const Record> record) {
  undo_.push_back([&table, key, old = look_up(table, key)] {
    if (old) {
      table[key] = old;
    } else {
      table.erase(key);
    }
  });
  changed_.emplace(kind, key);
  if (record) {
    table[key] = std::move(record);
  } else {
    table.erase(key);
  }
}

void Edit::put(InfraEnvRecord record) {
  const std::string key = record.id;
  replace(world_.infra_envs, Kind::infra_env, key, std::make_shared<const InfraEnvRecord>(std::move(record)));
}
void Edit::put(ClusterRecord record) {
  const std::string key = record.cluster.id;
  replace(world_.clusters, Kind::cluster, key, std::make_shared<const ClusterRecord>(std::move(record)));
}
void Edit::put(HostRecord record) {
  const std::string key = record.table_key();
  replace(world_.hosts, Kind::host, key, std::make_shared<const HostRecord>(std::move(record)));
}
void Edit::put(TokenRecord record) {
  const std::string key = record.id;
  replace(world_.tokens, Kind::token, key, std::make_shared<const TokenRecord>(std::move(record)));
}

void Edit::remove(Kind kind, const std::string& key) {
  switch (kind) {
    case Kind::infra_env: return replace<InfraEnvRecord>(world_.infra_envs, kind, key, nullptr);
    case Kind::cluster: return replace<ClusterRecord>(world_.clusters, kind, key, nullptr);
    case Kind::host: return replace<HostRecord>(world_.hosts, kind, key, nullptr);
    case Kind::token: return replace<TokenRecord>(world_.tokens, kind, key, nullptr);
  }
}

void Edit::put_file(std::string owner, std::string name, std::string content) {
  files_.push_back({std::move(owner), std::move(name), std::move(content)});
}
void Edit::remove_file(std::string owner, std::string name) {
  files_.push_back({.owner = std::move(owner), .name = std::move(name), .is_removal = true});
}
void Edit::remove_files(std::string owner) { files_.push_back({.owner = std::move(owner), .name = "", .is_removal = true}); }

void Edit::touch(const HostRecord& record) {
  if (record.host.cluster.empty()) {
    touch_host(record.table_key());
  } else {
    touch_cluster(record.host.cluster);
  }
}

void Edit::add(EventRecord event) {
  event.at = now_;
  events_.push_back(std::move(event));
}

void Edit::undo(Mark mark) {
  while (undo_.size() > mark.undo) {
    undo_.back()();
    undo_.pop_back();
  }
  events_.resize(mark.events);
  files_.resize(mark.files);
}

namespace {

template <class Record>
void copy(const std::string& key, const Table<Record>& from, Table<Record>& to) {
  if (auto record = look_up(from, key)) {
    to[key] = std::move(record);
  } else {
    to.erase(key);
  }
}

}  // namespace

void publish(const std::set<std::pair<Kind, std::string>>& changed, const World& from, World& to) {
  for (const auto& [kind, key] : changed) {
    switch (kind) {
      case Kind::infra_env: copy(key, from.infra_envs, to.infra_envs); break;
      case Kind::cluster: copy(key, from.clusters, to.clusters); break;
      case Kind::host: copy(key, from.hosts, to.hosts); break;
      case Kind::token: copy(key, from.tokens, to.tokens); break;
    }
  }
}

}  // namespace slipway::service
