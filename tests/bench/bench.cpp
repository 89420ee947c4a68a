// What reading and writing documents costs, each figure beside a plain yardstick of the same minute: the ratio is what to
// compare between machines and versions.
#include "base/digest.h"
#include "base/json.h"
#include "base/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

using namespace slipway;

// Median of seven runs, in milliseconds.
double median_ms(const std::function<void()>& work) {
  std::vector<double> runs;
  for (int i = 0; i < 7; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    runs.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::nth_element(runs, runs.begin() + 3);
  return runs[3];
}

// A document of about 1.5 MB with 40,000 keys, in the shape of a list of manifests.
std::string large_yaml() {
  std::string text = "items:\n";
  for (int i = 0; i < 4000; ++i) {
    text += fmt::format(
        "- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: item-{0}\n    namespace: kube-system\n    labels:\n      app: demo\n"
        "      number: \"{0}\"\n  data:\n    mode: \"0644\"\n    path: /etc/kubernetes/manifests/item-{0}.yaml\n    text: a line of text that says "
        "nothing much about item {0}, but takes its place in the document as real ones do\n",
        i);
  }
  return text;
}

void scan_with_libyaml(const std::string& text) {
  yaml_parser_t parser;
  yaml_parser_initialize(&parser);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  for (bool more = true; more;) {
    yaml_event_t event;
    yaml_parser_parse(&parser, &event);
    more = event.type != YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
}

void print(const char* what, double ms, const char* yardstick, double yardstick_ms) {
  std::printf("%-38s %8.1f ms   %5.2f x %s (%.1f ms)\n", what, ms, ms / yardstick_ms, yardstick, yardstick_ms);
}

}  // namespace

int main() {
  const std::string text = large_yaml();
  const auto document = parse_yaml(text, "bench");
  const std::string json = emit_json(document->value, JsonStyle::compact);
  std::printf("document: %s of YAML, %s of JSON\n", fmt::format("{:.2f} MB", static_cast<double>(text.size()) / 1e6).c_str(),
              fmt::format("{:.2f} MB", static_cast<double>(json.size()) / 1e6).c_str());
  const double hash = median_ms([&] { (void)sha256_hex(text); });
  const double scan = median_ms([&] { scan_with_libyaml(text); });
  print("YAML read, with places", median_ms([&] { (void)parse_yaml(text, "bench").ok(); }), "libyaml's bare scan", scan);
  print("YAML written", median_ms([&] { (void)emit_yaml(document->value); }), "libyaml's bare scan", scan);
  print("JSON read", median_ms([&] { (void)parse_json(json, "bench").ok(); }), "SHA-256 of the YAML", hash);
  print("JSON written", median_ms([&] { (void)emit_json(document->value, JsonStyle::compact); }), "SHA-256 of the YAML", hash);
}
