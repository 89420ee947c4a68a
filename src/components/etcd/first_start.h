// How a member of etcd begins when it has no data yet.
//
// etcd 3.6 brings every new member up to date by a snapshot, since its log keeps no first entry. A member tells its name as soon
// as it knows who leads; when the snapshot already has that, the member does not learn that it was heard, and serves nobody until
// it tells it again, seven seconds later (etcd server 3.6, publishV3). Begun anew with the snapshot on its disk it tells it at
// once.
#pragma once

#include "components/program/program.h"

namespace slipway::components::etcd {

// `cluster-etcd-operator start-member --data-dir=FOLDER -- PROGRAM ARGUMENT...`: becomes etcd. Where there is no data yet, it
// first runs etcd below itself, until a snapshot came, and ends it then. Without a snapshot it stays above it.
//
//   errors  those of PROGRAM; cancelled
Result<> run_start_member(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::components::etcd
