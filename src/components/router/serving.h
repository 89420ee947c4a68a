// Updates haproxy when Routes or pods of the cluster change, and answers health checks.
#pragma once

#include "base/guarded.h"
#include "components/controller/view.h"
#include "components/program/program.h"
#include "components/router/admission.h"
#include "components/router/proxy.h"
#include "net/http_server.h"

#include <functional>

namespace slipway::components::router {

// Reads the certificates that the ingress operator mounts. If they are missing or invalid, the previous certificate stays; the
// first one is self-signed.
class MaterialReader {
 public:
  MaterialReader(sys::Files& files, const Options& options) : files_(files), options_(options) {}

  // Reads the files again. errors: internal: the self-signed certificate could not be generated
  Result<Material> read(const sys::Context& context);

 private:
  sys::Files& files_;
  const Options options_;
  Material material_;
  std::string logged_;
};

// Threads: one thread calls update() and finish(); any thread may call the other functions.
class Serving {
 public:
  // changed: called when update() should be called again at once
  Serving(const Environment& environment, const Options& options, std::function<void()> changed);

  // Updates haproxy from a snapshot. If a new process is required, it starts at the earliest 200 ms after the previous start; the
  // interval doubles with each process that still has connections, up to 5 s. Failures of haproxy are logged and retried.
  //
  //   returns  when to call it again if nothing changes
  //   errors   those of MaterialReader::read; internal
  Result<SteadyTime> update(const sys::Context& context, const Snapshot& seen);

  AdmissionContext admission_context() const;

  // Answers /healthz and /healthz/ready. /healthz is ok while haproxy answers or has not been started. /healthz/ready is ok once
  // haproxy has started with the routes of the first complete snapshot, until leave().
  net::ServerAnswer answer(const net::ServerRequest& request) const;

  // From now on /healthz/ready fails.
  void leave();

  // Waits until connections have ended, at most the drain limit.
  void finish(const sys::Context& context) { proxy_.finish(context, options_.drain_limit); }

 private:
  struct State {
    bool has_begun = false;
    bool is_leaving = false;
    AdmissionContext admission_context;
  };

  Result<> replace(const sys::Context& context, const std::vector<Route>& routes, const Slices& slices);
  Result<bool> leave_out(const sys::Context& context, const std::vector<Route>& routes, const Slices& slices);

  const Options options_;
  const std::function<void()> changed_;
  MaterialReader reader_;
  Material material_;
  Proxy proxy_;
  SteadyTime read_{}, not_before_{};
  Milliseconds pause_{};  // after a failure
  Guarded<State> state_;
};

}  // namespace slipway::components::router
