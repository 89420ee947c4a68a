// Metrics of the programs of a machine. Each offers its own on a socket of the machine's network namespace, and one program
// serves those of all to Prometheus (docs/metrics.md): one port, one certificate and one check of a token instead of one for each
// operator.
#pragma once

#include "base/metrics.h"
#include "components/program/socket_command.h"
#include "sys/context.h"
#include "sys/files.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::components {

// Offers the metrics until the result is destroyed. A failure is logged and gives null: the program works without them.
//
//   metrics, files  must outlive the result
//   program         "dns-operator": label `program` of each sample
//   identity        unique on the machine: pod_identity
//   version         of the release
std::unique_ptr<SocketResponder> offer_metrics(const sys::Context& context, sys::Files& files, Metrics& metrics,
                                               const std::string& program, const std::string& identity,
                                               const std::string& version);

// The names of the sockets in the text of /proc/net/unix, each once. Pure.
std::vector<std::string> metrics_sockets(std::string_view proc_net_unix);

// The document for Prometheus, with the metrics of all programs of this network namespace. A program that does not answer within
// a second is left out and logged.
std::string collect_metrics(const sys::Context& context, sys::Files& files);

}  // namespace slipway::components
