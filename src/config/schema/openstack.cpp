#include "config/schema/tables.h"

namespace slipway::config {

namespace {

// A reference to an object of OpenStack, by name or by ID.
Fields named_fields() {
  static constexpr Field fields[] = {
      {.name = "id", .about = "Its ID, a UUID."},
      {.name = "name", .about = "Its name, if it is unique."},
  };
  return fields;
}

Fields fixed_address_fields() {
  static constexpr Field fields[] = {
      {.name = "subnet",
       .kind = Kind::object,
       .about = "The subnet, by ID or name.",
       .members = named_fields,
       .is_required = true,
       .empty = Empty::written},
  };
  return fields;
}

Fields port_fields() {
  static constexpr Field fields[] = {
      {.name = "network",
       .kind = Kind::object,
       .about = "The network of the subnets, by ID or name.",
       .members = named_fields,
       .empty = Empty::written},
      {.name = "fixedIPs",
       .kind = Kind::object,
       .is_list = true,
       .about = "The subnets of the machines: one, or one of each family.",
       .members = fixed_address_fields,
       .is_required = true,
       .empty = Empty::written},
  };
  return fields;
}

Fields volume_fields() {
  static constexpr Field fields[] = {
      {.name = "size", .kind = Kind::integer, .about = "Its size in GiB.", .is_required = true, .empty = Empty::written},
      {.name = "types",
       .is_list = true,
       .about = "Cinder volume types: one, or one for each zone.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "zones",
       .is_list = true,
       .about = "Cinder availability zones, one for each zone of the pool.",
       .otherwise = "chosen by Cinder"},
      {.name = "type", .about = "Older form of types.", .instead = "types"},
  };
  return fields;
}

}  // namespace

Fields openstack_pool_fields() {
  static constexpr Field fields[] = {
      {.name = "type", .about = "The Nova flavor, for example m1.xlarge.", .empty = Empty::written},
      {.name = "rootVolume",
       .kind = Kind::object,
       .about = "A Cinder volume as the machines' disk.",
       .otherwise = "the hypervisor's disk",
       .members = volume_fields},
      {.name = "additionalNetworkIDs", .is_list = true, .about = "Additional networks of the machines, UUIDs."},
      {.name = "additionalSecurityGroupIDs", .is_list = true, .about = "Additional security groups of the machines, UUIDs."},
      {.name = "serverGroupPolicy",
       .about = "The policy for placing machines on different hosts.",
       .otherwise = "soft-anti-affinity",
       .allowed = "affinity|anti-affinity|soft-affinity|soft-anti-affinity"},
      {.name = "zones", .is_list = true, .about = "The Nova availability zones of the machines.", .otherwise = "chosen by Nova"},
  };
  return fields;
}

Fields openstack_fields() {
  static constexpr Field fields[] = {
      {.name = "cloud",
       .about =
           "The entry in clouds.yaml. If no file has it, the variables OS_AUTH_URL, OS_USERNAME and so on are used. OS_CLOUD "
           "is ignored.",
       .fallback = "openstack",
       .empty = Empty::written},
      {.name = "externalNetwork", .about = "The network of floating IPs.", .otherwise = "no floating IPs"},
      {.name = "apiFloatingIP", .about = "An existing floating IP for the API."},
      {.name = "ingressFloatingIP", .about = "An existing floating IP for the applications."},
      {.name = "externalDNS",
       .is_list = true,
       .about = "DNS servers of the machine network.",
       .otherwise = "those of OpenStack",
       .empty = Empty::written},
      {.name = "apiVIPs",
       .is_list = true,
       .about = "The addresses of the API in the machine network: one, or one of each family.",
       .otherwise = "host 5 of the first machine network, unless the load balancer is UserManaged"},
      {.name = "ingressVIPs",
       .is_list = true,
       .about = "The addresses of the applications in the machine network: one, or one of each family.",
       .otherwise = "host 7 of the first machine network, unless the load balancer is UserManaged"},
      {.name = "controlPlanePort",
       .kind = Kind::object,
       .about = "Existing networks.",
       .otherwise = "created by the cluster",
       .members = port_fields},
      {.name = "clusterOSImage",
       .about = "The URL of the machines' image, or its name in Glance.",
       .otherwise = "the one of the release"},
      {.name = "clusterOSImageProperties", .kind = Kind::map, .about = "Properties of the image in Glance."},
      load_balancer,
      machines_of_all_pools(openstack_pool_fields),
      older_address("apiVIP", "apiVIPs"),
      older_address("ingressVIP", "ingressVIPs"),
      {.name = "lbFloatingIP", .about = "Older name of apiFloatingIP.", .instead = "apiFloatingIP"},
      {.name = "computeFlavor", .about = "Older form of defaultMachinePlatform.type.", .instead = "defaultMachinePlatform.type"},
      {.name = "machinesSubnet",
       .about = "Older form of controlPlanePort, the UUID of one subnet.",
       .instead = "controlPlanePort"},
      without_effect("region"),
      without_effect("trunkSupport"),
      without_effect("octaviaSupport"),
  };
  return fields;
}

}  // namespace slipway::config
