#include "machineconfig/os_build_job.h"

#include "base/digest.h"
#include "ignition/gzip.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::machineconfig {

namespace {

constexpr std::string_view image_key = "image.json", failure_key = "failure", final_key = "isFinal";
constexpr std::size_t largest_inputs = 256 << 20;
constexpr std::size_t longest_message = 4000;

Json config_map(std::string name, std::string_view build, JsonObject data) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", std::move(name)}, {"labels", {{os_build_label, build}}}}},
          {"data", std::move(data)}};
}

bool leaves_folder(std::string_view path) {
  const std::string slashed = fmt::format("/{}/", path);
  return path.empty() || path.front() == '/' || slashed.find("/../") != std::string::npos;
}

}  // namespace

std::string job_name(std::string_view build) { return fmt::format("build-{}", build); }
std::string input_name(std::string_view build, std::size_t part) { return fmt::format("os-build-{}-{}", build, part); }
std::string result_name(std::string_view build) { return fmt::format("digest-{}", build); }
std::string failure_name(std::string_view pod) { return fmt::format("failure-{}", pod); }

Result<std::vector<std::string>> pack_inputs(const OsBuild& build, const std::vector<BuildFile>& files) {
  JsonArray list;
  for (const BuildFile& file : files) {
    list.push_back({{"path", file.path}, {"mode", file.mode}, {"content", base64_encode(file.content)}});
  }
  const Json document = {{"build", to_json(build)}, {"files", std::move(list)}};
  const std::string text = base64_encode(TRY(ignition::gzip(emit_json(document, JsonStyle::compact))));
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < text.size(); i += largest_part) parts.push_back(text.substr(i, largest_part));
  return parts;
}

Result<BuildInputs> unpack_inputs(const std::vector<std::string>& parts) {
  constexpr std::string_view name = "the inputs of the build";
  std::string text;
  for (const std::string& part : parts) text += part;
  const std::string packed = TRY(base64_decode(text).context(name));
  const std::string unpacked = TRY(ignition::gunzip(packed, largest_inputs).context(name));
  const Json document = TRY(parse_json(unpacked, name));
  const Json* build = find(document, {"build"});
  BuildInputs inputs;
  inputs.build = TRY(parse_os_build(build ? *build : Json(), name));
  for (const Json& each : find_array(document, {"files"})) {
    BuildFile file;
    file.path = TRY(require_string(each, {"path"}).context(name));
    if (leaves_folder(file.path)) return error(Code::invalid, "{}: path '{}' is not inside of the folder", name, file.path);
    const std::string content = TRY(require_string(each, {"content"}).context(name));
    file.content = TRY(base64_decode(content).context(file.path));
    file.mode = static_cast<unsigned>(integer_of(each, {"mode"}));
    inputs.files.push_back(std::move(file));
  }
  return inputs;
}

// A registry or a package source may answer later, and another machine may have more space.
BuildFailure failure_of(const Error& error) {
  const bool is_final = error.code() == Code::invalid || error.code() == Code::denied;
  return {.message = error.message(), .is_final = is_final};
}

Json result_object(const OsImage& image) {
  return config_map(result_name(image.build.name), image.build.name,
                    {{image_key, emit_json(to_json(image), JsonStyle::compact)}});
}

Json failure_object(std::string_view name, std::string_view pod, const BuildFailure& failure) {
  // The last lines say why.
  const std::string_view message = failure.message;
  const std::string_view end = message.substr(message.size() - std::min(message.size(), longest_message));
  return config_map(failure_name(pod), name, {{failure_key, end}, {final_key, failure.is_final ? "true" : "false"}});
}

Result<OsImage> parse_result(const Json& object) {
  const std::string text = TRY(require_string(object, {"data", image_key}));
  return parse_os_image(TRY(parse_json(text, image_key)), image_key);
}

std::optional<BuildFailure> parse_failure(const Json& object) {
  const auto message = find_string(object, {"data", failure_key});
  if (!message) return std::nullopt;
  return BuildFailure{.message = std::string(*message), .is_final = find_string(object, {"data", final_key}) == "true"};
}

}  // namespace slipway::machineconfig
