// The rules of validate() about single values. Private to the folder.
#pragma once

#include "base/findings.h"
#include "ignition/types.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace slipway::ignition {

// Collects the findings of the rules.
class Report {
 public:
  // path: path of a struct; key: one of its members, or empty for the struct
  template <class... Args>
  Findings::Added error(const std::string& path, std::string_view key, fmt::format_string<Args...> text, Args&&... args) {
    return findings.error({}, field_path(path, key), text, std::forward<Args>(args)...);
  }
  template <class... Args>
  Findings::Added warning(const std::string& path, std::string_view key, fmt::format_string<Args...> text, Args&&... args) {
    return findings.warning({}, field_path(path, key), text, std::forward<Args>(args)...);
  }

  Findings findings;

 private:
  static std::string field_path(const std::string& path, std::string_view key);
};

// Each reports errors and warnings about one value. The members of the value that are structs are separate values. path: path of
// the value. The template is for structs without rules.
template <class T>
void check(const T&, const std::string&, Report&) {}

void check(const Config& config, const std::string& path, Report& report);  // paths of files against paths of units
void check(const User& user, const std::string& path, Report& report);
void check(const Group& group, const std::string& path, Report& report);

// validate_resources.cpp
void check(const ConfigReferences& references, const std::string& path, Report& report);
void check(const Tls& tls, const std::string& path, Report& report);
void check(const Proxy& proxy, const std::string& path, Report& report);
void check(const Resource& resource, const std::string& path, Report& report);
void check(const HttpHeader& header, const std::string& path, Report& report);
void check(const Verification& verification, const std::string& path, Report& report);

// validate_files.cpp
void check(const Storage& storage, const std::string& path, Report& report);  // rules about several nodes or filesystems
void check(const File& file, const std::string& path, Report& report);
void check(const Directory& directory, const std::string& path, Report& report);
void check(const Link& link, const std::string& path, Report& report);
void check(const Owner& owner, const std::string& path, Report& report);

// validate_disks.cpp
void check(const Disk& disk, const std::string& path, Report& report);
void check(const Partition& partition, const std::string& path, Report& report);
void check(const Raid& raid, const std::string& path, Report& report);
void check(const Filesystem& filesystem, const std::string& path, Report& report);
void check(const Luks& luks, const std::string& path, Report& report);
void check(const ClevisCustom& custom, const std::string& path, Report& report);
void check(const Tang& tang, const std::string& path, Report& report);

// validate_units.cpp
void check(const Systemd& systemd, const std::string& path, Report& report);  // enabled instances of templates
void check(const Unit& unit, const std::string& path, Report& report);
void check(const Dropin& dropin, const std::string& path, Report& report);

// Rules that several structs share.
void check_path(const std::string& path, std::string_view key, const std::string& value, Report& report);  // absolute and clean
void check_name(const std::string& path, const std::string& name, Report& report);                         // not empty
bool check_file_name(const std::string& path, const std::string& name, Report& report);  // no slash; returns whether it is valid

inline bool is_empty(const Text& text) { return !text || text->empty(); }
inline bool is_set(const Flag& flag) { return flag.value_or(false); }

template <std::size_t n>
bool is_one_of(std::string_view text, const std::array<std::string_view, n>& words) {
  return std::ranges::find(words, text) != words.end();
}

// An absolute path without empty, "." and ".." steps and without a trailing slash.
std::string cleaned(std::string_view path);

}  // namespace slipway::ignition
