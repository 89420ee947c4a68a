#!/usr/bin/env bash
# For people: makes /opt/openshift/master.ign anew, the config that this machine is installed with, of what is on it now. Ends etcd
# where it still runs. bootkube.service has done the same already.

set -euo pipefail
. /usr/local/bin/release-image.sh

for stage in stop-etcd master-ignition; do
    /usr/local/bin/slipway-node bootstrap --release-image="$RELEASE_IMAGE_DIGEST" stage "$stage"
done
