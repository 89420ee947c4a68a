#!/usr/bin/env bash
# Bootstraps the cluster. The stages are in slipway-node. Each stage leaves /opt/openshift/STAGE.done, so that the same
# command continues where it stopped.

set -euo pipefail
. /usr/local/bin/release-image.sh

# Manifests contain keys and passwords. /opt/openshift/tls stays readable: the journal gateway reads its certificate there.
for folder in manifests openshift auth bootstrap-manifests; do
    mkdir -p "/opt/openshift/$folder"
    chmod 0700 "/opt/openshift/$folder"
done
exec /usr/local/bin/slipway-node bootstrap --release-image="$RELEASE_IMAGE_DIGEST"
