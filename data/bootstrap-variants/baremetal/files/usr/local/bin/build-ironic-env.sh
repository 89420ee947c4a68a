#!/usr/bin/env bash
# Adds to /etc/ironic.env what only this machine knows: the interface to the hosts, the release's images, and the login of the
# provisioning services in the form that their web servers need.
#
# The unit sets PROVISIONING_MAC, PROVISIONING_NETWORK_TYPE, IRONIC_IP, IRONIC_USERNAME, PROV_IP_FAMILY, EXTERNAL_IP_FAMILY.

set -euo pipefail
. /usr/local/bin/bootstrap-service-record.sh
. /usr/local/bin/release-image.sh
SETTINGS=/etc/ironic.env
MARK="# Found on this machine"

# MAC: prints the name of the interface with this address; nothing if there is none.
interface_of() {
    ip -oneline link show | awk -v mac="${1,,}" '$0 ~ "link/ether " mac " " { split($2, name, /[:@]/); print name[1]; exit }'
}

# FAMILY: prints the kernel argument for DHCP of this IP family; nothing if the family is empty, which means both families.
address_option() {
    case "$1" in
        ip4) echo "ip=dhcp" ;;
        ip6) echo "ip=dhcp6" ;;
    esac
}

record_service_stage_start find-provisioning-interface
interface=""
if [[ -n $PROVISIONING_MAC ]]; then
    until interface=$(interface_of "$PROVISIONING_MAC") && [[ -n $interface ]]; do
        echo "waiting for the interface with the address $PROVISIONING_MAC, network $PROVISIONING_NETWORK_TYPE"
        sleep 5
    done
else
    interface=$(ip route show default | awk '{ for (i = 1; i < NF; ++i) if ($i == "dev") { print $(i + 1); exit } }')
fi
record_service_stage_success

record_service_stage_start find-images
ironic=$(image_for ironic)
agent=$(image_for ironic-agent)
customization=$(image_for machine-image-customization-controller)
machine_os=$(image_for machine-os-images)
podman image exists "$ironic" || podman pull --quiet --authfile /root/.docker/config.json "$ironic" >/dev/null
record_service_stage_success

# The password goes through a pipe, so that no list of processes shows it.
login=$(podman run --rm --interactive --network=none --entrypoint=htpasswd "$ironic" -niB "$IRONIC_USERNAME" </opt/metal3/auth/ironic/password)
host="$IRONIC_IP"
[[ $host != *:* ]] || host="[$host]"
umask 077
{
    sed "/^$MARK\$/,\$d" "$SETTINGS"
    echo "$MARK"
    echo "PROVISIONING_INTERFACE=$interface"
    echo "PROVISIONING_IP_OPTIONS=$(address_option "$PROV_IP_FAMILY")"
    echo "EXTERNAL_IP_OPTIONS=$(address_option "${EXTERNAL_IP_FAMILY:-}")"
    echo "IRONIC_KERNEL_PARAMS=$(address_option "$PROV_IP_FAMILY")"
    echo "IRONIC_BASE_URL=http://$host"
    echo "IRONIC_HTPASSWD='${login%%$'\n'*}'"
    echo "IRONIC_IMAGE=$ironic"
    echo "IRONIC_AGENT_IMAGE=$agent"
    echo "CUSTOMIZATION_IMAGE=$customization"
    echo "MACHINE_OS_IMAGES_IMAGE=$machine_os"
} >"$SETTINGS.new"
mv --force "$SETTINGS.new" "$SETTINGS"
