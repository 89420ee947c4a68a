#include "config/schema_tables.h"

namespace slipway::config {

namespace {

Fields controller_fields() {
  static constexpr Field fields[] = {
      {.name = "username", .about = "Who logs in to the controller.", .empty = Empty::written},
      {.name = "password", .about = "The password of that one.", .is_secret = true, .empty = Empty::written},
      {.name = "address",
       .about =
           "Where the controller is and how it is spoken to, as in redfish-virtualmedia://192.168.1.10/redfish/v1/Systems/1 or "
           "ipmi://192.168.1.10.",
       .empty = Empty::written},
      {.name = "disableCertificateVerification",
       .kind = Kind::boolean,
       .about = "Whether the controller's certificate may be anybody's.",
       .otherwise = "false",
       .empty = Empty::written},
  };
  return fields;
}

Fields root_device_fields() {
  static constexpr Field fields[] = {
      {.name = "deviceName", .about = "Its name, as in /dev/sda or /dev/disk/by-path/pci-0000:01:00.0."},
      {.name = "hctl", .about = "Its SCSI address, as in 0:0:0:0."},
      {.name = "model", .about = "A part of what the vendor calls it."},
      {.name = "vendor", .about = "A part of the vendor's name."},
      {.name = "serialNumber", .about = "Its serial number."},
      {.name = "minSizeGigabytes", .kind = Kind::integer, .about = "How large it is at least."},
      {.name = "wwn", .about = "Its World Wide Name."},
      {.name = "wwnWithExtension", .about = "Its World Wide Name with the vendor's part."},
      {.name = "wwnVendorExtension", .about = "The vendor's part of its World Wide Name."},
      {.name = "rotational", .kind = Kind::boolean, .about = "Whether it turns.", .empty = Empty::kept},
  };
  return fields;
}

Fields host_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The host's name, a DNS name that no other host has.", .is_required = true},
      {.name = "bmc",
       .kind = Kind::object,
       .about = "The management controller that switches the host on and gives it its first system.",
       .members = controller_fields,
       .is_required = true,
       .empty = Empty::written},
      {.name = "role",
       .about = "What the host becomes; those without a role fill up the masters first.",
       .otherwise = "whichever is needed",
       .allowed = "master|worker",
       .empty = Empty::written},
      {.name = "bootMACAddress",
       .about = "The address of the network card that the host boots from, as in 52:54:00:12:34:56.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "hardwareProfile", .about = "The older way to choose a disk.", .fallback = "default", .empty = Empty::written},
      {.name = "rootDeviceHints",
       .kind = Kind::object,
       .about = "Which disk the system goes to: the first one of which all of these are true.",
       .members = root_device_fields},
      {.name = "bootMode", .about = "The firmware's way to boot.", .fallback = "UEFI", .allowed = "UEFI|UEFISecureBoot|legacy"},
      {.name = "networkConfig", .kind = Kind::any, .about = "The host's network, in the words of nmstate.", .otherwise = "DHCP"},
  };
  return fields;
}

}  // namespace

Fields baremetal_fields() {
  static constexpr Field fields[] = {
      {.name = "hosts",
       .kind = Kind::object,
       .is_list = true,
       .about = "The hosts, as many as the pools have machines, in the order in which they are used.",
       .members = host_fields,
       .empty = Empty::written},
      {.name = "apiVIPs",
       .is_list = true,
       .about = "The addresses of the API in the machine network: one, or one of each family. Needed: names are not looked up."},
      {.name = "ingressVIPs",
       .is_list = true,
       .about = "The addresses of the applications in the machine network: one, or one of each family. Needed."},
      {.name = "provisioningNetwork",
       .about = "The network that hosts are given their system over: the cluster's own (Managed), one with somebody else's DHCP "
                "(Unmanaged), or none (Disabled; controllers then have to offer virtual media).",
       .fallback = "Managed",
       .allowed = "Managed|Unmanaged|Disabled"},
      {.name = "provisioningNetworkCIDR",
       .about = "The provisioning network.",
       .otherwise = "172.22.0.0/24; with Disabled the machine network that clusterProvisioningIP is in"},
      {.name = "provisioningNetworkInterface",
       .about = "The name of the network card for provisioning on masters.",
       .otherwise = "found by the MAC address"},
      {.name = "provisioningBridge",
       .about = "The bridge of this host in the provisioning network.",
       .otherwise = "provisioning, unless Disabled"},
      {.name = "provisioningMACAddress",
       .about = "The bootstrap machine's MAC address in the provisioning network.",
       .otherwise = "52:54:00 and three bytes that follow from the cluster's domain"},
      {.name = "provisioningDHCPRange",
       .about = "The first and the last address that Managed hands out, with a comma between.",
       .otherwise = "host 10 of the provisioning network to its last one"},
      {.name = "clusterProvisioningIP",
       .about = "The address of the provisioning services in the cluster.",
       .otherwise = "host 3 of the provisioning network"},
      {.name = "bootstrapProvisioningIP",
       .about = "The address of these services on the bootstrap machine.",
       .otherwise = "host 2 of the provisioning network"},
      {.name = "externalBridge", .about = "The bridge of this host in the machines' network.", .fallback = "baremetal"},
      {.name = "externalMACAddress",
       .about = "The bootstrap machine's MAC address in the machines' network.",
       .otherwise = "52:54:00 and three bytes that follow from the cluster's domain"},
      {.name = "libvirtURI", .about = "The libvirt that runs the bootstrap machine.", .fallback = "qemu:///system"},
      {.name = "bootstrapOSImage",
       .about = "Where the bootstrap machine's image is, an http URL with ?sha256=.",
       .otherwise = "that of the release"},
      {.name = "clusterOSImage",
       .about = "Where the hosts' image is, an http URL with ?sha256=.",
       .otherwise = "that of the release"},
      {.name = "bootstrapExternalStaticIP",
       .about = "The bootstrap machine's address, where there is no DHCP; gateway and DNS have to be given too.",
       .otherwise = "DHCP"},
      {.name = "bootstrapExternalStaticGateway", .about = "Its gateway."},
      {.name = "bootstrapExternalStaticDNS", .about = "Its name server."},
      {.name = "additionalNTPServers", .is_list = true, .about = "Time servers of the hosts, beside those of DHCP."},
      load_balancer,
      machines_of_all_pools(no_fields),
      older_address("apiVIP", "apiVIPs"),
      older_address("ingressVIP", "ingressVIPs"),
      {.name = "provisioningHostIP", .about = "The older name of clusterProvisioningIP.", .instead = "clusterProvisioningIP"},
      {.name = "provisioningDHCPExternal",
       .kind = Kind::boolean,
       .about = "The older form of provisioningNetwork: true is Unmanaged.",
       .instead = "provisioningNetwork"},
      without_effect("dnsVIP"),
  };
  return fields;
}

}  // namespace slipway::config
