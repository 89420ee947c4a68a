#!/usr/bin/env bash
# Adds to /etc/metal3.env the image of the bare metal operator, and the kernel arguments of the hosts' first system.

set -euo pipefail
. /usr/local/bin/bootstrap-service-record.sh
. /usr/local/bin/release-image.sh
SETTINGS=/etc/metal3.env
MARK="# Found on this machine"

operator=$(image_for baremetal-operator)
. /etc/ironic-network.env
options=ip=dhcp
[[ $PROV_IP_FAMILY == ip4 ]] || options=ip=dhcp6
umask 077
{
    sed "/^$MARK\$/,\$d" "$SETTINGS"
    echo "$MARK"
    grep '^HTTP_PORT=' /etc/ironic.env
    echo "IRONIC_KERNEL_PARAMS=$options"
    echo "METAL3_BAREMETAL_OPERATOR_IMAGE=$operator"
} >"$SETTINGS.new"
mv --force "$SETTINGS.new" "$SETTINGS"
