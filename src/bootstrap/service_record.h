// ServiceRecord: what a service of the bootstrap machine did, made from events, in the form that `openshift-install analyze`
// reads (openshift/installer pkg/gather/service). /var/log/openshift/SERVICE.json is one JSON array that grows with each restart.
//
//   [{"timestamp":"2026-11-21T09:30:00Z","phase":"service start"},
//    {"timestamp":"2026-11-21T09:30:01Z","stage":"etcd-bootstrap","phase":"stage start"},
//    {"timestamp":"2026-11-21T09:30:02Z","stage":"etcd-bootstrap","phase":"stage end","result":"success"},
//    {"timestamp":"2026-11-21T09:35:00Z","phase":"service end","result":"success"}]
//
// bootstrap-service-record.sh writes the same for services that are scripts.
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

// Telling never stops the work: a record that cannot be written is lost, and on_failure is told when that begins.
// Threads: the sink is called by one at a time; start and end before and after all events.
class ServiceRecord {
 public:
  ServiceRecord(sys::Files& files, sys::Clock& clock, std::string path, std::function<void(const Error&)> on_failure);

  void start();
  void end(const Result<>& result);

  // Records events of kind "stage" as they come, and failed ones of kind "check" with their stage's end. The record outlives the
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
