// Store: the records, events and files of the service in a database.
#pragma once

#include "database/database.h"
#include "service/world.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::service {

// Which events. Lists that are empty do not filter.
struct EventQuery {
  std::string cluster{}, infra_env{};
  std::vector<std::string> hosts{};
  std::vector<std::string> severities{};
  std::string message{};   // a part of the message
  std::int64_t after = 0;  // number of the last one that is known
  std::size_t limit = 0;   // 0: all
  std::size_t offset = 0;
  bool newest_first = false;
  bool cluster_level = false;  // only events without a host
};

struct EventPage {
  std::vector<EventRecord> events;
  std::array<std::size_t, 4> of_severity{};  // counts, also of those that the limit leaves out
  std::size_t total = 0;
};

// Threads: one at a time. errors: those of database::Database
class Store {
 public:
  static Result<Store> open(const std::string& path);

  Result<World> load();

  // Writes all changes in one transaction, and gives the events their numbers.
  Result<> write(Edit& edit);

  Result<EventPage> events(const EventQuery& query);

  Result<std::optional<std::string>> file(const std::string& owner, const std::string& name);
  Result<std::vector<std::string>> files(const std::string& owner);  // names

 private:
  explicit Store(database::Database database) : database_(std::move(database)) {}
  database::Database database_;
};

}  // namespace slipway::service
