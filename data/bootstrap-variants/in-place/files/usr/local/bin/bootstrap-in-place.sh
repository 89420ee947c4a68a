#!/usr/bin/env bash
# For manual use: writes /opt/openshift/master.ign again from the current files of this machine. It is the config that the machine
# is installed with. Stops etcd if it still runs. bootkube.service has done the same before.

set -euo pipefail
. /usr/local/bin/release-image.sh

for stage in stop-etcd master-ignition; do
    /usr/local/bin/slipway-node bootstrap --release-image="$RELEASE_IMAGE_DIGEST" stage "$stage"
done
