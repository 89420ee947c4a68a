#include "kube/authorities.h"

#include "base/digest.h"
#include "base/yaml.h"
#include "net/x509.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace slipway::kube {

namespace {

constexpr std::string_view member = "certificate-authority-data";

// Calls `change` with the authorities (PEM) of each cluster and replaces them by the result.
Result<> for_each_bundle(Json& kubeconfig, const std::function<Result<std::string>(const std::string&)>& change) {
  JsonObject* document = kubeconfig.if_object();
  Json* list = document ? document->if_contains("clusters") : nullptr;
  if (!list || !list->is_array()) return error(Code::invalid, "clusters: missing, must be a list");
  std::size_t number = 0;
  for (Json& each : list->get_array()) {
    const std::string field = fmt::format("clusters[{}].cluster.{}", number++, member);
    const std::string data = TRY(require_string(each, {"cluster", member}).context(field));
    const std::string pem = TRY(base64_decode(data).context(field));
    each.get_object()["cluster"].get_object()[member] = base64_encode(TRY(change(pem).context(field)));
  }
  return Ok{};
}

}  // namespace

Result<std::optional<std::string>> add_authorities(std::string_view kubeconfig, std::string_view name, std::string_view bundle) {
  YamlDocument document = TRY(parse_yaml(kubeconfig, name));
  const std::vector<std::string> wanted = TRY(net::split_certificates(bundle).context("the authorities to add"));
  bool is_changed = false;
  TRY(for_each_bundle(document.value, [&](const std::string& pem) -> Result<std::string> {
        const std::vector<std::string> known = TRY(net::split_certificates(pem));
        std::string added;
        for (const std::string& each : wanted) {
          if (std::ranges::find(known, each) == known.end()) added += each;
        }
        is_changed = is_changed || !added.empty();
        return added + pem;
      }).context(std::string(name)));
  if (!is_changed) return std::optional<std::string>();
  return std::optional(emit_yaml(document.value));
}

bool has_only_more_authorities(std::string_view kubeconfig, std::string_view before) {
  Result<YamlDocument> now = parse_yaml(kubeconfig, "kubeconfig");
  Result<YamlDocument> then = parse_yaml(before, "kubeconfig");
  if (!now.ok() || !then.ok()) return false;
  std::vector<std::string> bundles;
  const auto collect = [&](const std::string& pem) -> Result<std::string> {
    bundles.push_back(pem);
    return pem;
  };
  std::size_t next = 0;
  const auto restore = [&](const std::string& pem) -> Result<std::string> {
    if (next == bundles.size() || !pem.ends_with(bundles[next])) return error(Code::invalid, "other authorities");
    return bundles[next++];
  };
  return for_each_bundle(then->value, collect).ok() && for_each_bundle(now->value, restore).ok() && now->value == then->value;
}

}  // namespace slipway::kube
