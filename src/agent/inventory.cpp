#include "agent/inventory.h"

#include "agent/disks.h"
#include "agent/networks.h"
#include "base/digest.h"
#include "base/number.h"
#include "base/text.h"
#include "base/uuid.h"
#include "release/release.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::agent {

namespace {

// The kernel's name of an architecture, where images have Go's.
std::string kernel_name(std::string_view architecture) {
  if (architecture == "amd64") return "x86_64";
  return architecture == "arm64" ? "aarch64" : std::string(architecture);
}

const std::string dmi = "/sys/class/dmi/id";

unsigned at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }
unsigned word(std::string_view bytes, std::size_t i) { return at(bytes, i) | at(bytes, i + 1) << 8; }

// The size of a memory module (SMBIOS 7.18).
std::uint64_t module_size(std::string_view structure) {
  constexpr std::size_t size_field = 0x0c, long_size_field = 0x1c;
  constexpr unsigned unknown = 0xffff, is_long = 0x7fff, is_kib = 0x8000;
  if (structure.size() < size_field + 2) return 0;
  const unsigned size = word(structure, size_field);
  if (size == unknown) return 0;
  if (size == is_long && structure.size() >= long_size_field + 4) {
    const std::uint64_t mib = word(structure, long_size_field) | std::uint64_t{word(structure, long_size_field + 2)} << 16;
    return mib << 20;
  }
  return std::uint64_t{size & ~is_kib} << ((size & is_kib) != 0 ? 10 : 20);
}

// The value of "NAME : VALUE" lines of /proc/cpuinfo.
std::string cpu_value(std::string_view cpuinfo, std::string_view name) {
  for (const std::string_view line : split(cpuinfo, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == name) return std::string(trim(line.substr(colon + 1)));
  }
  return "";
}

int count_cpus(std::string_view cpuinfo) {
  int count = 0;
  for (const std::string_view line : split(cpuinfo, '\n')) count += line.starts_with("processor") ? 1 : 0;
  return count;
}

// "MemTotal:       16384000 kB"
std::uint64_t usable_memory(std::string_view meminfo) {
  std::string text = cpu_value(meminfo, "MemTotal");
  std::string_view number = text;
  return take_number<std::uint64_t>(number).value_or(0) * 1024;
}

std::string tpm_version(const SystemTree& tree) {
  if (!tree.has("/sys/class/tpm/tpm0")) return "none";
  return tree.text("/sys/class/tpm/tpm0/tpm_version_major") == "2" ? "2.0" : "1.2";
}

std::vector<std::string> gpus(const SystemTree& tree) {
  std::vector<std::string> found;
  for (const std::string& name : tree.names("/sys/bus/pci/devices")) {
    const std::string folder = "/sys/bus/pci/devices/" + name;
    // The class of display controllers.
    if (!tree.text(folder + "/class").starts_with("0x03")) continue;
    found.push_back(fmt::format("{} {}:{}", name, tree.text(folder + "/vendor"), tree.text(folder + "/device")));
  }
  return found;
}

bool says_nothing(std::string_view hostname) {
  constexpr std::array forbidden = {"",           "(none)",
                                    "localhost",  "localhost.localdomain",
                                    "localhost4", "localhost4.localdomain4",
                                    "localhost6", "localhost6.localdomain6"};
  return std::find(forbidden.begin(), forbidden.end(), hostname) != forbidden.end();
}

