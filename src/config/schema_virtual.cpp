#include "config/schema_tables.h"

namespace slipway::config {

namespace {

Fields dnsmasq_option_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The setting, as in address."},
      {.name = "value", .about = "Its value, as in /.apps.demo.example.com/192.168.126.51."},
  };
  return fields;
}

Fields libvirt_network_fields() {
  static constexpr Field fields[] = {
      {.name = "if", .about = "The name of the bridge.", .fallback = "tt0", .empty = Empty::written},
      {.name = "dnsmasqOptions",
       .kind = Kind::object,
       .is_list = true,
       .about = "Settings of the network's DHCP and name server.",
       .members = dnsmasq_option_fields},
  };
  return fields;
}

Fields affinity_group_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The group's name; pools choose by it.", .is_required = true, .empty = Empty::written},
      {.name = "priority",
       .kind = Kind::integer,
       .about = "What it counts against other groups, 0 to 5; the highest counts most.",
       .empty = Empty::written},
      {.name = "description", .about = "What it is for."},
      {.name = "enforcing",
       .kind = Kind::boolean,
       .about = "Whether a machine may not start where the group is broken.",
       .empty = Empty::written},
  };
  return fields;
}

Fields processor_fields() {
  static constexpr Field fields[] = {
      {.name = "sockets", .kind = Kind::integer, .about = "Sockets."},
      {.name = "cores", .kind = Kind::integer, .about = "Cores of a socket."},
      {.name = "threads", .kind = Kind::integer, .about = "Threads of a core."},
  };
  return fields;
}

Fields ovirt_disk_fields() {
  static constexpr Field fields[] = {
      {.name = "sizeGB", .kind = Kind::integer, .about = "Its size in GiB."},
  };
  return fields;
}

}  // namespace

Fields libvirt_fields() {
  static constexpr Field fields[] = {
      {.name = "URI",
       .about = "The libvirt, as this host and the cluster both reach it.",
       .fallback = "qemu+tcp://192.168.122.1/system"},
      {.name = "network",
       .kind = Kind::object,
       .about = "The network that is made for the machines.",
       .members = libvirt_network_fields,
       .empty = Empty::written},
      machines_of_all_pools(no_fields),
  };
  return fields;
}

Fields ovirt_pool_fields() {
  static constexpr Field fields[] = {
      {.name = "instanceTypeID", .about = "An instance type that decides processors and memory."},
      {.name = "cpu", .kind = Kind::object, .about = "Virtual processors.", .members = processor_fields},
      {.name = "memoryMB", .kind = Kind::integer, .about = "Memory in MiB."},
      {.name = "osDisk", .kind = Kind::object, .about = "The machines' disk.", .members = ovirt_disk_fields},
      {.name = "vmType", .about = "What the machines are tuned for.", .allowed = "desktop|server|high_performance"},
      {.name = "affinityGroupsNames",
       .is_list = true,
       .about = "The affinity groups that machines join.",
       .empty = Empty::written},
      {.name = "autoPinningPolicy",
       .about = "Whether processors are bound to those of the host.",
       .otherwise = "none",
       .allowed = "none|resize_and_pin"},
      {.name = "hugepages", .kind = Kind::integer, .about = "The size of memory pages in KiB: 2048 or 1048576."},
      {.name = "clone",
       .kind = Kind::boolean,
       .about = "Whether disks are copies of the template's rather than layers over it.",
       .otherwise = "true, false for vmType desktop",
       .empty = Empty::kept},
      {.name = "sparse",
       .kind = Kind::boolean,
       .about = "Whether disks take up only what was written to them.",
       .empty = Empty::kept},
      {.name = "format", .about = "How disks are laid out.", .allowed = "raw|cow"},
  };
  return fields;
}

Fields ovirt_fields() {
  static constexpr Field fields[] = {
      {.name = "ovirt_cluster_id",
       .about = "The id of oVirt's cluster that runs the machines.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "ovirt_storage_domain_id",
       .about = "The id of the storage domain of their disks.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "ovirt_network_name", .about = "The network of the machines.", .fallback = "ovirtmgmt"},
      {.name = "vnicProfileID", .about = "The id of the profile of their network cards.", .otherwise = "the network's only one"},
      {.name = "api_vips", .is_list = true, .about = "The addresses of the API in the machine network. Needed."},
      {.name = "ingress_vips", .is_list = true, .about = "The addresses of the applications in the machine network. Needed."},
      {.name = "affinityGroups",
       .kind = Kind::object,
       .is_list = true,
       .about = "Affinity groups that are made: who keeps away from whom.",
       .members = affinity_group_fields,
       .empty = Empty::kept},
      machines_of_all_pools(ovirt_pool_fields),
      load_balancer,
      older_address("api_vip", "api_vips"),
      older_address("ingress_vip", "ingress_vips"),
      without_effect("dns_vip"),
  };
  return fields;
}

Fields kubevirt_pool_fields() {
  static constexpr Field fields[] = {
      {.name = "cpu", .kind = Kind::integer, .about = "Virtual processors."},
      {.name = "memory", .about = "Memory, a quantity of Kubernetes as in 16Gi."},
      {.name = "storageSize", .about = "The disk's size, a quantity of Kubernetes as in 120Gi."},
  };
  return fields;
}

Fields kubevirt_fields() {
  static constexpr Field fields[] = {
      {.name = "namespace",
       .about = "The namespace of the other cluster that the machines are in.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "networkName", .about = "The network attachment of the machines.", .is_required = true, .empty = Empty::written},
      {.name = "interfaceBindingMethod",
       .about = "How machines are bound to that network.",
       .otherwise = "Bridge",
       .allowed = "Bridge|SRIOV"},
      {.name = "apiVIP", .about = "The address of the API in the machine network.", .is_required = true, .empty = Empty::written},
      {.name = "ingressVIP",
       .about = "The address of the applications in the machine network.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "storageClass", .about = "The class of the machines' disks.", .otherwise = "the other cluster's usual one"},
      {.name = "persistentVolumeAccessMode",
       .about = "How many hosts may use a disk at a time.",
       .fallback = "ReadWriteMany",
       .allowed = "ReadWriteOnce|ReadOnlyMany|ReadWriteMany"},
      machines_of_all_pools(kubevirt_pool_fields),
  };
  return fields;
}

}  // namespace slipway::config
