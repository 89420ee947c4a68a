#!/usr/bin/env bash
# Sourced by bootkube.sh when the cluster's objects are in etcd: ends etcd, and makes /opt/openshift/master.ign, the Ignition config
# that this machine is installed with. It has the control plane in it, etcd's data too.

if [[ ! -e /opt/openshift/stop-etcd.done ]]; then
    record_service_stage_start stop-etcd
    if [[ -e /etc/kubernetes/manifests/etcd-member-pod.yaml ]]; then
        mv /etc/kubernetes/manifests/etcd-member-pod.yaml /etc/kubernetes/
    fi
    # Its data is copied only when nobody writes it any more.
    until containers=$(crictl ps --name='^etcd$' --state=running --quiet) && [[ -z $containers ]]; do
        sleep 1
    done
    touch /opt/openshift/stop-etcd.done
    record_service_stage_success
fi

if [[ ! -e /opt/openshift/master-ignition.done ]]; then
    record_service_stage_start master-ignition
    # What any master would be given. Only our own server asks for the token.
    curl --silent --show-error --fail --retry 30 --retry-delay 2 --retry-all-errors \
        --header 'Accept: application/vnd.coreos.ignition+json;version=3.2.0' \
        --header @- http://localhost:22624/config/master <<<"Authorization: Bearer $(cat /opt/openshift/tls/machine-config-server-token)" \
        >/opt/openshift/original-master.ign.new
    mv /opt/openshift/original-master.ign.new /opt/openshift/original-master.ign
    # The log of this system is gone with the next boot; the installed machine keeps this bundle.
    TAR_FILE=/opt/openshift/log-bundle-bootstrap.tar.gz /usr/local/bin/installer-gather.sh --id bootstrap
    podman rm --force --ignore bootstrap-in-place >/dev/null
    podman run --name=bootstrap-in-place --rm --net=host \
        --volume=/opt/openshift:/assets:z --volume=/usr/local/bin:/assets/bin --volume=/var/lib/etcd:/assets/etcd-data \
        --volume=/etc/kubernetes:/assets/kubernetes --entrypoint=/cluster-bootstrap "$(image_for cluster-bootstrap)" \
        bootstrap-in-place --asset-dir=/assets --input=/assets/bootstrap-in-place/master-update.fcc --output=/assets/master.ign
    touch /opt/openshift/master-ignition.done
    record_service_stage_success
fi
