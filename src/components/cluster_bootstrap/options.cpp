#include "components/cluster_bootstrap/options.h"

#include "base/flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace slipway::components::cluster_bootstrap {

namespace {

const std::vector<Flag> table = {
    {.name = "asset-dir", .required = true},
    {.name = "pod-manifest-path", .fallback = "/etc/kubernetes/manifests"},
    {.name = "strict", .is_switch = true},  // no effect, as upstream
    {.name = "required-pods",
     .fallback = "kube-system/pod-checkpointer,kube-system/kube-apiserver,kube-system/kube-scheduler,"
                 "kube-system/kube-controller-manager"},
    {.name = "required-pods-timeout", .fallback = "20m"},
    {.name = "tear-down-event"},
    {.name = "tear-down-early", .fallback = "true", .is_switch = true},
    {.name = "tear-down-termination-timeout", .fallback = "0"},
    {.name = "tear-down-delay", .fallback = "0"},
    {.name = "assets-create-timeout", .fallback = "60m"},
};

constexpr std::array<std::pair<std::string_view, double>, 4> units = {{{"ms", 1}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}}};
constexpr double most = 1'000'000;  // largest number of any unit, which cannot overflow

}  // namespace

std::string BootstrapOptions::secrets_path() const {
  return pod_manifest_path.substr(0, pod_manifest_path.rfind('/')) + "/bootstrap-secrets";
}

Result<Milliseconds> parse_go_duration(std::string_view text) {
  const Error wrong = error(Code::invalid, "'{}' is not a duration (use for example 20m, 1h30m or 0)", text);
  if (text == "0") return Milliseconds(0);
  if (text.empty()) return wrong;
  double sum = 0;
  while (!text.empty()) {
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    // The comparison also rejects NaN.
    if (read.ec != std::errc() || !(number >= 0 && number <= most)) return wrong;
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    const auto* unit = std::ranges::find_if(units, [&](const auto& each) { return text.starts_with(each.first); });
    if (unit == units.end()) return wrong;
    sum += number * unit->second;
    text.remove_prefix(unit->first.size());
  }
  return Milliseconds(static_cast<std::int64_t>(sum));
}

Result<BootstrapOptions> parse_bootstrap_options(const Arguments& arguments) {
  const Flags flags = TRY(parse_flags("cluster-bootstrap start", table, arguments));
  BootstrapOptions options{.asset_dir = flags.text("asset-dir"),
                           .pod_manifest_path = flags.text("pod-manifest-path"),
                           .required_pods = {},
                           .tear_down_event = flags.text("tear-down-event"),
                           .tear_down_early = flags.is_set("tear-down-early")};
  options.required_pods = TRY(parse_required_pods(flags.text("required-pods")).context("--required-pods"));
  options.pods_limit = TRY(parse_go_duration(flags.text("required-pods-timeout")).context("--required-pods-timeout"));
  options.termination_limit =
      TRY(parse_go_duration(flags.text("tear-down-termination-timeout")).context("--tear-down-termination-timeout"));
  options.tear_down_delay = TRY(parse_go_duration(flags.text("tear-down-delay")).context("--tear-down-delay"));
  options.create_limit = TRY(parse_go_duration(flags.text("assets-create-timeout")).context("--assets-create-timeout"));
  if (!options.tear_down_event.empty() && options.tear_down_event.find('/') == std::string::npos) {
    return error(Code::invalid, "--tear-down-event: '{}' is not NAMESPACE/NAME", options.tear_down_event);
  }
  return options;
}

}  // namespace slipway::components::cluster_bootstrap
