#!/usr/bin/env bash
# Gives this machine its address in the provisioning network.
#
# The unit sets PROVISIONING_INTERFACE, PROVISIONING_SUBNET (ADDRESS/PREFIX), PROV_IP_FAMILY.

set -euo pipefail
. /usr/local/bin/bootstrap-service-record.sh
NAME=provisioning

if [[ $PROVISIONING_SUBNET == /* ]]; then
    echo "there is no provisioning network"
    exit 0
fi
if [[ $PROV_IP_FAMILY == ip6 ]]; then
    families=(ipv6.method manual ipv6.addresses "$PROVISIONING_SUBNET" ipv6.addr-gen-mode eui64 ipv4.method disabled)
else
    families=(ipv4.method manual ipv4.addresses "$PROVISIONING_SUBNET" ipv6.method disabled)
fi
nmcli connection delete "$NAME" >/dev/null 2>&1 || true
nmcli connection add type ethernet con-name "$NAME" ifname "$PROVISIONING_INTERFACE" "${families[@]}"
# Returns when the address can be used.
nmcli connection up "$NAME"