std::string choose_hostname(const SystemTree& tree, const std::vector<assist::Interface>& interfaces) {
  const std::string own = to_lower(tree.text("/proc/sys/kernel/hostname"));
  if (!says_nothing(own)) return own;
  auto first = std::find_if(interfaces.begin(), interfaces.end(), [](const auto& each) { return !each.addresses.empty(); });
  if (first == interfaces.end()) first = interfaces.begin();
  if (first == interfaces.end()) return own;
  std::string name = first->mac_address;
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

// Whether a number identifies a machine. Vendors and hypervisors leave placeholders.
bool identifies(std::string_view number) {
  const std::string text = to_lower(trim(number));
  constexpr std::array placeholders = {"",
                                       "unknown",
                                       "none",
                                       "default string",
                                       "unspecified",
                                       "not specified",
                                       "-",
                                       "empty",
                                       "not available",
                                       "to be filled by o.e.m.",
                                       "system serial number",
                                       "serial",
                                       "0123456789",
                                       "123456789",
                                       "n/a",
                                       "invalid"};
  if (std::find(placeholders.begin(), placeholders.end(), text) != placeholders.end()) return false;
  if (text == "03000200-0400-0500-0006-000700080009") return false;  // a UUID that a vendor gave to many boards
  return text.find_first_not_of("0-.f") != std::string::npos;
}

}  // namespace

std::uint64_t installed_memory(std::string_view tables) {
  constexpr unsigned memory_device = 17;
  constexpr std::size_t header = 4;
  std::uint64_t sum = 0;
  while (tables.size() >= header) {
    const std::size_t length = at(tables, 1);
    if (length < header || length > tables.size()) break;
    if (at(tables, 0) == memory_device) sum += module_size(tables.substr(0, length));
    // The strings of a structure end with two zero bytes.
    const std::size_t end = tables.find(std::string_view("\0\0", 2), length);
    if (end == std::string_view::npos) break;
    tables.remove_prefix(end + 2);
  }
  return sum;
}

assist::Inventory read_inventory(const SystemTree& tree, const std::vector<net::InterfaceAddress>& addresses) {
  const std::string cpuinfo = tree.bytes("/proc/cpuinfo");
  assist::Inventory found{.hostname = ""};
  found.cpu_count = count_cpus(cpuinfo);
  found.cpu_architecture = kernel_name(release::machine_architecture());
  found.cpu_model = to_utf8(cpu_value(cpuinfo, "model name"));
  found.usable_memory_bytes = usable_memory(tree.bytes("/proc/meminfo"));
  found.memory_bytes = installed_memory(tree.bytes("/sys/firmware/dmi/tables/DMI"));
  if (found.memory_bytes == 0) found.memory_bytes = found.usable_memory_bytes;
  found.boot_mode = tree.has("/sys/firmware/efi") ? "uefi" : "bios";
  found.manufacturer = tree.text(dmi + "/sys_vendor");
  found.product = tree.text(dmi + "/product_name");
  found.serial_number = tree.text(dmi + "/product_serial");
  const std::string flags = " " + cpu_value(cpuinfo, "flags") + " ";
  found.is_virtual = flags.find(" hypervisor ") != std::string::npos || tree.has("/sys/hypervisor/type");
  found.tpm_version = tpm_version(tree);
  found.gpus = gpus(tree);
  found.interfaces = read_interfaces(tree, addresses);
  found.disks = read_disks(tree);
  found.routes = read_routes(tree);
  found.hostname = choose_hostname(tree, found.interfaces);
  return found;
}

std::string host_id(const SystemTree& tree, std::string_view salt) {
  std::string numbers;
  for (const char* file : {"/product_uuid", "/board_serial"}) {
    const std::string number = tree.text(dmi + file);
    numbers += (identifies(number) ? to_lower(number) : "") + "\n";
  }
  std::vector<std::string> macs;
  for (const assist::Interface& interface : read_interfaces(tree, {})) {
    if (interface.type == "physical") macs.push_back(interface.mac_address);
  }
  std::sort(macs.begin(), macs.end());
  numbers += join(macs, "\n");
  if (!salt.empty()) numbers += fmt::format("\n{}", salt);
  // Version 8 of RFC 9562: a UUID of the program's own making.
  std::string hex = sha256_hex(numbers);
  hex[12] = '8';
  hex[16] = "89ab"[static_cast<unsigned>(hex[16]) % 4];
  return uuid_of_hex(hex);
}

}  // namespace slipway::agent
