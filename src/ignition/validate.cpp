#include "ignition/validate.h"

#include "base/text.h"
#include "ignition/fields.h"
#include "ignition/source.h"
#include "ignition/translate.h"
#include "ignition/unit_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace slipway::ignition {

namespace {

template <std::size_t n>
bool is_one_of(std::string_view text, const std::array<std::string_view, n>& words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_empty(const Text& text) { return !text || text->empty(); }
bool is_set(const Flag& flag) { return flag.value_or(false); }

// An absolute path without empty, "." and ".." steps and without a slash at its end.
std::string cleaned(std::string_view path) {
  std::vector<std::string> steps;
  for (std::string_view step : split(path, '/')) {
    if (step.empty() || step == ".") continue;
    if (step != "..") {
      steps.emplace_back(step);
    } else if (!steps.empty()) {
      steps.pop_back();
    }
  }
  return "/" + join(steps, "/");
}

std::string suffix_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? "" : std::string(name.substr(dot));
}

class Validator {
 public:
  Validator(const Config& config, std::string root) : config_(config), root_(std::move(root)) {}

  Findings run() {
    visit(config_, root_);
    for (const Feature& feature : features_after(config_, config_.ignition.version)) {
      const std::string path = root_.empty() ? feature.field : root_ + "." + feature.field;
      findings_
          .add({feature.in_older,
                {},
                path,
                fmt::format("{} requires spec {}, but this config has {}", feature.what, to_string(feature.since),
                            to_string(config_.ignition.version)),
                ""})
          .hint(fmt::format("set ignition.version to {}", to_string(feature.since)));
    }
    return std::move(findings_);
  }

 private:
  template <class T>
  void visit(const T& value, const std::string& path) {
    if constexpr (IsStruct<T>) {
      check(value, path);
      check_duplicates(value, path);
      for_each_field<T>([&](const auto& field) {
        const auto& member = value.*field.member;
        if constexpr (IsStruct<std::remove_cvref_t<decltype(member)>>) {
          visit(member, member_path(path, field.name));
        } else if constexpr (is_list<std::remove_cvref_t<decltype(member)>>) {
          for (std::size_t i = 0; i < member.size(); ++i) visit(member[i], item_path(member_path(path, field.name), i));
        }
      });
    }
  }

  template <IsStruct T>
  void check_duplicates(const T& value, const std::string& path) {
    std::map<std::string, std::string, std::less<>> shared;  // key: where it stood first
    for_each_field<T>([&](const auto& field) {
      if constexpr (is_list<std::remove_cvref_t<decltype(value.*field.member)>>) {
        if (field.rules.concatenated) return;
        std::map<std::string, std::string, std::less<>> own;
        auto& seen = field.rules.shares_keys ? shared : own;
        const auto& list = value.*field.member;
        for (std::size_t i = 0; i < list.size(); ++i) {
          const std::string here = item_path(member_path(path, field.name), i);
          const auto [first, added] = seen.emplace(key_of(list[i]), here);
          if (added) continue;
          // A source may carry a whole config, or credentials.
          const bool is_source = std::is_same_v<std::remove_cvref_t<decltype(list[i])>, Resource>;
          const std::string what = is_source ? "this source" : fmt::format("'{}'", first->first);
          findings_.error({}, here, "{} is a duplicate, first in {}", what, first->second);
        }
      }
    });
  }

  template <class... Args>
  Findings::Added wrong(const std::string& path, std::string_view key, fmt::format_string<Args...> text, Args&&... args) {
    return findings_.error({}, key.empty() ? path : member_path(path, key), text, std::forward<Args>(args)...);
  }
  template <class... Args>
  Findings::Added doubtful(const std::string& path, std::string_view key, fmt::format_string<Args...> text, Args&&... args) {
    return findings_.warning({}, member_path(path, key), text, std::forward<Args>(args)...);
  }

