// Leader election: of several processes one works at a time. Uses a Lease (coordination.k8s.io/v1) like client-go.
//
//   lead(context, api, {.space = "kube-system", .name = "cluster-policy-controller-lock", .identity = id},
//        [&](const sys::Context& leading) { return work(leading); });
#pragma once

#include "base/guarded.h"
#include "base/json.h"
#include "base/result.h"
#include "kube/client.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/random.h"

#include <functional>
#include <optional>
#include <string>

namespace slipway::components {

struct LeaderOptions {
  std::string space;      // namespace of the Lease
  std::string name;       // of the Lease
  std::string identity;   // of this process, unique: see pod_identity
  Seconds duration{120};  // how long others wait after the last renewal of a leader that no longer answers
  // A leader that cannot renew for this long stops its work; less than `duration`. Counts from the start of the last successful
  // request. No request takes longer.
  Milliseconds renew_deadline{90'000};
  Milliseconds retry{10'000};  // between two renewals; two seconds at most after a failure
};

// The identity of a program as a holder of leases. With POD_NAME in the environment it is the pod's name, so that a restarted
// container does not wait for the lease of its crashed predecessor. Otherwise it is the host name and a random UUID.
//
//   errors   those of the files and of the random source
Result<std::string> pod_identity(sys::Files& files, sys::Random& random);

// A Lease and when it was last seen to change, by the local clock. Times that other processes wrote are not used.
struct SeenLease {
  Json object;
  SteadyTime changed{};
};

enum class LeaderStep {
  create,  // there is no Lease: create one with our identity
  take,    // it is free, ours or expired: write our identity into it
  wait,    // another process holds it
};

// What to do about a lease that we want. Pure.
LeaderStep decide(const std::optional<SeenLease>& lease, const LeaderOptions& options, SteadyTime now);

// When the lease expires if it does not change.
SteadyTime expiry(const SeenLease& lease, const LeaderOptions& options);

// The Lease with our identity. acquireTime and leaseTransitions change if we did not hold it before.
Json held_lease(const std::optional<SeenLease>& lease, const LeaderOptions& options, WallTime now);
// The Lease without a holder, so that the next leader need not wait.
Json released_lease(const Json& held, WallTime now);

// Our Lease as the server returned it, and when we sent that request: the time of other processes counts from a later moment.
struct HeldLease {
  Json object;
  SteadyTime renewed{};
};

// Renews the Lease until a stop.
//
//   errors  unavailable: not renewed within renew_deadline (no request takes longer), or another process holds it
Result<> keep_lease(const sys::Context& context, kube::Api& api, const LeaderOptions& options, Guarded<HeldLease>& held);

// Waits until this process is the leader, runs `work` while it renews the Lease, and releases the Lease when `work` ends or on a
// stop. A watch on the Lease reports a released one immediately.
//
//   work     gets a context that is stopped when the Lease is lost
//   errors   those of `work`; unavailable: the Lease was lost; cancelled; denied
//   threads  calls `work` on another thread
Result<> lead(const sys::Context& context, kube::Api& api, const LeaderOptions& options,
              const std::function<Result<>(const sys::Context&)>& work);

}  // namespace slipway::components
