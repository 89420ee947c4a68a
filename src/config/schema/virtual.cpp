#include "config/schema/tables.h"

namespace slipway::config {

namespace {

Fields dnsmasq_option_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The setting, for example address."},
      {.name = "value", .about = "Its value, for example /.apps.demo.example.com/192.168.126.51."},
  };
  return fields;
}

Fields libvirt_network_fields() {
  static constexpr Field fields[] = {
      {.name = "if", .about = "The name of the bridge.", .fallback = "tt0", .empty = Empty::written},
      {.name = "bridge",
       .about = "A bridge of the libvirt host that machines are connected to, instead of a network that is created for them."},
      {.name = "dnsmasqOptions",
       .kind = Kind::object,
       .is_list = true,
       .about = "Settings of the DHCP and DNS server of the network.",
       .members = dnsmasq_option_fields},
  };
  return fields;
}

Fields affinity_group_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The group's name, used by pools.", .is_required = true, .empty = Empty::written},
      {.name = "priority", .kind = Kind::integer, .about = "Its priority, 0 to 5. 5 is the highest.", .empty = Empty::written},
      {.name = "description", .about = "A description."},
      {.name = "enforcing",
       .kind = Kind::boolean,
       .about = "Whether machines that would violate the group do not start.",
       .empty = Empty::written},
  };
  return fields;
}

Fields processor_fields() {
  static constexpr Field fields[] = {
      {.name = "sockets", .kind = Kind::integer, .about = "The number of sockets."},
      {.name = "cores", .kind = Kind::integer, .about = "Cores per socket."},
      {.name = "threads", .kind = Kind::integer, .about = "Threads per core."},
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
      {.name = "URI", .about = "The URI of libvirt, reachable from this host.", .fallback = "qemu+tcp://192.168.122.1/system"},
      {.name = "network",
       .kind = Kind::object,
       .about = "The network that is created for the machines.",
       .members = libvirt_network_fields,
       .empty = Empty::written},
      {.name = "storagePool",
       .about = "A storage pool of files that the machines' volumes are created in.",
       .otherwise = "a pool that is created for the cluster"},
      {.name = "firmware", .about = "How machines start.", .otherwise = "bios", .allowed = "bios|efi"},
      {.name = "apiVIPs",
       .is_list = true,
       .about = "The address of the API in the machine network. Required if slipway creates the machines."},
      {.name = "ingressVIPs",
       .is_list = true,
       .about = "The address of the applications in the machine network. Required if slipway creates the machines."},
      machines_of_all_pools(libvirt_pool_fields),
  };
  return fields;
}

Fields libvirt_pool_fields() {
  static constexpr Field fields[] = {
      {.name = "cpus", .kind = Kind::integer, .about = "Virtual processors.", .fallback = "4"},
      {.name = "memoryMiB", .kind = Kind::integer, .about = "Memory in MiB.", .fallback = "8192"},
      {.name = "diskGiB", .kind = Kind::integer, .about = "The size of the disk in GiB.", .fallback = "32"},
  };
  return fields;
}

Fields ovirt_pool_fields() {
  static constexpr Field fields[] = {
      {.name = "instanceTypeID", .about = "An instance type, which defines CPUs and memory."},
      {.name = "cpu", .kind = Kind::object, .about = "Virtual processors.", .members = processor_fields},
      {.name = "memoryMB", .kind = Kind::integer, .about = "Memory in MiB."},
      {.name = "osDisk", .kind = Kind::object, .about = "The machines' disk.", .members = ovirt_disk_fields},
      {.name = "vmType", .about = "The workload type of the machines.", .allowed = "desktop|server|high_performance"},
      {.name = "affinityGroupsNames", .is_list = true, .about = "The affinity groups of the machines.", .empty = Empty::written},
      {.name = "autoPinningPolicy",
       .about = "Whether virtual CPUs are pinned to host CPUs.",
       .otherwise = "none",
       .allowed = "none|resize_and_pin"},
      {.name = "hugepages", .kind = Kind::integer, .about = "The size of memory pages in KiB: 2048 or 1048576."},
      {.name = "clone",
       .kind = Kind::boolean,
       .about = "Whether disks are full copies of the template.",
       .otherwise = "true, false for vmType desktop",
       .empty = Empty::kept},
      {.name = "sparse", .kind = Kind::boolean, .about = "Whether disks are sparse.", .empty = Empty::kept},
      {.name = "format", .about = "The format of disks.", .allowed = "raw|cow"},
  };
  return fields;
}

Fields ovirt_fields() {
  static constexpr Field fields[] = {
      {.name = "ovirt_cluster_id",
       .about = "The ID of the oVirt cluster that runs the machines.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "ovirt_storage_domain_id",
       .about = "The ID of the storage domain of the disks.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "ovirt_network_name", .about = "The network of the machines.", .fallback = "ovirtmgmt"},
      {.name = "vnicProfileID", .about = "The ID of the vNIC profile.", .otherwise = "the only one of the network"},
      {.name = "api_vips", .is_list = true, .about = "The addresses of the API in the machine network. Required."},
      {.name = "ingress_vips", .is_list = true, .about = "The addresses of the applications in the machine network. Required."},
      {.name = "affinityGroups",
       .kind = Kind::object,
       .is_list = true,
       .about = "Affinity groups to create.",
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
      {.name = "memory", .about = "Memory, a Kubernetes quantity, for example 16Gi."},
      {.name = "storageSize", .about = "The disk size, a Kubernetes quantity, for example 120Gi."},
  };
  return fields;
}

Fields kubevirt_fields() {
  static constexpr Field fields[] = {
      {.name = "namespace",
       .about = "The namespace of the machines in the other cluster.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "networkName", .about = "The network attachment of the machines.", .is_required = true, .empty = Empty::written},
      {.name = "interfaceBindingMethod",
       .about = "How machines are connected to that network.",
       .otherwise = "Bridge",
       .allowed = "Bridge|SRIOV"},
      {.name = "apiVIP", .about = "The address of the API in the machine network.", .is_required = true, .empty = Empty::written},
      {.name = "ingressVIP",
       .about = "The address of the applications in the machine network.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "storageClass",
       .about = "The storage class of the machines' disks.",
       .otherwise = "the default of the other cluster"},
      {.name = "persistentVolumeAccessMode",
       .about = "The access mode of the disks.",
       .fallback = "ReadWriteMany",
       .allowed = "ReadWriteOnce|ReadOnlyMany|ReadWriteMany"},
      machines_of_all_pools(kubevirt_pool_fields),
  };
  return fields;
}

}  // namespace slipway::config
