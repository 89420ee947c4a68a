#include "config/schema_tables.h"

namespace slipway::config {

namespace {

// An object of OpenStack's, by name or by id.
Fields named_fields() {
  static constexpr Field fields[] = {
      {.name = "id", .about = "Its id, a UUID."},
      {.name = "name", .about = "Its name, where only one has it."},
  };
  return fields;
}

Fields fixed_address_fields() {
  static constexpr Field fields[] = {
      {.name = "subnet",
       .kind = Kind::object,
       .about = "The subnet, by id or by name.",
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
       .about = "The network that the subnets are in, by id or by name.",
       .members = named_fields,
       .empty = Empty::written},
      {.name = "fixedIPs",
       .kind = Kind::object,
       .is_list = true,
       .about = "The subnets that machines have addresses of: one, or one of each family.",
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
       .about = "Cinder's types: one, or one for each zone.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "zones",
       .is_list = true,
       .about = "Cinder's zones, one for each zone of the pool.",
       .otherwise = "Cinder's choice"},
      {.name = "type", .about = "The older form of types.", .instead = "types"},
  };
  return fields;
}

}  // namespace

Fields openstack_pool_fields() {
  static constexpr Field fields[] = {
      {.name = "type", .about = "Nova's flavor, as in m1.xlarge.", .empty = Empty::written},
      {.name = "rootVolume",
       .kind = Kind::object,
       .about = "A volume of Cinder's as the machines' disk.",
       .otherwise = "the hypervisor's disk",
       .members = volume_fields},
      {.name = "additionalNetworkIDs", .is_list = true, .about = "Further networks of the machines, UUIDs."},
      {.name = "additionalSecurityGroupIDs", .is_list = true, .about = "Further security groups of the machines, UUIDs."},
      {.name = "serverGroupPolicy",
       .about = "How much machines keep away from each other's hosts.",
       .otherwise = "soft-anti-affinity",
       .allowed = "affinity|anti-affinity|soft-affinity|soft-anti-affinity"},
      {.name = "zones", .is_list = true, .about = "Nova's zones that machines are spread over.", .otherwise = "Nova's choice"},
  };
  return fields;
}

Fields openstack_fields() {
  static constexpr Field fields[] = {
      {.name = "cloud",
       .about = "The entry of clouds.yaml. Environment variables are not looked at.",
       .fallback = "openstack",
       .empty = Empty::written},
      {.name = "externalNetwork", .about = "The network that floating addresses are of.", .otherwise = "no floating addresses"},
      {.name = "apiFloatingIP", .about = "A floating address that is there already, for the API."},
      {.name = "ingressFloatingIP", .about = "A floating address that is there already, for the applications."},
      {.name = "externalDNS",
       .is_list = true,
       .about = "Name servers of the machines' network.",
       .otherwise = "OpenStack's",
       .empty = Empty::written},
      {.name = "apiVIPs",
       .is_list = true,
       .about = "The addresses of the API in the machine network: one, or one of each family.",
       .otherwise = "host 5 of the first machine network, unless the user balances"},
      {.name = "ingressVIPs",
       .is_list = true,
       .about = "The addresses of the applications in the machine network: one, or one of each family.",
       .otherwise = "host 7 of the first machine network, unless the user balances"},
      {.name = "controlPlanePort",
       .kind = Kind::object,
       .about = "Networks that are there already.",
       .otherwise = "the cluster's own",
       .members = port_fields},
      {.name = "clusterOSImage",
       .about = "Where the machines' image is, an http URL, or its name in Glance.",
       .otherwise = "that of the release"},
      {.name = "clusterOSImageProperties", .kind = Kind::map, .about = "Properties of the image in Glance."},
      load_balancer,
      machines_of_all_pools(openstack_pool_fields),
      older_address("apiVIP", "apiVIPs"),
      older_address("ingressVIP", "ingressVIPs"),
      {.name = "lbFloatingIP", .about = "The older name of apiFloatingIP.", .instead = "apiFloatingIP"},
      {.name = "computeFlavor",
       .about = "The older form of defaultMachinePlatform.type.",
       .instead = "defaultMachinePlatform.type"},
      {.name = "machinesSubnet",
       .about = "The older form of controlPlanePort, the UUID of one subnet.",
       .instead = "controlPlanePort"},
      without_effect("region"),
      without_effect("trunkSupport"),
      without_effect("octaviaSupport"),
  };
  return fields;
}

}  // namespace slipway::config
