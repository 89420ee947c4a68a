// The table of fields: for each member of the structs in ignition/types.h, its JSON name, the first spec version that has it, and
// how its list is merged. Reading, writing, unknown keys, versions, duplicates and merging use this table.
//
//   for_each_field<Link>([&](const auto& field) { visit(link.*field.member, field.name); });
//
// Private to the folder.
#pragma once

#include "ignition/types.h"

#include <string_view>
#include <tuple>
#include <type_traits>

namespace slipway::ignition {

struct FieldRules {
  Version since = oldest_version;
  bool concatenated = false;  // the list may contain duplicates, and merging appends the child's items
  bool shares_keys = false;   // the keys of all lists of the struct with this flag are one namespace
  // Before 3.1, fetched configs and CA certificates could not be compressed, but file contents could.
  Version compression_since = oldest_version;
};

template <class Struct, class Member>
struct Field {
  std::string_view name;
  Member Struct::*member;
  FieldRules rules{};

  constexpr Field since(Version version) const {
    return with([&](FieldRules& r) { r.since = version; });
  }
  constexpr Field concatenated() const {
    return with([](FieldRules& r) { r.concatenated = true; });
  }
  constexpr Field shares_keys() const {
    return with([](FieldRules& r) { r.shares_keys = true; });
  }
  constexpr Field compression_since(Version version) const {
    return with([&](FieldRules& r) { r.compression_since = version; });
  }

