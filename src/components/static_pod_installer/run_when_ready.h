// run-when-ready: the gate in front of a program that must not start before its server answers: the API server before its own
// member of etcd.
#pragma once

#include "components/program/program.h"
#include "net/url.h"

#include <string>
#include <vector>

namespace slipway::components::static_pod_installer {

struct Gate {
  net::Url url;
  std::string ca{}, certificate{},
      key{};  // files, read anew for each question; the system's authorities and no certificate when empty
  Milliseconds limit{};
  std::vector<std::string> program;  // and its arguments
};

// errors: invalid
Result<Gate> parse_gate(const Arguments& arguments);

// Asks until the answer is 200, at last five times a second: from outside nothing tells that a server became ready.
//   errors  timeout, with what was answered last; cancelled
Result<> wait_until_open(const Environment& environment, const Gate& gate);

// `run-when-ready --url=URL [--ca=FILE] [--cert=FILE --key=FILE] [--limit=10m] -- PROGRAM ARGUMENT...`: waits, then becomes the
// program. Returns only when that fails.
Result<> run_when_ready(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::static_pod_installer
