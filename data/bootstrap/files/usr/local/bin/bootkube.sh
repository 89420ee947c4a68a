#!/usr/bin/env bash
# Bootstraps the cluster. The stages are in slipway-node; each leaves /opt/openshift/STAGE.done, so that the same command
# again goes on where this one ended.

set -euo pipefail
. /usr/local/bin/release-image.sh

# Manifests have keys and passwords in them. /opt/openshift/tls stays open: the journal gateway reads its certificate there.
for folder in manifests openshift auth bootstrap-manifests; do
    mkdir -p "/opt/openshift/$folder"
    chmod 0700 "/opt/openshift/$folder"
done
exec /usr/local/bin/slipway-node bootstrap --release-image="$RELEASE_IMAGE_DIGEST"