 private:
  template <class Change>
  constexpr Field with(Change change) const {
    Field changed = *this;
    change(changed.rules);
    return changed;
  }
};

template <class Struct, class Member>
constexpr Field<Struct, Member> field(std::string_view name, Member Struct::*member) {
  return {name, member};
}

template <class T>
struct Type {};

constexpr auto fields_of(Type<HttpHeader>) {
  return std::tuple{field("name", &HttpHeader::name), field("value", &HttpHeader::value)};
}
constexpr auto fields_of(Type<Verification>) { return std::tuple{field("hash", &Verification::hash)}; }
constexpr auto fields_of(Type<Resource>) {
  return std::tuple{field("source", &Resource::source), field("compression", &Resource::compression),
                    field("httpHeaders", &Resource::http_headers).since(Version::v3_1),
                    field("verification", &Resource::verification)};
}
constexpr auto fields_of(Type<ConfigReferences>) {
  return std::tuple{field("merge", &ConfigReferences::merge).compression_since(Version::v3_1),
                    field("replace", &ConfigReferences::replace).compression_since(Version::v3_1)};
}
constexpr auto fields_of(Type<Timeouts>) {
  return std::tuple{field("httpResponseHeaders", &Timeouts::http_response_headers), field("httpTotal", &Timeouts::http_total)};
}
constexpr auto fields_of(Type<Tls>) {
  return std::tuple{field("certificateAuthorities", &Tls::certificate_authorities).compression_since(Version::v3_1)};
}
constexpr auto fields_of(Type<Security>) { return std::tuple{field("tls", &Security::tls)}; }
constexpr auto fields_of(Type<Proxy>) {
  return std::tuple{field("httpProxy", &Proxy::http_proxy), field("httpsProxy", &Proxy::https_proxy),
                    field("noProxy", &Proxy::no_proxy)};
}
constexpr auto fields_of(Type<Ignition>) {
  return std::tuple{field("version", &Ignition::version), field("config", &Ignition::config),
                    field("timeouts", &Ignition::timeouts), field("security", &Ignition::security),
                    field("proxy", &Ignition::proxy).since(Version::v3_1)};
}
constexpr auto fields_of(Type<KernelArguments>) {
  return std::tuple{field("shouldExist", &KernelArguments::should_exist).shares_keys(),
                    field("shouldNotExist", &KernelArguments::should_not_exist).shares_keys()};
}
constexpr auto fields_of(Type<User>) {
  return std::tuple{field("name", &User::name),
                    field("passwordHash", &User::password_hash),
                    field("sshAuthorizedKeys", &User::ssh_authorized_keys),
                    field("uid", &User::uid),
                    field("gecos", &User::gecos),
                    field("homeDir", &User::home_dir),
                    field("noCreateHome", &User::no_create_home),
                    field("primaryGroup", &User::primary_group),
                    field("groups", &User::groups),
                    field("noUserGroup", &User::no_user_group),
                    field("noLogInit", &User::no_log_init),
                    field("shell", &User::shell),
                    field("shouldExist", &User::should_exist).since(Version::v3_2),
                    field("system", &User::system)};
}
constexpr auto fields_of(Type<Group>) {
  return std::tuple{field("name", &Group::name), field("gid", &Group::gid), field("passwordHash", &Group::password_hash),
                    field("shouldExist", &Group::should_exist).since(Version::v3_2), field("system", &Group::system)};
}
constexpr auto fields_of(Type<Passwd>) { return std::tuple{field("users", &Passwd::users), field("groups", &Passwd::groups)}; }
constexpr auto fields_of(Type<Partition>) {
  return std::tuple{field("number", &Partition::number),
                    field("label", &Partition::label),
                    field("sizeMiB", &Partition::size_mib),
                    field("startMiB", &Partition::start_mib),
                    field("typeGuid", &Partition::type_guid),
                    field("guid", &Partition::guid),
                    field("resize", &Partition::resize).since(Version::v3_2),
                    field("shouldExist", &Partition::should_exist),
                    field("wipePartitionEntry", &Partition::wipe_partition_entry)};
}
constexpr auto fields_of(Type<Disk>) {
  return std::tuple{field("device", &Disk::device), field("wipeTable", &Disk::wipe_table),
                    field("partitions", &Disk::partitions)};
}
constexpr auto fields_of(Type<Raid>) {
  return std::tuple{field("name", &Raid::name), field("level", &Raid::level), field("devices", &Raid::devices),
                    field("spares", &Raid::spares), field("options", &Raid::options).concatenated()};
}
constexpr auto fields_of(Type<Tang>) {
  return std::tuple{field("url", &Tang::url), field("thumbprint", &Tang::thumbprint),
                    field("advertisement", &Tang::advertisement).since(Version::v3_4)};
}
constexpr auto fields_of(Type<ClevisCustom>) {
  return std::tuple{field("pin", &ClevisCustom::pin), field("config", &ClevisCustom::config),
                    field("needsNetwork", &ClevisCustom::needs_network)};
}
constexpr auto fields_of(Type<Clevis>) {
  return std::tuple{field("tang", &Clevis::tang), field("tpm2", &Clevis::tpm2), field("threshold", &Clevis::threshold),
                    field("custom", &Clevis::custom)};
}
constexpr auto fields_of(Type<Cex>) { return std::tuple{field("enabled", &Cex::enabled)}; }
constexpr auto fields_of(Type<Luks>) {
  return std::tuple{field("name", &Luks::name),
                    field("device", &Luks::device),
                    field("keyFile", &Luks::key_file),
                    field("label", &Luks::label),
                    field("uuid", &Luks::uuid),
                    field("options", &Luks::options).concatenated(),
                    field("openOptions", &Luks::open_options).since(Version::v3_4),
                    field("discard", &Luks::discard).since(Version::v3_4),
                    field("wipeVolume", &Luks::wipe_volume),
                    field("clevis", &Luks::clevis),
                    field("cex", &Luks::cex).since(Version::v3_5)};
}
constexpr auto fields_of(Type<Filesystem>) {
  return std::tuple{field("device", &Filesystem::device),
                    field("format", &Filesystem::format),
                    field("path", &Filesystem::path),
                    field("label", &Filesystem::label),
                    field("uuid", &Filesystem::uuid),
                    field("wipeFilesystem", &Filesystem::wipe_filesystem),
                    field("options", &Filesystem::options).concatenated(),
                    field("mountOptions", &Filesystem::mount_options).since(Version::v3_1).concatenated()};
}
constexpr auto fields_of(Type<Owner>) { return std::tuple{field("id", &Owner::id), field("name", &Owner::name)}; }
constexpr auto fields_of(Type<File>) {
  return std::tuple{field("path", &File::path),
                    field("overwrite", &File::overwrite),
                    field("mode", &File::mode),
                    field("user", &File::user),
                    field("group", &File::group),
                    field("contents", &File::contents),
                    field("append", &File::append).concatenated()};
}
constexpr auto fields_of(Type<Directory>) {
  return std::tuple{field("path", &Directory::path), field("overwrite", &Directory::overwrite), field("mode", &Directory::mode),
                    field("user", &Directory::user), field("group", &Directory::group)};
}
constexpr auto fields_of(Type<Link>) {
  return std::tuple{field("path", &Link::path), field("overwrite", &Link::overwrite), field("target", &Link::target),
                    field("hard", &Link::hard), field("user", &Link::user),           field("group", &Link::group)};
}
constexpr auto fields_of(Type<Storage>) {
  return std::tuple{field("disks", &Storage::disks),
                    field("raid", &Storage::raid),
                    field("luks", &Storage::luks).since(Version::v3_2),
                    field("filesystems", &Storage::filesystems),
                    field("directories", &Storage::directories).shares_keys(),
                    field("files", &Storage::files).shares_keys(),
                    field("links", &Storage::links).shares_keys()};
}
constexpr auto fields_of(Type<Dropin>) { return std::tuple{field("name", &Dropin::name), field("contents", &Dropin::contents)}; }
constexpr auto fields_of(Type<Unit>) {
  return std::tuple{field("name", &Unit::name), field("enabled", &Unit::enabled), field("mask", &Unit::mask),
                    field("contents", &Unit::contents), field("dropins", &Unit::dropins)};
}
constexpr auto fields_of(Type<Systemd>) { return std::tuple{field("units", &Systemd::units)}; }
constexpr auto fields_of(Type<Config>) {
  return std::tuple{field("ignition", &Config::ignition),
                    field("kernelArguments", &Config::kernel_arguments).since(Version::v3_3), field("passwd", &Config::passwd),
                    field("storage", &Config::storage), field("systemd", &Config::systemd)};
}

template <class T>
concept IsStruct = requires {
  fields_of(Type<T>{});
};

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <IsStruct T, class Visit>
void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... each) { (visit(each), ...); }, fields_of(Type<T>{}));
}

