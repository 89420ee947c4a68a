// In place: turns the bootstrap machine of a single-node cluster into its node. etcd stops, and the files of the machine become
// the Ignition config with which install-to-disk.service installs the machine.
#pragma once

#include "base/result.h"
#include "net/http.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>

namespace slipway::bootstrap {

// The template of that config; it exists on such machines only.
inline constexpr const char* in_place_template = "bootstrap-in-place/master-update.fcc";
// Where the static pod manifest of etcd is moved.
inline constexpr const char* stopped_etcd_pod = "/etc/kubernetes/etcd-member-pod.yaml";

// Removes the static pod of etcd and waits until no process has the data open, so that a copy of the data is consistent.
//
//   errors  timeout; not_found: the data does not exist
//   time    up to 5 minutes
Result<> stop_etcd(const sys::Context& context, sys::Files& files, sys::Runner& runner);

// Writes ASSETS/original-master.ign: the Ignition config of a master, from the server of this machine.
//
//   errors  denied, invalid: from the server; timeout
//   time    up to 10 minutes, because the server may still be rendering
Result<> fetch_master_config(const sys::Context& context, sys::Files& files, net::Http& http, const std::string& assets);

// Writes ASSETS/log-bundle-bootstrap.tar.gz: the logs of this system are lost at the next boot.
Result<> gather_logs(const sys::Context& context, sys::Runner& runner, const std::string& assets);

}  // namespace slipway::bootstrap
