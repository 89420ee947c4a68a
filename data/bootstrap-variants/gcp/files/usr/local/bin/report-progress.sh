#!/usr/bin/env bash
# KUBECONFIG: tells the cluster, and through it whoever waits for it, that the bootstrap is complete.

set -euo pipefail
# From when the masters serve the API, the load balancer must not find it here. The routes to its address go with this service.
until [[ -e /opt/openshift/cb-bootstrap.done ]]; do
    sleep 5
done
systemctl stop gcp-routes.service
exec /usr/local/bin/slipway-node report-progress "$1"
