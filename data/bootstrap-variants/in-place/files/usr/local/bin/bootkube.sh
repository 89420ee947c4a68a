#!/usr/bin/env bash
# Bootstraps a cluster of one node on the machine that will be that node. The control plane's manifests are created as on every
# bootstrap machine, but nothing is handed over: bootstrap-in-place.sh puts the control plane into this machine's own Ignition
# config, and install-to-disk.service installs it.
#
# Each step leaves /opt/openshift/STEP.done, so that the same command again goes on where this one ended.

set -euo pipefail
. /usr/local/bin/bootstrap-service-record.sh
. /usr/local/bin/release-image.sh

# Stages of slipway-node, as far as a control plane of its own needs them, in an order that has what each one needs.
STAGES=(
    openshift-manifests
    api-render api-bootstrap
    freeze-manifests
    cvo-render cvo-bootstrap
    etcd-render etcd-bootstrap
    config-render config-bootstrap
    kube-apiserver-render kube-apiserver-bootstrap
    kube-controller-render kube-controller-manager-bootstrap
    kube-scheduler-render kube-scheduler-bootstrap
    ingress-render ingress-operator-bootstrap
    node-tuning-render node-tuning-bootstrap
    cco-render cco-bootstrap
    mco-render mco-bootstrap
    wait-for-etcd
)

# Manifests have keys and passwords in them. /opt/openshift/tls stays open: the journal gateway reads its certificate there.
for folder in manifests openshift auth bootstrap-manifests; do
    mkdir -p "/opt/openshift/$folder"
    chmod 0700 "/opt/openshift/$folder"
done

for stage in "${STAGES[@]}"; do
    if [[ ! -e /opt/openshift/$stage.done ]]; then
        SERVICE_RECORDS_DIR=/run/bootkube-stages /usr/local/bin/slipway-node bootstrap --release-image="$RELEASE_IMAGE_DIGEST" stage "$stage"
    fi
done

# No pod of the cluster has to run before the temporary control plane ends: there is no other machine where it could.
if [[ ! -e /opt/openshift/cb-bootstrap.done ]]; then
    record_service_stage_start cb-bootstrap
    podman rm --force --ignore cluster-bootstrap >/dev/null
    podman run --name=cluster-bootstrap --rm --net=host \
        --volume=/opt/openshift:/assets:z --volume=/etc/kubernetes:/etc/kubernetes:z \
        --entrypoint=/cluster-bootstrap "$(image_for cluster-bootstrap)" \
        start --tear-down-early=false --asset-dir=/assets --required-pods=
    touch /opt/openshift/cb-bootstrap.done
    record_service_stage_success
fi

. /usr/local/bin/bootstrap-in-place.sh
touch /opt/openshift/.bootkube.done
