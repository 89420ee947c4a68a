// In place: how the machine of a single node becomes that node after its bootstrap. etcd stops, and the files of the machine
// become an Ignition config, with which install-to-disk.service installs the machine.
#pragma once

#include "base/result.h"
#include "net/http.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>

namespace slipway::bootstrap {

// Who says what the config is made of; it is there on such machines only.
inline constexpr const char* in_place_template = "bootstrap-in-place/master-update.fcc";
// Where etcd's static pod goes.
inline constexpr const char* stopped_etcd_pod = "/etc/kubernetes/etcd-member-pod.yaml";

// Takes etcd's static pod away and waits until nobody has its data open: what is copied then is whole.
//
//   errors  timeout; not_found: there is no data
//   time    up to 5 minutes
Result<> stop_etcd(const sys::Context& context, sys::Files& files, sys::Runner& runner);

// Writes ASSETS/original-master.ign, the config that any master would be given, by the server of this machine.
//
//   errors  denied, invalid: what it answers; timeout
//   time    up to 10 minutes: it may still be rendering
Result<> fetch_master_config(const sys::Context& context, sys::Files& files, net::Http& http, const std::string& assets);

// Writes ASSETS/log-bundle-bootstrap.tar.gz: the log of this system is gone with the next boot.
Result<> gather_logs(const sys::Context& context, sys::Runner& runner, const std::string& assets);

}  // namespace slipway::bootstrap