  void check_path(const std::string& path, std::string_view key, const std::string& value) {
    if (value.empty()) {
      wrong(path, key, "missing, must be an absolute path");
    } else if (value[0] != '/') {
      wrong(path, key, "'{}' is not an absolute path", value).hint(fmt::format("'{}'?", cleaned(value)));
    } else if (const std::string clean = cleaned(value); clean != value) {
      wrong(path, key, "'{}' is not in its shortest form", value).hint(fmt::format("use '{}'", clean));
    }
  }

  void check_name(const std::string& path, const std::string& name) {
    if (name.empty()) wrong(path, "name", "missing, must be a name");
  }

  // A name of a file in a folder of ours.
  bool check_file_name(const std::string& path, const std::string& name) {
    if (name.find('/') == std::string::npos) return true;
    wrong(path, "name", "'{}' contains a slash", name);
    return false;
  }

  void check_required_source(const std::string& path, const Resource& resource) {
    if (is_empty(resource.source)) wrong(path, "source", "missing, required here");
  }

  void check_mode(const std::string& path, const Number& mode) {
    if (mode && (*mode < 0 || *mode > 07777)) {
      wrong(path, "mode", "must be 0 to 4095, got {}", *mode).hint("use decimal numbers: 0644 is 420");
    }
  }

  // Every path below a link of this config: Ignition does not follow them.
  void check_below_links(const std::string& path, const std::string& node, const std::set<std::string>& links) {
    for (std::size_t end = node.find('/', 1); end != std::string::npos; end = node.find('/', end + 1)) {
      const std::string parent = node.substr(0, end);
      if (links.contains(parent)) wrong(path, "path", "'{}' is below the link '{}' of this config", node, parent);
    }
  }

  template <class T>
  void check(const T&, const std::string&) {}