// The first version that has a member. `outer` has the rules of the field that contains the struct.
template <class Struct, class Member>
constexpr Version version_of(const Field<Struct, Member>& inner, const FieldRules& outer) {
  if constexpr (std::is_same_v<Struct, Resource>) {
    if (inner.name == "compression" && outer.compression_since > inner.rules.since) return outer.compression_since;
  }
  return inner.rules.since;
}

// The key of a list item. Keys are unique in a list. Merging matches items of parent and child by key.
inline const std::string& key_of(const std::string& text) { return text; }
inline std::string key_of(const Resource& resource) { return resource.source.value_or(""); }
inline const std::string& key_of(const Disk& disk) { return disk.device; }
inline const std::string& key_of(const Filesystem& filesystem) { return filesystem.device; }
inline const std::string& key_of(const Tang& tang) { return tang.url; }
std::string key_of(const Partition& partition);
template <class T>
requires requires(const T& t) { t.path; }
const std::string& key_of(const T& node) { return node.path; }
template <class T>
requires requires(const T& t) { t.name; }
const std::string& key_of(const T& named) { return named.name; }

// Append a member or an index to the path of a field: "storage.files[3]".
std::string member_path(const std::string& path, std::string_view key);
std::string item_path(const std::string& path, std::size_t index);

}  // namespace slipway::ignition
