#!/usr/bin/env bash
# --enable-port PORT | --disable-port PORT: opens or closes a TCP port of the provisioning services for the hosts.
#
# /etc/ironic.env sets IPTABLES and PROVISIONING_INTERFACE.

set -euo pipefail
port="${2:?a port is needed}"
rule=(INPUT --in-interface "$PROVISIONING_INTERFACE" --protocol tcp --dport "$port" --jump ACCEPT)
has_rule() { "$IPTABLES" --wait --check "${rule[@]}" 2>/dev/null; }

case "$1" in
    --enable-port) has_rule || "$IPTABLES" --wait --insert "${rule[@]}" ;;
    --disable-port) ! has_rule || "$IPTABLES" --wait --delete "${rule[@]}" ;;
    *) echo "prov-iptables.sh --enable-port|--disable-port PORT" >&2 && exit 2 ;;
esac
