// ServiceRecord: the history of a service of the bootstrap machine, written from events in the format that `openshift-install
// analyze` reads (openshift/installer pkg/gather/service). /var/log/openshift/SERVICE.json is one JSON array that grows with each
// restart.
//
//   [{"timestamp":"2026-11-21T09:30:00Z","phase":"service start"},
//    {"timestamp":"2026-11-21T09:30:01Z","stage":"etcd-bootstrap","phase":"stage start"},
//    {"timestamp":"2026-11-21T09:30:02Z","stage":"etcd-bootstrap","phase":"stage end","result":"success"},
//    {"timestamp":"2026-11-21T09:35:00Z","phase":"service end","result":"success"}]
//
// bootstrap-service-record.sh writes the same format for services that are scripts.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "sys/clock.h"
#include "sys/events.h"
#include "sys/files.h"

#include <functional>
#include <map>
#include <string>

namespace slipway::bootstrap {

// Errors never stop the service: an entry that cannot be written is lost, and on_failure is called for the first one. Threads:
// the sink is called by one thread at a time; start and end before and after all events.
class ServiceRecord {
 public:
  ServiceRecord(sys::Files& files, sys::Clock& clock, std::string path, std::function<void(const Error&)> on_failure);

  void start();
  void end(const Result<>& result);

  // Records events of kind "stage", and failed events of kind "check" with the end of their stage. The record must outlive the
  // sink.
  sys::Events::Sink sink();

 private:
  void add(WallTime time, std::string_view stage, std::string_view phase, std::string_view result, std::string_view message);
  Result<> append(JsonObject entry);

  sys::Files& files_;
  sys::Clock& clock_;
  std::string path_;
  std::function<void(const Error&)> on_failure_;
  bool has_failed_ = false;
  std::map<std::string, std::string> failed_checks_;  // message by stage
};

}  // namespace slipway::bootstrap
