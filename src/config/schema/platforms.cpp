#include "config/platforms.h"
#include "config/schema/schema.h"
#include "config/schema/tables.h"

#include <algorithm>
#include <array>

namespace slipway::config {

namespace {

Fields local_fields() {
  static constexpr Field fields[] = {
      {.name = "apiVIPs",
       .is_list = true,
       .about = "The address of the API: one IPv4 address, host 2 to 9 of the machine network.",
       .otherwise = "host 5 of the machine network"},
      {.name = "ingressVIPs",
       .is_list = true,
       .about = "The address of the applications: another address of the same range.",
       .otherwise = "host 7 of the machine network"},
      {.name = "offline",
       .kind = Kind::boolean,
       .about = "Whether the registry of the cluster has only images of the release, and those that are loaded or pushed.",
       .otherwise = "false: it fetches others"},
      {.name = "egress",
       .kind = Kind::boolean,
       .about = "Whether machines and pods reach the networks that this host reaches.",
       .otherwise = "false"},
  };
  return fields;
}

Fields external_fields() {
  static constexpr Field fields[] = {
      {.name = "platformName", .about = "The name of the platform.", .otherwise = "Unknown, set by the cluster"},
      {.name = "cloudControllerManager",
       .about = "External if the user provides a cloud controller manager. Nodes then wait for it.",
       .otherwise = "none",
       .allowed = "External"},
  };
  return fields;
}

constexpr std::array<PlatformTable, 16> tables = {{
    {"local", local_fields, no_fields},
    {"none", no_fields, no_fields},
    {"external", external_fields, no_fields},
    {"baremetal", baremetal_fields, no_fields},
    {"vsphere", vsphere_fields, vsphere_pool_fields},
    {"openstack", openstack_fields, openstack_pool_fields},
    {"aws", aws_fields, aws_pool_fields},
    {"gcp", gcp_fields, gcp_pool_fields},
    {"libvirt", libvirt_fields, libvirt_pool_fields},
    {"ovirt", ovirt_fields, ovirt_pool_fields},
    {"kubevirt", kubevirt_fields, kubevirt_pool_fields},
    {"alibabacloud"},
    {"azure"},
    {"ibmcloud"},
    {"nutanix"},
    {"powervs"},
}};

using Sections = std::array<Field, tables.size()>;

Sections make_sections(bool of_pool) {
  Sections sections;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const PlatformTable& table = tables[i];
    sections[i] = {.name = table.name,
                   .kind = table.section ? Kind::object : Kind::any,
                   .about = of_pool && table.section ? "Settings of the machines of this pool." : platform_row(table.name).about,
                   .members = of_pool ? table.pool : table.section,
                   .null_is_wrong = !of_pool,
                   .empty = Empty::kept};
  }
  return sections;
}

}  // namespace

Fields platform_sections() {
  static const Sections sections = make_sections(false);
  return sections;
}

Fields pool_sections() {
  static const Sections sections = make_sections(true);
  return sections;
}

std::span<const PlatformTable> platform_tables() { return tables; }

const PlatformTable* find_platform(std::string_view name) {
  const auto found = std::ranges::find(tables, name, &PlatformTable::name);
  return found == tables.end() ? nullptr : &*found;
}

}  // namespace slipway::config
