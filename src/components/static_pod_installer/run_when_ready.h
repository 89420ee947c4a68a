// run-when-ready: starts a program after a server answers, for example the API server after its own etcd member.
#pragma once

#include "components/program/program.h"
#include "net/url.h"

#include <string>
#include <vector>

namespace slipway::components::static_pod_installer {

struct Gate {
  net::Url url;
  // Paths of files, read again for each request. Empty: the authorities of the system, no client certificate.
  std::string ca{}, certificate{}, key{};
  Milliseconds limit{};
  std::vector<std::string> program;  // with its arguments
};

// errors: invalid
Result<Gate> parse_gate(const Arguments& arguments);

// Sends requests until the answer is 200, at the end five times a second, because nothing announces that a server is ready.
//
//   errors  timeout, with the last answer; cancelled
Result<> wait_until_open(const Environment& environment, const Gate& gate);

// `run-when-ready --url=URL [--ca=FILE] [--cert=FILE --key=FILE] [--limit=10m] -- PROGRAM ARGUMENT...`: waits, then replaces this
// process by the program. Returns only after a failure.
Result<> run_when_ready(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::static_pod_installer
