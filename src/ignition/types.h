// The Ignition config, spec 3.0 to 3.5, as values. One set of types, with the fields of the newest spec, serves all versions.
//
//   Config config{.ignition = {.version = Version::v3_2}};
//   config.storage.files.push_back({.path = "/etc/motd", .mode = 0644, .contents = {.source = "data:,hello"}});
//
// Optional scalars distinguish "absent" from "empty", because merging depends on it. An empty list or struct is the same as an
// absent one. ignition/fields.h has the first version of each field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::ignition {

enum class Version { v3_0, v3_1, v3_2, v3_3, v3_4, v3_5 };

inline constexpr Version oldest_version = Version::v3_0;
inline constexpr Version newest_version = Version::v3_5;

// "3.2.0"
std::string to_string(Version version);
std::optional<Version> find_version(std::string_view text);

using Flag = std::optional<bool>;
using Number = std::optional<std::int64_t>;
using Text = std::optional<std::string>;
using Texts = std::vector<std::string>;

// When configs are merged, a header without a value removes the header of the same name.
struct HttpHeader {
  std::string name;
  Text value{};
  bool operator==(const HttpHeader&) const = default;
};

// hash: "sha512-<128 hexadecimal digits>" or "sha256-<64>", of the decompressed content
struct Verification {
  Text hash{};
  bool operator==(const Verification&) const = default;
};

// Something that Ignition fetches. The scheme of the source is http, https, tftp, s3, arn, gs or data.
struct Resource {
  Text source{};
  Text compression{};  // "" or "gzip"
  std::vector<HttpHeader> http_headers{};
  Verification verification{};
  bool operator==(const Resource&) const = default;
};

struct ConfigReferences {
  std::vector<Resource> merge{};
  Resource replace{};
  bool operator==(const ConfigReferences&) const = default;
};

struct Timeouts {
  Number http_response_headers{};  // seconds
  Number http_total{};             // seconds
  bool operator==(const Timeouts&) const = default;
};

struct Tls {
  std::vector<Resource> certificate_authorities{};
  bool operator==(const Tls&) const = default;
};

struct Security {
  Tls tls{};
  bool operator==(const Security&) const = default;
};

struct Proxy {
  Text http_proxy{};
  Text https_proxy{};
  Texts no_proxy{};
  bool operator==(const Proxy&) const = default;
};

struct Ignition {
  Version version = oldest_version;
  ConfigReferences config{};
  Timeouts timeouts{};
  Security security{};
  Proxy proxy{};
  bool operator==(const Ignition&) const = default;
};

struct KernelArguments {
  Texts should_exist{};
  Texts should_not_exist{};
  bool operator==(const KernelArguments&) const = default;
};

struct User {
  std::string name;
  Text password_hash{};
  Texts ssh_authorized_keys{};
  Number uid{};
  Text gecos{};
  Text home_dir{};
  Flag no_create_home{};
  Text primary_group{};
  Texts groups{};
  Flag no_user_group{};
  Flag no_log_init{};
  Text shell{};
  Flag should_exist{};
  Flag system{};
  bool operator==(const User&) const = default;
};

struct Group {
  std::string name;
  Number gid{};
  Text password_hash{};
  Flag should_exist{};
  Flag system{};
  bool operator==(const Group&) const = default;
};

struct Passwd {
  std::vector<User> users{};
  std::vector<Group> groups{};
  bool operator==(const Passwd&) const = default;
};

struct Partition {
  Number number{};  // 0 or absent: the next free number
  Text label{};
  Number size_mib{};
  Number start_mib{};
  Text type_guid{};
  Text guid{};
  Flag resize{};
  Flag should_exist{};
  Flag wipe_partition_entry{};
  bool operator==(const Partition&) const = default;
};

struct Disk {
  std::string device;
  Flag wipe_table{};
  std::vector<Partition> partitions{};
  bool operator==(const Disk&) const = default;
};

struct Raid {
  std::string name;
  Text level{};
  Texts devices{};
  Number spares{};
  Texts options{};
  bool operator==(const Raid&) const = default;
};

struct Tang {
  std::string url;
  Text thumbprint{};
  Text advertisement{};
  bool operator==(const Tang&) const = default;
};

struct ClevisCustom {
  Text pin{};
  Text config{};
  Flag needs_network{};
  bool operator==(const ClevisCustom&) const = default;
};

struct Clevis {
  std::vector<Tang> tang{};
  Flag tpm2{};
  Number threshold{};
  ClevisCustom custom{};
  bool operator==(const Clevis&) const = default;
};

struct Cex {
  Flag enabled{};
  bool operator==(const Cex&) const = default;
};

struct Luks {
  std::string name;
  Text device{};
  Resource key_file{};
  Text label{};
  Text uuid{};
  Texts options{};
  Texts open_options{};
  Flag discard{};
  Flag wipe_volume{};
  Clevis clevis{};
  Cex cex{};
  bool operator==(const Luks&) const = default;
};

struct Filesystem {
  std::string device;
  Text format{};
  Text path{};
  Text label{};
  Text uuid{};
  Flag wipe_filesystem{};
  Texts options{};
  Texts mount_options{};
  bool operator==(const Filesystem&) const = default;
};

// The user or the group of a file, by ID or by name.
struct Owner {
  Number id{};
  Text name{};
  bool operator==(const Owner&) const = default;
};

struct File {
  std::string path;
  Flag overwrite{};
  Number mode{};
  Owner user{};
  Owner group{};
  Resource contents{};
  std::vector<Resource> append{};
  bool operator==(const File&) const = default;
};

struct Directory {
  std::string path;
  Flag overwrite{};
  Number mode{};
  Owner user{};
  Owner group{};
  bool operator==(const Directory&) const = default;
};

struct Link {
  std::string path;
  Flag overwrite{};
  Text target{};
  Flag hard{};
  Owner user{};
  Owner group{};
  bool operator==(const Link&) const = default;
};

struct Storage {
  std::vector<Disk> disks{};
  std::vector<Raid> raid{};
  std::vector<Luks> luks{};
  std::vector<Filesystem> filesystems{};
  std::vector<Directory> directories{};
  std::vector<File> files{};
  std::vector<Link> links{};
  bool operator==(const Storage&) const = default;
};

struct Dropin {
  std::string name;
  Text contents{};
  bool operator==(const Dropin&) const = default;
};

struct Unit {
  std::string name;
  Flag enabled{};
  Flag mask{};
  Text contents{};
  std::vector<Dropin> dropins{};
  bool operator==(const Unit&) const = default;
};

struct Systemd {
  std::vector<Unit> units{};
  bool operator==(const Systemd&) const = default;
};

struct Config {
  Ignition ignition{};
  KernelArguments kernel_arguments{};
  Passwd passwd{};
  Storage storage{};
  Systemd systemd{};
  bool operator==(const Config&) const = default;
};

}  // namespace slipway::ignition
