#include "config/schema/tables.h"

namespace slipway::config {

namespace {

Fields vcenter_fields() {
  static constexpr Field fields[] = {
      {.name = "server",
       .about = "The vCenter's name or address, without a scheme.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "port", .kind = Kind::integer, .about = "Its port.", .otherwise = "443"},
      {.name = "user", .about = "The user name.", .is_required = true, .empty = Empty::written},
      {.name = "password",
       .about = "The password of this user.",
       .is_required = true,
       .is_secret = true,
       .empty = Empty::written},
      {.name = "datacenters",
       .is_list = true,
       .about = "The data centers in which the cluster has machines.",
       .is_required = true,
       .empty = Empty::written},
  };
  return fields;
}

Fields topology_fields() {
  static constexpr Field fields[] = {
      {.name = "datacenter", .about = "The data center's name.", .is_required = true, .empty = Empty::written},
      {.name = "computeCluster",
       .about = "The cluster of hosts, a path, for example /DATACENTER/host/CLUSTER.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "networks", .is_list = true, .about = "The port group of the machines, exactly one.", .is_required = true},
      {.name = "datastore",
       .about = "The datastore of the disks, a path, for example /DATACENTER/datastore/NAME.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "resourcePool",
       .about = "The resource pool of the machines, a path, for example /DATACENTER/host/CLUSTER/Resources/POOL.",
       .otherwise = "the root resource pool of the cluster"},
      {.name = "folder",
       .about = "The folder of the machines in the inventory, a path, for example /DATACENTER/vm/FOLDER.",
       .otherwise = "/DATACENTER/vm and the cluster's infrastructure name"},
      {.name = "template",
       .about = "An existing virtual machine to clone from, a path.",
       .otherwise = "created from the image of the release"},
      {.name = "tagIDs",
       .is_list = true,
       .about = "Tags for the machines, for example urn:vmomi:InventoryServiceTag:...; at most 10."},
  };
  return fields;
}

Fields failure_domain_fields() {
  static constexpr Field fields[] = {
      {.name = "name",
       .about = "The name of the failure domain, used in zones of pools.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "region", .about = "The tag of its data center.", .is_required = true, .empty = Empty::written},
      {.name = "zone", .about = "The tag of its cluster of hosts.", .is_required = true, .empty = Empty::written},
      {.name = "server", .about = "Its vCenter, one of vcenters.", .is_required = true, .empty = Empty::written},
      {.name = "topology",
       .kind = Kind::object,
       .about = "Its location in that vCenter.",
       .members = topology_fields,
       .is_required = true,
       .empty = Empty::written},
  };
  return fields;
}

Fields network_device_fields() {
  static constexpr Field fields[] = {
      {.name = "gateway", .about = "The gateway."},
      {.name = "ipAddrs",
       .is_list = true,
       .about = "The machine's addresses with prefix length, for example 192.168.1.10/24.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "nameservers", .is_list = true, .about = "DNS servers, at most 3."},
  };
  return fields;
}

Fields static_host_fields() {
  static constexpr Field fields[] = {
      {.name = "failureDomain", .about = "The failure domain that the machine is in.", .otherwise = "the first one"},
      {.name = "role",
       .about = "The role of the machine.",
       .allowed = "bootstrap|control-plane|compute",
       .is_required = true,
       .empty = Empty::written},
      {.name = "networkDevice",
       .kind = Kind::object,
       .about = "Its addresses.",
       .members = network_device_fields,
       .is_required = true},
  };
  return fields;
}

Fields disk_fields() {
  static constexpr Field fields[] = {
      {.name = "diskSizeGB", .kind = Kind::integer, .about = "Its size in GiB.", .fallback = "120", .empty = Empty::written},
  };
  return fields;
}

}  // namespace

Fields vsphere_pool_fields() {
  static constexpr Field fields[] = {
      {.name = "cpus", .kind = Kind::integer, .about = "Virtual processors.", .fallback = "4", .empty = Empty::written},
      {.name = "coresPerSocket",
       .kind = Kind::integer,
       .about = "Cores per socket. cpus must be a multiple of it.",
       .fallback = "4",
       .empty = Empty::written},
      {.name = "memoryMB", .kind = Kind::integer, .about = "Memory in MiB.", .fallback = "16384", .empty = Empty::written},
      {.name = "osDisk", .kind = Kind::object, .about = "The machines' disk.", .members = disk_fields, .empty = Empty::written},
      {.name = "zones",
       .is_list = true,
       .about = "The failure domains that machines are spread over, by name.",
       .otherwise = "all"},
  };
  return fields;
}

Fields vsphere_fields() {
  static constexpr Field fields[] = {
      {.name = "vcenters", .kind = Kind::object, .is_list = true, .about = "The vCenters.", .members = vcenter_fields},
      {.name = "failureDomains",
       .kind = Kind::object,
       .is_list = true,
       .about = "The failure domains in which machines are created.",
       .members = failure_domain_fields},
      {.name = "apiVIPs",
       .is_list = true,
       .about = "The addresses of the API: one, or one of each family.",
       .otherwise = "the user runs the load balancer"},
      {.name = "ingressVIPs",
       .is_list = true,
       .about = "The addresses of the applications: one, or one of each family.",
       .otherwise = "the user runs the load balancer"},
      {.name = "diskType",
       .about = "The format of disks.",
       .otherwise = "as in the storage policy",
       .allowed = "thin|thick|eagerZeroedThick"},
      {.name = "clusterOSImage", .about = "The URL of the machines' OVA: http.", .otherwise = "the one of the release"},
      {.name = "hosts",
       .kind = Kind::object,
       .is_list = true,
       .about = "Machines with static addresses: one with role bootstrap, and one for each machine of the pools.",
       .otherwise = "DHCP",
       .members = static_host_fields},
      machines_of_all_pools(vsphere_pool_fields),
      load_balancer,
      {.name = "vCenter", .about = "Older form of vcenters[].server.", .instead = "vcenters"},
      {.name = "username", .about = "Older form of vcenters[].user.", .instead = "vcenters"},
      {.name = "password", .about = "Older form of vcenters[].password.", .instead = "vcenters", .is_secret = true},
      {.name = "datacenter", .about = "Older form of failureDomains[].topology.datacenter.", .instead = "failureDomains"},
      {.name = "defaultDatastore", .about = "Older form of failureDomains[].topology.datastore.", .instead = "failureDomains"},
      {.name = "folder", .about = "Older form of failureDomains[].topology.folder.", .instead = "failureDomains"},
      {.name = "cluster", .about = "Older form of failureDomains[].topology.computeCluster.", .instead = "failureDomains"},
      {.name = "resourcePool", .about = "Older form of failureDomains[].topology.resourcePool.", .instead = "failureDomains"},
      {.name = "network", .about = "Older form of failureDomains[].topology.networks.", .instead = "failureDomains"},
      older_address("apiVIP", "apiVIPs"),
      older_address("ingressVIP", "ingressVIPs"),
  };
  return fields;
}

}  // namespace slipway::config
