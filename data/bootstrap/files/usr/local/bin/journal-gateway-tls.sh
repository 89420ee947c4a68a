#!/usr/bin/env bash
# Runs the release's haproxy in front of a journal gateway that cannot require client certificates. haproxy requires them.

set -euo pipefail
if /usr/lib/systemd/systemd-journal-gatewayd --trust=/opt/openshift/tls/root-ca.crt --version >/dev/null 2>&1; then
    exit 0
fi
. /usr/local/bin/release-image.sh
image=$(image_for haproxy-router)
name=journal-gateway-tls
if [[ -z $(ctr --namespace k8s.io images ls --quiet "name==$image") ]]; then
    slipway-pull-image "$image"
fi
# Removes what a killed run left.
ctr --namespace k8s.io tasks kill --signal KILL "$name" >/dev/null 2>&1 || true
ctr --namespace k8s.io containers rm "$name" >/dev/null 2>&1 || true
exec ctr --namespace k8s.io run --rm --net-host \
    --mount type=bind,src=/opt/openshift/tls,dst=/tls,options=rbind:ro \
    --mount type=bind,src=/etc/journal-gateway,dst=/etc/journal-gateway,options=rbind:ro \
    "$image" "$name" /usr/sbin/haproxy -db -f /etc/journal-gateway/haproxy.cfg
