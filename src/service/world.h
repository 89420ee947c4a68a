// All records of the service, and changes of them that are made together or not at all.
#pragma once

#include "service/records.h"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slipway::service {

// Records are never changed, only replaced: a pointer to one is a snapshot.
template <class Record>
using Table = std::map<std::string, std::shared_ptr<const Record>, std::less<>>;

struct World {
  Table<InfraEnvRecord> infra_envs{};
  Table<ClusterRecord> clusters{};
  Table<HostRecord> hosts{};  // by host_key()
  Table<TokenRecord> tokens{};

  // Of a cluster, or of a discovery environment, in the order of their keys.
  std::vector<std::shared_ptr<const HostRecord>> hosts_of_cluster(std::string_view cluster) const;
  std::vector<std::shared_ptr<const HostRecord>> hosts_of_infra_env(std::string_view infra_env) const;
};

// The record with this key; null if there is none.
template <class Record>
std::shared_ptr<const Record> look_up(const Table<Record>& table, std::string_view key) {
  const auto found = table.find(key);
  return found == table.end() ? nullptr : found->second;
}

enum class Kind : std::uint8_t { infra_env, cluster, host, token };
std::string_view to_string(Kind kind);

// A file of a cluster or of a host, for instance bootstrap.ign.
struct FileChange {
  std::string owner;  // ID of the cluster, or host_key()
  std::string name;   // empty: all files of the owner
  std::string content{};
  bool is_removal = false;
};

// Changes of a world. A part of them, or all, can be undone.
class Edit {
 public:
  Edit(World& world, WallTime now) : world_(world), now_(now) {}

  const World& world() const { return world_; }
  WallTime now() const { return now_; }

  void put(InfraEnvRecord record);
  void put(ClusterRecord record);
  void put(HostRecord record);
  void put(TokenRecord record);
  void remove(Kind kind, const std::string& key);
  void put_file(std::string owner, std::string name, std::string content);
  void remove_file(std::string owner, std::string name);
  void remove_files(std::string owner);

  // Something happened. Its time is now().
  void add(EventRecord event);

  // The cluster, or the host in the pool, is to be looked at again (refresh.h).
  void touch_cluster(const std::string& id) { touched_clusters_.insert(id); }
  void touch(const HostRecord& record);  // its cluster, or itself
  void touch_host(const std::string& key) { touched_hosts_.insert(key); }

  // A place to return to.
  struct Mark {
    std::size_t undo = 0, events = 0, files = 0;
  };
  Mark mark() const { return {undo_.size(), events_.size(), files_.size()}; }
  void undo(Mark mark);

  const std::set<std::pair<Kind, std::string>>& changed() const { return changed_; }
  std::vector<EventRecord>& events() { return events_; }
  const std::vector<FileChange>& files() const { return files_; }
  std::set<std::string> take_touched_clusters() { return std::exchange(touched_clusters_, {}); }
  std::set<std::string> take_touched_hosts() { return std::exchange(touched_hosts_, {}); }

 private:
  template <class Record>
  void replace(Table<Record>& table, Kind kind, const std::string& key, std::shared_ptr<const Record> record);

  World& world_;
  WallTime now_;
  std::vector<std::function<void()>> undo_;
  std::set<std::pair<Kind, std::string>> changed_;
  std::vector<EventRecord> events_;
  std::vector<FileChange> files_;
  std::set<std::string> touched_clusters_, touched_hosts_;
};

// Copies the changed records of one world to another.
void publish(const std::set<std::pair<Kind, std::string>>& changed, const World& from, World& to);

}  // namespace slipway::service