  void check(const Config& config, const std::string& path) {
    std::map<std::string, std::string> units;
    for (const Unit& unit : config.systemd.units) {
      const std::string file = "/etc/systemd/system/" + unit.name;
      if (!is_empty(unit.contents)) units.emplace(file, unit.name);
      for (const Dropin& dropin : unit.dropins) {
        if (!is_empty(dropin.contents)) units.emplace(file + ".d/" + dropin.name, unit.name);
      }
    }
    const std::string storage = member_path(path, "storage");
    for_each_field<Storage>([&](const auto& field) {
      const auto& nodes = config.storage.*field.member;
      if constexpr (requires { nodes.front().overwrite; }) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          const auto found = units.find(nodes[i].path);
          if (found == units.end()) continue;
          wrong(item_path(member_path(storage, field.name), i), "path", "'{}' is written by the unit {} of this config",
                nodes[i].path, found->second);
        }
      }
    });
  }

  void check(const ConfigReferences& references, const std::string& path) {
    for (std::size_t i = 0; i < references.merge.size(); ++i) {
      check_required_source(item_path(member_path(path, "merge"), i), references.merge[i]);
    }
  }

  void check(const Tls& tls, const std::string& path) {
    for (std::size_t i = 0; i < tls.certificate_authorities.size(); ++i) {
      check_required_source(item_path(member_path(path, "certificateAuthorities"), i), tls.certificate_authorities[i]);
    }
  }

  void check(const Proxy& proxy, const std::string& path) {
    const auto check_url = [&](std::string_view key, const Text& url) {
      if (!url) return;
      const std::string scheme = scheme_of(*url);
      if (scheme != "http" && scheme != "https") {
        wrong(path, key, "the URL of a proxy must begin with http:// or https://");
      } else if (const auto checked = check_server_url(*url); !checked.ok()) {
        wrong(path, key, "not a URL of a proxy: {}", checked.error().message());
      } else if (key == "httpsProxy" && scheme == "http") {
        doubtful(path, key, "the connection to this proxy is not encrypted");
      }
    };
    check_url("httpProxy", proxy.http_proxy);
    check_url("httpsProxy", proxy.https_proxy);
  }

  void check(const Resource& resource, const std::string& path) {
    if (!is_empty(resource.compression) && *resource.compression != "gzip") {
      wrong(path, "compression", "unknown value '{}'", *resource.compression).hint("use gzip, or omit it");
    }
    if (!is_empty(resource.source)) {
      if (const auto checked = check_source(*resource.source); !checked.ok()) {
        wrong(path, "source", "cannot be fetched: {}", checked.error().message());
      }
    }
    if (resource.verification.hash && !resource.source) {
      wrong(member_path(path, "verification"), "hash", "a hash requires a source");
    }
    const std::string scheme = scheme_of(resource.source.value_or(""));
    if (!resource.http_headers.empty() && scheme != "http" && scheme != "https") {
      wrong(path, "httpHeaders", "headers require an http or https source");
    }
  }

  void check(const HttpHeader& header, const std::string& path) {
    check_name(path, header.name);
    if (header.value && header.value->empty()) {
      wrong(path, "value", "empty").hint("omit it to remove a header when merging");
    }
  }

  void check(const Verification& verification, const std::string& path) {
    if (!verification.hash) return;
    const std::string_view hash = *verification.hash;
    const std::string_view function = hash.substr(0, hash.find('-'));
    const std::size_t digits = function == "sha512" ? 128 : function == "sha256" ? 64 : 0;
    if (digits == 0 || function.size() == hash.size()) {
      wrong(path, "hash", "a hash must be 'sha512-DIGITS' or 'sha256-DIGITS'");
    } else if (const std::string_view sum = hash.substr(function.size() + 1); sum.size() != digits) {
      wrong(path, "hash", "{} must have {} hexadecimal digits, got {}", function, digits, sum.size());
    } else if (sum.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
      wrong(path, "hash", "digits must be hexadecimal");
    }
  }

  void check(const Storage& storage, const std::string& path) {
    std::set<std::string> links;
    for (const Link& link : storage.links) links.insert(link.path);
    for_each_field<Storage>([&](const auto& field) {
      const auto& nodes = storage.*field.member;
      if constexpr (requires { nodes.front().overwrite; }) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          check_below_links(item_path(member_path(path, field.name), i), nodes[i].path, links);
        }
      }
    });
    check_hard_links(storage, path);
    std::map<std::string, const Disk*> disks;
    for (const Disk& disk : storage.disks) disks.emplace(disk.device, &disk);
    for (std::size_t i = 0; i < storage.filesystems.size(); ++i) {
      const auto disk = disks.find(storage.filesystems[i].device);
      if (disk == disks.end()) continue;
      const std::string here = item_path(member_path(path, "filesystems"), i);
      if (!disk->second->partitions.empty()) {
        doubtful(here, "device", "the filesystem overwrites the partitions of '{}'", disk->first);
      } else if (is_set(disk->second->wipe_table) && !is_set(storage.filesystems[i].wipe_filesystem)) {
        doubtful(here, "device", "wipeTable of '{}' wipes the filesystem too", disk->first);
      }
    }
  }

  void check_hard_links(const Storage& storage, const std::string& path) {
    std::set<std::string> directories;
    for (const Directory& directory : storage.directories) directories.insert(directory.path);
    for (std::size_t i = 0; i < storage.links.size(); ++i) {
      const Link& link = storage.links[i];
      if (!is_set(link.hard) || is_empty(link.target)) continue;
      const std::string here = item_path(member_path(path, "links"), i);
      const bool absolute = link.target->starts_with('/');
      if (directories.contains(cleaned(absolute ? *link.target : link.path + "/" + *link.target))) {
        wrong(here, "target", "a hard link to a directory is not possible");
      }
      if (link.user != Owner{}) doubtful(here, "user", "has no effect on a hard link");
      if (link.group != Owner{}) doubtful(here, "group", "has no effect on a hard link");
    }
  }

  void check(const File& file, const std::string& path) {
    check_path(path, "path", file.path);
    check_mode(path, file.mode);
    if (is_set(file.overwrite) && !file.contents.source) {
      wrong(path, "overwrite", "requires contents.source").hint("\"data:,\" is the empty file");
    }
  }

  void check(const Directory& directory, const std::string& path) {
    check_path(path, "path", directory.path);
    check_mode(path, directory.mode);
  }

  void check(const Link& link, const std::string& path) {
    check_path(path, "path", link.path);
    if (is_empty(link.target)) wrong(path, "target", "missing, required for a link");
  }

  void check(const Owner& owner, const std::string& path) {
    if (owner.id && !is_empty(owner.name)) wrong(path, "", "has both an ID and a name").hint("keep one of them");
  }

  void check(const Disk& disk, const std::string& path) {
    check_path(path, "device", disk.device);
    std::map<std::string, std::size_t> labels;
    bool has_next_number = false;
    bool has_unwanted = false;
    for (std::size_t i = 0; i < disk.partitions.size(); ++i) {
      const Partition& partition = disk.partitions[i];
      const std::string here = item_path(member_path(path, "partitions"), i);
      has_next_number |= partition.number.value_or(0) == 0;
      has_unwanted |= partition.should_exist == false;
      if (partition.label) {
        // Two without a number have been found as duplicates already.
        const auto [first, added] = labels.emplace(*partition.label, i);
        if (!added && key_of(disk.partitions[first->second]) != key_of(partition)) {
          wrong(here, "label", "duplicate label '{}'", *partition.label);
        }
      }
      for (std::size_t k = 0; k < i; ++k) {
        if (overlap(partition, disk.partitions[k])) wrong(here, "", "overlaps with partitions[{}]", k);
      }
    }
    if (has_next_number && has_unwanted) {
      wrong(path, "partitions", "partitions without a number cannot be used with partitions that should not exist");
    }
  }

  // Where both say where they lie; size 0 is the rest of the disk, of which nothing is known.
  static bool overlap(const Partition& a, const Partition& b) {
    if (!a.start_mib || !a.size_mib || !b.start_mib || !b.size_mib || *a.start_mib == 0 || *b.start_mib == 0) return false;
    const auto last = [](const Partition& p) {
      std::int64_t end = 0;
      const bool beyond = *p.size_mib <= 0 || __builtin_add_overflow(*p.start_mib, *p.size_mib - 1, &end);
      return beyond ? *p.start_mib : end;
    };
    return *a.start_mib <= last(b) && *b.start_mib <= last(a);
  }

  void check(const Partition& partition, const std::string& path) {
    if (partition.should_exist == false && (partition.label || !is_empty(partition.type_guid) || !is_empty(partition.guid) ||
                                            partition.start_mib || partition.size_mib)) {
      wrong(path, "shouldExist", "a partition that should not exist must have only a number");
    }
    if (partition.number.value_or(0) == 0 && !partition.label) wrong(path, "", "a number from 1, or a label, is required");
    if (partition.label && partition.label->size() > 36) wrong(path, "label", "has more than 36 characters");
    if (partition.label && partition.label->find(':') != std::string::npos) wrong(path, "label", "must not have a colon");
    check_guid(path, "guid", partition.guid);
    check_guid(path, "typeGuid", partition.type_guid);
  }

  void check_guid(const std::string& path, std::string_view key, const Text& guid) {
    if (is_empty(guid)) return;
    static constexpr std::string_view form = "01234567-89AB-CDEF-EDCB-A98765432101";
    bool fits = guid->size() == form.size();
    for (std::size_t i = 0; fits && i < form.size(); ++i) {
      const char c = (*guid)[i];
      fits = form[i] == '-' ? c == '-' : std::string_view("0123456789abcdefABCDEF").find(c) != std::string_view::npos;
    }
    if (!fits) wrong(path, key, "'{}' must have the form {}", *guid, form);
  }

  void check(const Raid& raid, const std::string& path) {
    static constexpr std::array<std::string_view, 4> spareless = {"linear", "raid0", "0", "stripe"};
    static constexpr std::array<std::string_view, 11> others = {"raid1", "1",     "mirror", "raid4",  "4", "raid5",
                                                                "5",     "raid6", "6",      "raid10", "10"};
    check_name(path, raid.name);
    if (is_empty(raid.level)) {
      wrong(path, "level", "missing, required for an array").hint("for example raid1");
    } else if (is_one_of(*raid.level, spareless)) {
      if (raid.spares.value_or(0) != 0) wrong(path, "spares", "{} does not support spares", *raid.level);
    } else if (!is_one_of(*raid.level, others)) {
      wrong(path, "level", "unknown value '{}'", *raid.level).hint("linear, raid0, raid1, raid4, raid5, raid6 or raid10");
    }
    if (raid.devices.empty()) wrong(path, "devices", "missing, required for an array");
    for (std::size_t i = 0; i < raid.devices.size(); ++i) {
      check_path(item_path(member_path(path, "devices"), i), "", raid.devices[i]);
    }
  }

  void check(const Filesystem& filesystem, const std::string& path) {
    static constexpr std::array<std::string_view, 6> formats = {"ext4", "btrfs", "xfs", "swap", "vfat", "none"};
    static const std::map<std::string_view, std::size_t> longest_label = {
        {"ext4", 16}, {"btrfs", 256}, {"xfs", 12}, {"swap", 15}, {"vfat", 11}};
    check_path(path, "device", filesystem.device);
    if (!is_empty(filesystem.path)) check_path(path, "path", *filesystem.path);
    if (is_empty(filesystem.format)) {
      if (!is_empty(filesystem.path) || !is_empty(filesystem.label) || !is_empty(filesystem.uuid) ||
          is_set(filesystem.wipe_filesystem) || !filesystem.options.empty() || !filesystem.mount_options.empty()) {
        wrong(path, "format", "missing, required by the other fields");
      }
      return;
    }
    if (!is_one_of(*filesystem.format, formats)) {
      wrong(path, "format", "unknown value '{}'", *filesystem.format).hint("ext4, btrfs, xfs, swap, vfat or none");
    }
    const auto limit = longest_label.find(*filesystem.format);
    if (filesystem.label && limit != longest_label.end() && filesystem.label->size() > limit->second) {
      wrong(path, "label", "a label of {} has at most {} bytes", *filesystem.format, limit->second);
    }
  }

  void check(const Luks& luks, const std::string& path) {
    check_name(path, luks.name);
    check_file_name(path, luks.name);
    check_path(path, "device", luks.device.value_or(""));
    if (luks.label && luks.label->size() > 47) wrong(path, "label", "has more than 47 bytes");
    const Clevis& clevis = luks.clevis;
    const bool has_others = !clevis.tang.empty() || is_set(clevis.tpm2) || clevis.threshold.value_or(0) != 0;
    if (!is_empty(clevis.custom.pin) && has_others) {
      wrong(member_path(path, "clevis"), "custom", "cannot be used with tang, tpm2 or threshold");
    }
    if (!is_set(luks.cex.enabled)) return;
    if (!is_empty(clevis.custom.pin) || has_others) wrong(path, "cex", "cannot be used with clevis");
    if (!is_empty(luks.key_file.source)) wrong(path, "cex", "cannot be used with keyFile");
  }

  void check(const ClevisCustom& custom, const std::string& path) {
    static constexpr std::array<std::string_view, 3> pins = {"tpm2", "tang", "sss"};
    if (is_empty(custom.pin) && is_empty(custom.config) && !is_set(custom.needs_network)) return;
    if (is_empty(custom.pin)) {
      wrong(path, "pin", "missing").hint("tpm2, tang or sss");
    } else if (!is_one_of(*custom.pin, pins)) {
      wrong(path, "pin", "unknown value '{}'", *custom.pin).hint("tpm2, tang or sss");
    }
    if (is_empty(custom.config)) wrong(path, "config", "missing, required for a custom pin");
  }

  void check(const Tang& tang, const std::string& path) {
    const std::string scheme = scheme_of(tang.url);
    if (scheme != "http" && scheme != "https") {
      wrong(path, "url", "the URL of a Tang server must begin with http:// or https://");
    } else if (const auto checked = check_server_url(tang.url); !checked.ok()) {
      wrong(path, "url", "not a URL of a Tang server: {}", checked.error().message());
    }
    if (is_empty(tang.thumbprint)) wrong(path, "thumbprint", "missing, required for a Tang server");
    if (!is_empty(tang.advertisement)) {
      if (const auto json = parse_json(*tang.advertisement, "advertisement"); !json.ok()) {
        wrong(path, "advertisement", "is not JSON: {}", json.error().message());
      }
    }
  }

  void check(const User& user, const std::string& path) { check_name(path, user.name); }
  void check(const Group& group, const std::string& path) { check_name(path, group.name); }

  void check(const Systemd& systemd, const std::string& path) {
    // An instance is installed as its template says.
    std::map<std::string, const Unit*> units;
    for (const Unit& unit : systemd.units) units.emplace(unit.name, &unit);
    for (std::size_t i = 0; i < systemd.units.size(); ++i) {
      const Unit& unit = systemd.units[i];
      const std::size_t at = unit.name.find('@');
      if (!is_set(unit.enabled) || at == 0 || at == std::string::npos || !unit.name.ends_with(".service")) continue;
      if (at + 1 == unit.name.size() - std::string_view(".service").size()) continue;
      const auto found = units.find(unit.name.substr(0, at) + "@.service");
      if (found == units.end() || is_empty(found->second->contents)) continue;
      const auto text = read_unit_text(*found->second->contents);
      if (!text.ok() || text->has_install) continue;
      doubtful(item_path(member_path(path, "units"), i), "contents", "enabled has no effect: {} has no option in [Install]",
               found->first);
    }
  }

  void check(const Unit& unit, const std::string& path) {
    static constexpr std::array<std::string_view, 12> suffixes = {".service",   ".socket",   ".device", ".mount",
                                                                  ".automount", ".swap",     ".target", ".path",
                                                                  ".timer",     ".snapshot", ".slice",  ".scope"};
    if (check_file_name(path, unit.name) && !is_one_of(suffix_of(unit.name), suffixes)) {
      wrong(path, "name", "'{}' does not have the ending of a unit", unit.name).hint("for example NAME.service");
    }
    if (is_empty(unit.contents)) return;
    const auto text = read_unit_text(*unit.contents);
    if (!text.ok()) {
      wrong(path, "contents", "not a unit file: {}", text.error().message());
    } else if (is_set(unit.enabled) && !text->has_install) {
      doubtful(path, "contents", "enabled has no effect without an option in [Install]");
    }
  }

  void check(const Dropin& dropin, const std::string& path) {
    if (check_file_name(path, dropin.name) && suffix_of(dropin.name) != ".conf") {
      wrong(path, "name", "'{}' must end in .conf", dropin.name);
    }
    if (!dropin.contents) return;
    if (const auto text = read_unit_text(*dropin.contents); !text.ok()) {
      wrong(path, "contents", "not a unit file: {}", text.error().message());
    }
  }

  const Config& config_;
  std::string root_;
  Findings findings_;
};

}  // namespace

Findings validate(const Config& config, const std::string& root) { return Validator(config, root).run(); }

Result<Parsed> read_config(std::string_view text, std::string_view name) {
  Parsed parsed = parse(TRY(parse_json(text, name)));
  if (!parsed.findings.has_errors()) parsed.findings.append(validate(parsed.config));
  parsed.findings = located(parsed.findings, text, name);
  TRY(parsed.findings.to_result());
  return parsed;
}

}  // namespace slipway::ignition
