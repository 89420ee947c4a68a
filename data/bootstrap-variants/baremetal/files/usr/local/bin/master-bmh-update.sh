#!/usr/bin/env bash
# Waits until the hosts of the control plane are provisioned. Then stops the provisioning services here, so that the address of
# the API can move to the masters, and lets the cluster provision the other hosts.
#
# The unit sets CONTROL_PLANE_REPLICA_COUNT.

set -euo pipefail
. /usr/local/bin/bootstrap-service-record.sh

# The API server runs here first, and later on the masters.
ask() {
    local kubeconfig
    for kubeconfig in kubeconfig-loopback kubeconfig; do
        ! timeout 60 kubectl --kubeconfig="/opt/openshift/auth/$kubeconfig" --namespace=openshift-machine-api --request-timeout=30s "$@" || return 0
    done
    return 1
}
provisioned() {
    ask get baremetalhosts --selector=installer.openshift.io/role=control-plane \
        --output=jsonpath='{range .items[*]}{.status.provisioning.state}{"\n"}{end}' | grep --count --line-regexp provisioned || true
}

record_service_stage_start wait-for-baremetalhosts
until ask get baremetalhosts >/dev/null; do
    sleep 20
done
record_service_stage_success

record_service_stage_start wait-for-control-plane-hosts
until [[ $(provisioned) -ge $CONTROL_PLANE_REPLICA_COUNT ]]; do
    sleep 20
done
record_service_stage_success

record_service_stage_start stop-provisioning
systemctl stop ironic.service
while systemctl --quiet is-active metal3-baremetal-operator.service; do
    sleep 10
done
record_service_stage_success

record_service_stage_start release-hosts
until ask annotate --overwrite baremetalhosts --all baremetalhost.metal3.io/paused-; do
    sleep 5
done
record_service_stage_success
