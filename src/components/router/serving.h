// Keeps haproxy as the Routes and pods of the cluster say, and tells how it is.
#pragma once

#include "base/guarded.h"
#include "components/controller/view.h"
#include "components/program/program.h"
#include "components/router/admission.h"
#include "components/router/proxy.h"
#include "net/http_server.h"

#include <functional>

namespace slipway::components::router {

// Certificates that the ingress operator mounts. What cannot be read or does not belong together leaves what was there, at first
// a certificate of our own making.
class MaterialReader {
 public:
  MaterialReader(sys::Files& files, const Options& options) : files_(files), options_(options) {}

  // Reads again. errors: internal: no certificate could be made
  Result<Material> read(const sys::Context& context);

 private:
  sys::Files& files_;
  const Options options_;
  Material material_;
  std::string told_;
};

// Threads: look() and finish() are called by one, the others by any.
class Serving {
 public:
  // changed: called when the next look should be at once
  Serving(const Environment& environment, const Options& options, std::function<void()> changed);

  // Brings haproxy to what a snapshot says, and returns when to look again though nothing changes. What takes another process of
  // haproxy waits until some time after the last one: 200 ms, doubled for each process that has connections still, at most 5 s.
  // What is wrong is logged and tried again.
  //
  //   errors  those of MaterialReader::read; internal
  Result<SteadyTime> look(const sys::Context& context, const Snapshot& seen);

  // What the status of routes depends on.
  AdmissionContext admission_context() const;

  // /healthz: haproxy answers, or was never started; /healthz/ready: it serves all routes that there were when we came.
  net::ServerAnswer answer(const net::ServerRequest& request) const;

  // From now on we are not ready.
  void leave();

  // Lets connections end.
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
