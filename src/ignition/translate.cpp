#include "ignition/translate.h"

#include "base/check.h"
#include "ignition/fields.h"
#include "ignition/source.h"

namespace slipway::ignition {

namespace {

bool has_special_bits(const Number& mode) { return mode && *mode > 0777 && *mode <= 07777; }

void clear_special_bits(Number& mode) {
  if (has_special_bits(mode)) *mode &= 0777;
}

class Search {
 public:
  explicit Search(Version version) : version_(version) {}

  // Whether the value is not empty. An empty value of a newer field does not matter.
  template <class T>
  static bool is_present(const T& value) {
    if constexpr (is_list<T>) {
      return !value.empty();
    } else if constexpr (is_optional<T>) {
      return value.has_value();
    } else {
      return !(value == T{});
    }
  }

  template <class T>
  void visit(const T& value, const std::string& path, const FieldRules& outer) {
    if constexpr (IsStruct<T>) {
      for_each_field<T>([&](const auto& field) {
        const auto& member = value.*field.member;
        if (!is_present(member)) return;
        const std::string inner = member_path(path, field.name);
        if (const Version since = version_of(field, outer); since > version_) {
          found.push_back({inner, "this field", since});
        } else {
          visit(member, inner, field.rules);
        }
      });
      values(value, path);
    } else if constexpr (is_list<T>) {
      for (std::size_t i = 0; i < value.size(); ++i) visit(value[i], item_path(path, i), outer);
    }
  }

  std::vector<Feature> found;

 private:
  // Adds values that are newer than their field.
  template <class T>
  void values(const T& value, const std::string& path) {
    if constexpr (std::is_same_v<T, Resource>) {
      const std::string scheme = value.source ? scheme_of(*value.source) : "";
      if (scheme == "gs") add(path + ".source", "a source of scheme gs", Version::v3_2);
      if (scheme == "arn") add(path + ".source", "a source of scheme arn", Version::v3_4);
    } else if constexpr (std::is_same_v<T, Verification>) {
      if (value.hash && value.hash->starts_with("sha256-")) add(path + ".hash", "a hash of sha256", Version::v3_1);
    } else if constexpr (std::is_same_v<T, Filesystem>) {
      if (value.format == "none") add(path + ".format", "the format none", Version::v3_3);
    } else if constexpr (std::is_same_v<T, File> || std::is_same_v<T, Directory>) {
      if (has_special_bits(value.mode)) add(path + ".mode", "setuid, setgid or sticky", Version::v3_4, Severity::warning);
    }
  }

  void add(std::string field, std::string what, Version since, Severity in_older = Severity::error) {
    if (since > version_) found.push_back({std::move(field), std::move(what), since, in_older});
  }

  Version version_;
};

}  // namespace

std::vector<Feature> features_after(const Config& config, Version version) {
  Search search(version);
  search.visit(config, "", {});
  return std::move(search.found);
}

Result<Config> translate(const Config& config, Version target) {
  std::string problems;
  for (const Feature& feature : features_after(config, target)) {
    // The feature has no effect in the version of the config, so nothing is lost.
    if (feature.in_older == Severity::warning && feature.since > config.ignition.version) continue;
    problems += fmt::format("\n{}: {} requires spec {}", feature.field, feature.what, to_string(feature.since));
  }
  if (!problems.empty()) {
    return error(Code::invalid, "this config of spec {} cannot be expressed in {}:{}", to_string(config.ignition.version),
                 to_string(target), problems);
  }
  if (target >= config.ignition.version) return raise(config, target);
  Config result = config;
  result.ignition.version = target;
  return result;
}

Config raise(Config config, Version target) {
  CHECK(target >= config.ignition.version);
  // setuid, setgid and sticky have no effect before 3.4. A newer version must not activate them.
  if (config.ignition.version < Version::v3_4 && target >= Version::v3_4) {
    for (File& file : config.storage.files) clear_special_bits(file.mode);
    for (Directory& directory : config.storage.directories) clear_special_bits(directory.mode);
  }
  config.ignition.version = target;
  return config;
}

}  // namespace slipway::ignition
