#!/usr/bin/env bash
# install|remove: only hosts of the control plane get an address of this machine. Others in the same network, workers among them,
# wait for the cluster's own service.
#
# IPTABLES, PROVISIONING_INTERFACE, DHCP_ALLOW_MACS, from /etc/ironic.env; without addresses there is nothing to filter.

set -euo pipefail
CHAIN=slipway-dhcp
port=67
[[ $IPTABLES != ip6tables ]] || port=547
jump=(PREROUTING --in-interface "$PROVISIONING_INTERFACE" --protocol udp --dport "$port" --jump "$CHAIN")
filter() { "$IPTABLES" --wait --table raw "$@"; }

remove() {
    filter --delete "${jump[@]}" 2>/dev/null || true
    filter --flush "$CHAIN" 2>/dev/null || true
    filter --delete-chain "$CHAIN" 2>/dev/null || true
}

install() {
    local mac allowed
    read -r -a allowed <<<"$DHCP_ALLOW_MACS"
    remove
    if [[ ${#allowed[@]} -eq 0 ]]; then
        return
    fi
    filter --new-chain "$CHAIN"
    for mac in "${allowed[@]}"; do
        filter --append "$CHAIN" --match mac --mac-source "$mac" --jump ACCEPT
    done
    filter --append "$CHAIN" --jump DROP
    filter --insert "${jump[@]}"
}

case "${1:-}" in
    install | remove) "$1" ;;
    *) echo "dhcp-filter.sh install|remove" >&2 && exit 2 ;;
esac
