// First start of an etcd member without data.
//
// The leader of etcd 3.6 sends every new member a snapshot, because its log does not keep the first entry. A member publishes its
// name as soon as it knows the leader. When the snapshot already contains that name, the member does not see the answer: it
// serves no requests until it publishes the name again, seven seconds later (etcd server 3.6, publishV3). When etcd is restarted
// with the snapshot on its disk, it publishes the name at once.
#pragma once

#include "components/program/program.h"

namespace slipway::components::etcd {

// `cluster-etcd-operator start-member --data-dir=FOLDER -- PROGRAM ARGUMENT...`: replaces this process with PROGRAM (etcd).
// Without data it first runs PROGRAM as a child process and stops it when a snapshot is received. If no snapshot is received,
// PROGRAM stays a child process.
//
//   time    until PROGRAM ends
//   errors  those of PROGRAM; cancelled
Result<> run_start_member(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::etcd
