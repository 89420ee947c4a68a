#!/usr/bin/env bash
# KUBECONFIG: records in the cluster that the bootstrap is complete.

set -euo pipefail
# When the masters serve the API, the load balancer must not find it here. If this service stops, so do the routes to its address.
until [[ -e /opt/openshift/cb-bootstrap.done ]]; do
    sleep 5
done
systemctl stop gcp-routes.service
exec /usr/local/bin/slipway-node report-progress "$1"
