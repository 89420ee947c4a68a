#!/usr/bin/env bash
# install|remove: adds or removes a filter, so that this machine gives DHCP addresses only to hosts of the control plane. Other
# hosts of the network, for example workers, wait for the DHCP service of the cluster.
#
# /etc/ironic.env sets IPTABLES, PROVISIONING_INTERFACE, DHCP_ALLOW_MACS. Without MAC addresses there is no filter.

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
