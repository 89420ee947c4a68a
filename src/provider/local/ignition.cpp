#include "provider/local/ignition.h"

#include "base/text.h"
#include "data/data.h"

#include <algorithm>
#include <array>

namespace slipway::provider::local {

namespace {

constexpr std::array levels = {std::string_view("INFO "), std::string_view("NOTICE "), std::string_view("WARNING "),
                               std::string_view("ERROR "), std::string_view("CRITICAL ")};

// Exit status of the script apply-ignition if Ignition itself failed, not the commands around it.
constexpr int refused_status = 99;

}  // namespace

Result<> run_ignition(const sys::Context& context, sys::Runner& runner, const IgnitionInput& input,
                      const std::function<void(std::string_view)>& report) {
  const std::string os = input.sysroot + input.deployment.path.substr(0, input.deployment.path.rfind("/deploy/"));
  std::vector<std::string> lines;
  const sys::Output output = TRY(runner.run(
      context, {.argv = {"nsenter", "--net=" + input.network_namespace, "--", "unshare", "--mount", "--propagation=private", "--",
                         "/bin/sh", "-c", std::string(data::content(data::provider(), "apply-ignition")), "apply-ignition",
                         input.sysroot + input.deployment.path, os + "/var", input.config, input.work_folder},
                .output_limit = 4096,
                .on_line = [&](sys::Stream stream, std::string_view line) {
                  const auto shown = stream == sys::Stream::out ? printable_line(line) : std::nullopt;
                  if (!shown) return;
                  lines.push_back(*shown);
                  report(*shown);
                }}));
  if (output.status == 0) return Ok{};
  if (output.status == refused_status) return error(Code::invalid, "Ignition failed: {}", ignition_reason(lines));
  return error(Code::unavailable, "preparing to run Ignition on {}: status {}: {}", input.machine, output.status,
               trim(output.err));
}

std::optional<std::string> printable_line(std::string_view line) {
  const bool has_level =
      std::any_of(levels.begin(), levels.end(), [&](std::string_view level) { return line.starts_with(level); });
  if (!has_level) return std::nullopt;
  // `Cmd: "useradd" "--password" "..." Stdout: ""`: shows the program of the failed command, not its arguments.
  const std::size_t command = line.find("Cmd: \""), end = line.find(" Stdout: ", command);
  if (command == std::string_view::npos) return std::string(line);
  const std::size_t program_end = line.find('"', command + 6);
  if (program_end == std::string_view::npos || end == std::string_view::npos) return std::string(line.substr(0, command));
  return fmt::format("{} ...{}", line.substr(0, program_end + 1), line.substr(end));
}

std::optional<std::string> attempt_result(std::string_view line) {
  constexpr std::string_view answered = "GET result: ", failed = "GET error: ";
  if (const std::size_t at = line.find(answered); at != std::string_view::npos) {
    const std::string_view result = trim(line.substr(at + answered.size()));
    return std::string(result == "OK" ? "" : result);
  }
  if (const std::size_t at = line.find(failed); at != std::string_view::npos) {
    return std::string(trim(line.substr(at + failed.size())));
  }
  return std::nullopt;
}

std::string ignition_reason(const std::vector<std::string>& lines) {
  if (lines.empty()) return "no output";
  std::string_view reason = lines.back();
  for (std::string_view prefix : {"CRITICAL :", "Ignition failed:"}) {
    if (reason.starts_with(prefix)) reason = trim(reason.substr(prefix.size()));
  }
  return std::string(reason);
}

}  // namespace slipway::provider::local
