#include "machineconfig/pool_settings.h"

#include "base/number.h"
#include "base/text.h"
#include "machineconfig/selector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

namespace slipway::machineconfig {

namespace {

using Names = std::initializer_list<std::string_view>;

struct FixedField {
  std::string_view name;
  std::string_view reason;
};
// Fields of KubeletConfiguration that other parts of the machine depend on.
constexpr std::array fixed_fields = {FixedField{"cgroupDriver", "it must be the one of containerd"},
                                     FixedField{"clusterDNS", "it is the address of the cluster's DNS service"},
                                     FixedField{"clusterDomain", "the cluster's DNS service serves cluster.local"},
                                     FixedField{"containerRuntimeEndpoint", "machines have containerd only"},
                                     FixedField{"staticPodPath", "the control plane's pods are in /etc/kubernetes/manifests"}};
constexpr std::string_view configuration_version = "kubelet.config.k8s.io/v1beta1", configuration_kind = "KubeletConfiguration";

struct NoEquivalent {
  std::string_view name;
  std::string_view reason;
  std::string_view hint;
};
// Fields of ContainerRuntimeConfig that only CRI-O has.
constexpr std::array no_equivalents = {
    NoEquivalent{"overlaySize", "containerd cannot limit the size of a container's file system",
                 "set limits of ephemeral-storage in pods, or in a LimitRange for a namespace"},
    NoEquivalent{"additionalImageStores", "containerd reads images from its own store only",
                 "name a mirror near the machines in an ImageDigestMirrorSet"},
    NoEquivalent{"additionalLayerStores", "containerd reads layers from its own store only",
                 "name a mirror near the machines in an ImageDigestMirrorSet"},
    NoEquivalent{"additionalArtifactStores", "containerd has no store of artifacts", "use a volume of type image"}};
constexpr std::array log_levels = {"fatal", "panic", "error", "warn", "info", "debug"};
constexpr std::int64_t least_pids_limit = 20, least_log_size = 8192;

enum class Profile { modern, intermediate, old, none };
struct Cipher {
  std::string_view openssl;
  std::string_view name;  // of the kubelet
  Profile first;          // the strictest profile that has it
};
// The ciphers that the kubelet has. Mozilla's profile Old has more.
constexpr std::array ciphers = {
    Cipher{"TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256", Profile::modern},
    Cipher{"TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384", Profile::modern},
    Cipher{"TLS_CHACHA20_POLY1305_SHA256", "TLS_CHACHA20_POLY1305_SHA256", Profile::modern},
    Cipher{"ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", Profile::intermediate},
    Cipher{"ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", Profile::intermediate},
    Cipher{"ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", Profile::intermediate},
    Cipher{"ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", Profile::intermediate},
    Cipher{"ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", Profile::intermediate},
    Cipher{"ECDHE-RSA-CHACHA20-POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", Profile::intermediate},
    Cipher{"ECDHE-ECDSA-AES128-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", Profile::old},
    Cipher{"ECDHE-RSA-AES128-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", Profile::old},
    Cipher{"ECDHE-ECDSA-AES128-SHA", "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", Profile::old},
    Cipher{"ECDHE-RSA-AES128-SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", Profile::old},
    Cipher{"ECDHE-ECDSA-AES256-SHA", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", Profile::old},
    Cipher{"ECDHE-RSA-AES256-SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", Profile::old},
    Cipher{"AES128-GCM-SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256", Profile::old},
    Cipher{"AES256-GCM-SHA384", "TLS_RSA_WITH_AES_256_GCM_SHA384", Profile::old},
    Cipher{"AES128-SHA256", "TLS_RSA_WITH_AES_128_CBC_SHA256", Profile::old},
    Cipher{"AES128-SHA", "TLS_RSA_WITH_AES_128_CBC_SHA", Profile::old},
    Cipher{"AES256-SHA", "TLS_RSA_WITH_AES_256_CBC_SHA", Profile::old},
    Cipher{"DES-CBC3-SHA", "TLS_RSA_WITH_3DES_EDE_CBC_SHA", Profile::old},
    Cipher{"ECDHE-RSA-DES-CBC3-SHA", "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", Profile::none}};
// Go serves HTTP/2 only with one of these, and the kubelet ends without HTTP/2.
constexpr std::array http2_ciphers = {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"};
constexpr std::array tls_versions = {"VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"};

struct ProfileRow {
  std::string_view type;
  Profile profile;
  std::string_view version;
};
constexpr std::array profiles = {ProfileRow{"Old", Profile::old, "VersionTLS10"},
                                 ProfileRow{"Intermediate", Profile::intermediate, "VersionTLS12"},
                                 ProfileRow{"Modern", Profile::modern, "VersionTLS13"}};

class Reader {
 public:
  Reader(const YamlDocument& document, Findings& findings) : document_(document), findings_(findings) {}

  KubeletSettings kubelet_config() {
    check_fields("spec", {"spec"},
                 {"machineConfigPoolSelector", "kubeletConfig", "autoSizingReserved", "logLevel", "tlsSecurityProfile"});
    check_selector();
    KubeletSettings settings;
    if (const Json* fields = find(document_.value, {"spec", "kubeletConfig"})) settings.fields = configuration(*fields);
    JsonObject& fields = settings.fields.as_object();
    if (const Json* sizing = set("autoSizingReserved")) {
      const std::string field = "spec.autoSizingReserved";
      if (!sizing->is_bool()) {
        error(field, "must be true or false");
      } else {
        settings.reserves_by_size = sizing->get_bool();
        if (sizing->get_bool() && !find_object(settings.fields, {"systemReserved"}).empty())
          error(field, "cannot be used with spec.kubeletConfig.systemReserved").hint("remove one of them");
      }
    }
    if (const Json* level = set("logLevel")) {
      const std::string field = "spec.logLevel";
      const auto* number = level->if_int64();
      if (!number || *number < 0 || *number > 10) {
        error(field, "must be a number from 0 to 10");
      } else if (find(settings.fields, {"logging", "verbosity"})) {
        error(field, "cannot be used with spec.kubeletConfig.logging.verbosity").hint("remove one of them");
      } else {
        Json& logging = fields["logging"];
        if (!logging.is_object()) logging = JsonObject();
        logging.as_object()["verbosity"] = *number;
      }
    }
    if (const Json* profile = set("tlsSecurityProfile")) put_profile(*profile, fields);
    return settings;
  }

  RuntimeSettings runtime_config() {
    check_fields("spec", {"spec"}, {"machineConfigPoolSelector", "containerRuntimeConfig"});
    check_selector();
    check_fields("spec.containerRuntimeConfig", {"spec", "containerRuntimeConfig"},
                 {"pidsLimit", "logLevel", "logSizeMax", "defaultRuntime", "overlaySize", "additionalImageStores",
                  "additionalLayerStores", "additionalArtifactStores"});
    RuntimeSettings settings;
    const auto value_of = [&](std::string_view name) {
      const Json* value = find(document_.value, {"spec", "containerRuntimeConfig", name});
      return value && !value->is_null() ? value : nullptr;
    };
    const auto field_of = [](std::string_view name) { return fmt::format("spec.containerRuntimeConfig.{}", name); };
    for (const NoEquivalent& row : no_equivalents) {
      if (value_of(row.name)) error(field_of(row.name), "is not supported: {}", row.reason).hint(std::string(row.hint));
    }
    if (const Json* limit = value_of("pidsLimit")) {
      const auto* number = limit->if_int64();
      if (number && *number >= least_pids_limit) {
        settings.pids_limit = *number;
      } else {
        error(field_of("pidsLimit"), "must be a number of at least {}", least_pids_limit)
            .hint("to remove the limit, set podPidsLimit to -1 in a KubeletConfig");
      }
    }
    if (const Json* size = value_of("logSizeMax")) read_log_size(*size, field_of("logSizeMax"), settings);
    if (const Json* level = value_of("logLevel")) {
      const std::string_view text = level->is_string() ? std::string_view(level->get_string()) : "";
      if (std::ranges::find(log_levels, text) != log_levels.end()) {
        settings.log_level = text;
      } else {
        error(field_of("logLevel"), "must be fatal, panic, error, warn, info or debug");
      }
    }
    if (const Json* runtime = value_of("defaultRuntime"); runtime && *runtime != Json("crun")) {
      error(field_of("defaultRuntime"), "machines of this release have crun only").hint("remove the field");
    }
    return settings;
  }

 private:
  Findings::Added error(const std::string& field, std::string_view text) {
    return findings_.error(document_.place_of(field), field, "{}", text);
  }
  template <class... Args>
  requires(sizeof...(Args) > 0) Findings::Added
      error(const std::string& field, fmt::format_string<Args...> text, Args&&... args) {
    return findings_.error(document_.place_of(field), field, text, std::forward<Args>(args)...);
  }

  // A field of spec that is set.
  const Json* set(std::string_view name) {
    const Json* value = find(document_.value, {"spec", name});
    return value && !value->is_null() ? value : nullptr;
  }

  void check_fields(std::string_view field, Names path, Names known) {
    const Json* value = find(document_.value, path);
    if (!value || value->is_null()) return;
    if (!value->is_object()) {
      error(std::string(field), "is not an object");
      return;
    }
    for (const auto& member : value->get_object()) {
      const std::string_view name = member.key();
      if (std::ranges::find(known, name) == known.end())
        error(fmt::format("{}.{}", field, name), "unknown field").hint("remove it");
    }
  }

  void check_selector() {
    const JsonArray& expressions = find_array(document_.value, {"spec", "machineConfigPoolSelector", "matchExpressions"});
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      const std::string_view how = find_string(expressions[i], {"operator"}).value_or("");
      const bool needs_values = how == "In" || how == "NotIn";
      const std::string field = fmt::format("spec.machineConfigPoolSelector.matchExpressions[{}]", i);
      if (!needs_values && how != "Exists" && how != "DoesNotExist") {
        error(field + ".operator", "'{}' is unknown", to_utf8(how)).hint("use In, NotIn, Exists or DoesNotExist");
      } else if (needs_values == find_array(expressions[i], {"values"}).empty()) {
        error(field + ".values", "{}", needs_values ? "missing" : "has values that the operator does not use");
      }
    }
  }

  JsonObject configuration(const Json& fields) {
    const std::string parent = "spec.kubeletConfig";
    JsonObject kept;
    if (!fields.is_object()) {
      if (!fields.is_null()) error(parent, "is not an object");
      return kept;
    }
    for (const auto& member : fields.get_object()) {
      const std::string_view name = member.key();
      const std::string field = fmt::format("{}.{}", parent, name);
      const auto fixed = std::ranges::find(fixed_fields, name, &FixedField::name);
      if (name == "apiVersion" || name == "kind") {
        const std::string_view wanted = name == "kind" ? configuration_kind : configuration_version;
        if (member.value() != Json(wanted)) error(field, "must be {}", wanted).hint("or remove the field");
      } else if (fixed != fixed_fields.end()) {
        error(field, "cannot be changed: {}", fixed->reason).hint("remove the field");
      } else {
        kept[name] = member.value();
      }
    }
    return kept;
  }

  void put_profile(const Json& profile, JsonObject& fields) {
    const std::string field = "spec.tlsSecurityProfile";
    for (const char* other : {"tlsMinVersion", "tlsCipherSuites"}) {
      if (fields.contains(other)) error(field, "cannot be used with spec.kubeletConfig.{}", other).hint("remove one of them");
    }
    std::string type = text_of(profile, {"type"});
    if (type.empty()) type = "Intermediate";
    std::vector<std::string> suites;
    std::string version;
    if (type == "Custom") {
      version = read_custom(profile, suites);
    } else {
      const auto row = std::ranges::find(profiles, type, &ProfileRow::type);
      if (row == profiles.end()) {
        error(field + ".type", "'{}' is unknown", to_utf8(type)).hint("use Old, Intermediate, Modern or Custom");
        return;
      }
      version = row->version;
      for (const Cipher& cipher : ciphers) {
        if (cipher.first <= row->profile) suites.emplace_back(cipher.name);
      }
    }
    fields["tlsMinVersion"] = version;
    fields["tlsCipherSuites"] = array_of(suites);
  }

  // returns: the oldest version
  std::string read_custom(const Json& profile, std::vector<std::string>& suites) {
    const std::string field = "spec.tlsSecurityProfile.custom";
    std::string version = text_of(profile, {"custom", "minTLSVersion"});
    if (std::ranges::find(tls_versions, version) == tls_versions.end()) {
      error(field + ".minTLSVersion", "'{}' is unknown", to_utf8(version))
          .hint("use VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13");
    }
    const std::vector<std::string> names = texts_of(profile, {"custom", "ciphers"});
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto cipher = std::ranges::find(ciphers, names[i], &Cipher::openssl);
      if (cipher != ciphers.end()) {
        suites.emplace_back(cipher->name);
      } else {
        error(fmt::format("{}.ciphers[{}]", field, i), "'{}' is not a cipher of the kubelet", to_utf8(names[i]))
            .hint("use OpenSSL's names, like ECDHE-RSA-AES128-GCM-SHA256");
      }
    }
    const bool has_http2 = std::ranges::any_of(
        http2_ciphers, [&](std::string_view name) { return std::ranges::find(suites, name) != suites.end(); });
    if (version != "VersionTLS13" && !has_http2) {
      error(field + ".ciphers", "the kubelet does not start without ECDHE-ECDSA-AES128-GCM-SHA256 or ECDHE-RSA-AES128-GCM-SHA256")
          .hint("add one of them");
    }
    return version;
  }

  void read_log_size(const Json& size, const std::string& field, RuntimeSettings& settings) {
    const std::optional<std::int64_t> bytes = quantity_value(size);
    if (bytes && *bytes >= least_log_size) {
      settings.log_size_max = bytes;
      return;
    }
    error(field, "must be a size of at least {} bytes", least_log_size)
        .hint("write it like 50Mi; to remove the limit, set containerLogMaxSize to -1 in a KubeletConfig");
  }

  const YamlDocument& document_;
  Findings& findings_;
};

}  // namespace

KubeletSettings read_kubelet_config(const YamlDocument& document, Findings& findings) {
  return Reader(document, findings).kubelet_config();
}

RuntimeSettings read_runtime_config(const YamlDocument& document, Findings& findings) {
  return Reader(document, findings).runtime_config();
}

void check_pool_settings(const YamlDocument& document, Findings& findings) {
  const std::string_view kind = find_string(document.value, {"kind"}).value_or("");
  if (kind == "KubeletConfig") (void)read_kubelet_config(document, findings);
  if (kind == "ContainerRuntimeConfig") (void)read_runtime_config(document, findings);
}

bool selects_pool(const Json& object, const Json& pool) {
  const Json* selector = find(object, {"spec", "machineConfigPoolSelector"});
  const bool is_empty = find_object(object, {"spec", "machineConfigPoolSelector", "matchLabels"}).empty() &&
                        find_array(object, {"spec", "machineConfigPoolSelector", "matchExpressions"}).empty();
  return !is_empty && selects(selector, find_object(pool, {"metadata", "labels"}));
}

void check_one_per_pool(const std::vector<Json>& pools, const std::vector<Json>& objects, Findings& findings) {
  for (const Json& pool : pools) {
    std::map<std::string, std::vector<std::string>, std::less<>> names;  // by kind
    for (const Json& object : objects) {
      if (selects_pool(object, pool)) names[text_of(object, {"kind"})].push_back(text_of(object, {"metadata", "name"}));
    }
    for (const auto& [kind, several] : names) {
      if (several.size() < 2) continue;
      findings
          .error({}, "", "pool {} is selected by {} {}s: {}", text_of(pool, {"metadata", "name"}), several.size(), kind,
                 join(several, ", "))
          .hint("at install time a pool may have one: merge them");
    }
  }
}

std::optional<std::int64_t> quantity_value(const Json& value) {
  const std::string text =
      value.is_string() ? std::string(std::string_view(value.get_string())) : emit_json(value, JsonStyle::compact);
  std::string_view quantity = text;
  constexpr std::string_view decimal = "kMGTPE", binary = "KMGTPE";
  if (quantity.starts_with('+')) quantity.remove_prefix(1);
  const std::optional<double> number = take_number<double>(quantity);
  if (!number) return std::nullopt;
  double factor = 1;
  if (quantity == "m" || quantity == "u" || quantity == "n") {
    factor = quantity == "m" ? 1e-3 : quantity == "u" ? 1e-6 : 1e-9;
  } else if (!quantity.empty()) {
    const bool is_binary = quantity.size() == 2 && quantity[1] == 'i';
    const std::size_t power = (is_binary ? binary : decimal).find(quantity[0]);
    if (power == std::string_view::npos || quantity.size() > (is_binary ? 2u : 1u)) return std::nullopt;
    factor = std::pow(is_binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
  }
  const double rounded = std::ceil(*number * factor);
  constexpr double limit = 9.2e18;
  if (!(rounded > -limit && rounded < limit)) return std::nullopt;
  return static_cast<std::int64_t>(rounded);
}

}  // namespace slipway::machineconfig
