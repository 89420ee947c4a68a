// Leader: of several processes one works at a time, by a Lease (coordination.k8s.io/v1) as client-go keeps it.
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
  std::string space;                    // namespace of the Lease
  std::string name;                     // of the Lease
  std::string identity;                 // ours, of nobody else: see pod_identity
  Seconds duration{120};                // others wait that long after the last sign of a leader that does not answer any more
  Milliseconds renew_deadline{90'000};  // a leader that could not renew for so long stops its work: less than `duration`.
                                        // Counts from the moment before the last request that succeeded, and bounds requests
  Milliseconds retry{10'000};           // between two signs; after one that failed two seconds at most
};

// Who a program is as a holder of leases: its pod, when the environment has POD_NAME, so that a container that comes after one
// that crashed need not wait for the lease of its predecessor; else the host's name and something random.
//
//   errors   those of the files and of the random source
Result<std::string> pod_identity(sys::Files& files, sys::Random& random);

// A Lease as it was seen, and when it last changed by our own clock: clocks of others are not believed.
struct SeenLease {
  Json object;
  SteadyTime changed{};
};

enum class LeaderStep {
  create,  // there is no Lease: make one with our name
  take,    // it is nobody's, ours or expired: put our name into it
  wait,    // somebody holds it
};

// What to do about a lease when we want it. Pure.
LeaderStep decide(const std::optional<SeenLease>& lease, const LeaderOptions& options, SteadyTime now);

// When that answer becomes another one without the Lease changing: as it expires.
SteadyTime expiry(const SeenLease& lease, const LeaderOptions& options);

// The Lease with our name in it. acquired: it was not ours before
Json held_lease(const std::optional<SeenLease>& lease, const LeaderOptions& options, WallTime now);
// The Lease as we leave it: nobody's, so that the next one need not wait.
Json released_lease(const Json& held, WallTime now);

// Our Lease as the server answered, and when we asked for that answer: others count our time from a moment after it.
struct HeldLease {
  Json object;
  SteadyTime renewed{};
};

// Renews until a stop.
//
//   errors  unavailable: it could not be renewed within renew_deadline, which no request outlasts; another process holds it
Result<> keep_lease(const sys::Context& context, kube::Api& api, const LeaderOptions& options, Guarded<HeldLease>& held);

// Waits until we lead, works, renews meanwhile, and gives the Lease back when the work is over or a stop is asked for. Somebody's
// leaving is seen at once, by a watch.
//
//   work     gets a context that is stopped when we lose the Lease
//   errors   those of `work`; unavailable: the Lease was lost; cancelled; denied
//   threads  `work` is called on a thread of its own
Result<> lead(const sys::Context& context, kube::Api& api, const LeaderOptions& options,
              const std::function<Result<>(const sys::Context&)>& work);

}  // namespace slipway::components
