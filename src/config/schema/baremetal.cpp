#include "config/schema/tables.h"

namespace slipway::config {

namespace {

Fields controller_fields() {
  static constexpr Field fields[] = {
      {.name = "username", .about = "The user name for the controller.", .empty = Empty::written},
      {.name = "password", .about = "The password of this user.", .is_secret = true, .empty = Empty::written},
      {.name = "address",
       .about = "The address and the protocol of the controller, for example "
                "redfish-virtualmedia://192.168.1.10/redfish/v1/Systems/1 or "
                "ipmi://192.168.1.10.",
       .empty = Empty::written},
      {.name = "disableCertificateVerification",
       .kind = Kind::boolean,
       .about = "Whether the certificate of the controller is not verified.",
       .otherwise = "false",
       .empty = Empty::written},
  };
  return fields;
}

Fields host_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The host's name, a unique DNS name.", .is_required = true},
      {.name = "bmc",
       .kind = Kind::object,
       .about = "The management controller, which powers the host on and provisions it.",
       .members = controller_fields,
       .is_required = true,
       .empty = Empty::written},
      {.name = "role",
       .about = "The role of the host. Hosts without a role become masters first.",
       .otherwise = "as needed",
       .allowed = "master|worker",
       .empty = Empty::written},
      {.name = "bootMACAddress",
       .about = "The MAC address of the network interface that the host boots from, for example 52:54:00:12:34:56.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "hardwareProfile", .about = "An older way to choose a disk.", .fallback = "default", .empty = Empty::written},
      {.name = "rootDeviceHints",
       .kind = Kind::object,
       .about = "The disk to install to: the first one that matches all of these.",
       .members = root_device_fields},
      {.name = "bootMode",
       .about = "The boot mode of the firmware.",
       .fallback = "UEFI",
       .allowed = "UEFI|UEFISecureBoot|legacy"},
      {.name = "networkConfig",
       .kind = Kind::any,
       .about = "The network configuration of the host, in nmstate format.",
       .otherwise = "DHCP"},
  };
  return fields;
}

}  // namespace

Fields root_device_fields() {
  static constexpr Field fields[] = {
      {.name = "deviceName", .about = "Its name, for example /dev/sda or /dev/disk/by-path/pci-0000:01:00.0."},
      {.name = "hctl", .about = "Its SCSI address, for example 0:0:0:0."},
      {.name = "model", .about = "A part of its model name."},
      {.name = "vendor", .about = "A part of its vendor name."},
      {.name = "serialNumber", .about = "Its serial number."},
      {.name = "minSizeGigabytes", .kind = Kind::integer, .about = "Its minimum size."},
      {.name = "wwn", .about = "Its World Wide Name."},
      {.name = "wwnWithExtension", .about = "Its World Wide Name with the vendor extension."},
      {.name = "wwnVendorExtension", .about = "The vendor extension of its World Wide Name."},
      {.name = "rotational", .kind = Kind::boolean, .about = "Whether it is a rotating disk.", .empty = Empty::kept},
  };
  return fields;
}

Fields baremetal_fields() {
  static constexpr Field fields[] = {
      {.name = "hosts",
       .kind = Kind::object,
       .is_list = true,
       .about = "The hosts, one for each machine of the pools, in the order of use.",
       .members = host_fields,
       .empty = Empty::written},
      {.name = "apiVIPs",
       .is_list = true,
       .about = "The addresses of the API in the machine network: one, or one of each family. Required: names are not resolved."},
      {.name = "ingressVIPs",
       .is_list = true,
       .about = "The addresses of the applications in the machine network: one, or one of each family. Required."},
      {.name = "provisioningNetwork",
       .about = "The network for provisioning hosts: with DHCP of the cluster (Managed), with another DHCP server (Unmanaged), "
                "or none (Disabled; the management controllers must then support virtual media).",
       .fallback = "Managed",
       .allowed = "Managed|Unmanaged|Disabled"},
      {.name = "provisioningNetworkCIDR",
       .about = "The provisioning network.",
       .otherwise = "172.22.0.0/24; with Disabled the machine network that clusterProvisioningIP is in"},
      {.name = "provisioningNetworkInterface",
       .about = "The name of the network interface for provisioning on masters.",
       .otherwise = "found by the MAC address",
       .empty = Empty::written},
      {.name = "provisioningBridge",
       .about = "The bridge of this host in the provisioning network.",
       .otherwise = "provisioning, unless Disabled"},
      {.name = "provisioningMACAddress",
       .about = "The bootstrap machine's MAC address in the provisioning network.",
       .otherwise = "52:54:00 and three bytes derived from the cluster domain"},
      {.name = "provisioningDHCPRange",
       .about = "The first and the last address that the DHCP server (Managed) assigns, separated by a comma.",
       .otherwise = "host 10 to the last host of the provisioning network"},
      {.name = "clusterProvisioningIP",
       .about = "The address of the provisioning services in the cluster.",
       .otherwise = "host 3 of the provisioning network"},
      {.name = "bootstrapProvisioningIP",
       .about = "The address of these services on the bootstrap machine.",
       .otherwise = "host 2 of the provisioning network"},
      {.name = "externalBridge", .about = "The bridge of this host in the machine network.", .fallback = "baremetal"},
      {.name = "externalMACAddress",
       .about = "The bootstrap machine's MAC address in the machine network.",
       .otherwise = "52:54:00 and three bytes derived from the cluster domain"},
      {.name = "libvirtURI", .about = "The libvirt that runs the bootstrap machine.", .fallback = "qemu:///system"},
      {.name = "bootstrapOSImage",
       .about = "The URL of the bootstrap machine's image: http, with ?sha256=.",
       .otherwise = "the one of the release"},
      {.name = "clusterOSImage",
       .about = "The URL of the hosts' image: http, with ?sha256=.",
       .otherwise = "the one of the release"},
      {.name = "bootstrapExternalStaticIP",
       .about = "The bootstrap machine's address, if there is no DHCP. Gateway and DNS are then required.",
       .otherwise = "DHCP"},
      {.name = "bootstrapExternalStaticGateway", .about = "Its gateway."},
      {.name = "bootstrapExternalStaticDNS", .about = "Its DNS server."},
      {.name = "additionalNTPServers", .is_list = true, .about = "Additional time servers of the hosts."},
      load_balancer,
      machines_of_all_pools(no_fields),
      older_address("apiVIP", "apiVIPs"),
      older_address("ingressVIP", "ingressVIPs"),
      {.name = "provisioningHostIP", .about = "Older name of clusterProvisioningIP.", .instead = "clusterProvisioningIP"},
      {.name = "provisioningDHCPExternal",
       .kind = Kind::boolean,
       .about = "Older form of provisioningNetwork: true is Unmanaged.",
       .instead = "provisioningNetwork"},
      without_effect("dnsVIP"),
  };
  return fields;
}

}  // namespace slipway::config
