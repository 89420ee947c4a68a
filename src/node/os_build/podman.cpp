#include "node/os_build/podman.h"

#include "base/characters.h"
#include "base/text.h"
#include "node/os_build/steps.h"

#include <algorithm>
#include <array>
#include <span>

namespace slipway::node {

namespace {

constexpr std::string_view error_word = "Error: ";
constexpr std::size_t looked_at = 40;  // lines of a failed program
constexpr std::size_t shown = 5;       // of them in the error
constexpr std::size_t longest = 200;   // bytes of a line in the error

bool has_one_of(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

constexpr std::array disk_words = {std::string_view("no space left on device"), std::string_view("disk quota exceeded")};

constexpr std::array denied_words = {std::string_view("unauthorized"),
                                     std::string_view("authentication required"),
                                     std::string_view("access to the resource is denied"),
                                     std::string_view("denied: "),
                                     std::string_view("invalid username/password"),
                                     std::string_view("status code 401"),
                                     std::string_view("401 unauthorized"),
                                     std::string_view("403 forbidden"),
                                     std::string_view("403 (forbidden)")};

// Of podman, about registries.
constexpr std::array network_words = {std::string_view("i/o timeout"),
                                      std::string_view("tls handshake timeout"),
                                      std::string_view("client.timeout exceeded"),
                                      std::string_view("context deadline exceeded"),
                                      std::string_view("connection refused"),
                                      std::string_view("connection reset"),
                                      std::string_view("connection timed out"),
                                      std::string_view("no route to host"),
                                      std::string_view("network is unreachable"),
                                      std::string_view("no such host"),
                                      std::string_view("server misbehaving"),
                                      std::string_view("temporary failure in name resolution"),
                                      std::string_view("unexpected eof"),
                                      std::string_view("toomanyrequests"),
                                      std::string_view("too many requests"),
                                      std::string_view("status: 429"),
                                      std::string_view("status code 429"),
                                      std::string_view("http status: 5"),
                                      std::string_view("status code 5"),
                                      std::string_view("500 internal server error"),
                                      std::string_view("502 bad gateway"),
                                      std::string_view("503 service unavailable"),
                                      std::string_view("504 gateway time")};

// Of apt, dnf, curl and wget, about their servers.
constexpr std::array source_words = {std::string_view("temporary failure resolving"),
                                     std::string_view("temporary failure in name resolution"),
                                     std::string_view("could not resolve"),
                                     std::string_view("couldn't resolve"),
                                     std::string_view("could not connect to"),
                                     std::string_view("cannot initiate the connection"),
                                     std::string_view("unable to connect to"),
                                     std::string_view("failed to connect to"),
                                     std::string_view("connection refused"),
                                     std::string_view("connection failed"),
                                     std::string_view("connection timed out"),
                                     std::string_view("connection reset by peer"),
                                     std::string_view("operation timed out"),
                                     std::string_view("network is unreachable"),
                                     std::string_view("429 too many requests"),
                                     std::string_view("429  too many requests"),
                                     std::string_view("502 bad gateway"),
                                     std::string_view("502  bad gateway"),
                                     std::string_view("503 service unavailable"),
                                     std::string_view("503  service unavailable"),
                                     std::string_view("504 gateway time"),
                                     std::string_view("504  gateway time"),
                                     std::string_view("curl error (")};

// The lines that the last step has printed, without podman's error.
std::vector<std::string_view> lines_of_last_step(const std::vector<std::string>& output) {
  std::vector<std::string_view> lines;
  for (std::size_t i = output.size(); i-- > 0 && lines.size() < looked_at;) {
    if (begins_step(output[i])) break;
    if (output[i].starts_with(error_word) || output[i].starts_with("subprocess exited ") || trim(output[i]).empty()) continue;
    lines.insert(lines.begin(), trim(output[i]));
  }
  return lines;
}

std::string_view error_line(const std::vector<std::string>& output) {
  for (std::size_t i = output.size(); i-- > 0;) {
    if (std::string_view(output[i]).starts_with(error_word)) return std::string_view(output[i]).substr(error_word.size());
  }
  return output.empty() ? std::string_view("podman failed without a message") : std::string_view(output.back());
}

std::string text_of(const machineconfig::Instruction& instruction) {
  std::string name = instruction.name;
  for (char& c : name) c = is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
  for (const std::string_view word : split(instruction.rest, ' ')) {
    if (!word.empty()) name.append(" ").append(word);  // continued lines have several blanks
  }
  return name;
}

std::string shortened(std::string_view text) {
  return to_utf8(text.size() <= longest ? text : std::string(text.substr(0, longest)) + "...");
}

}  // namespace

std::vector<std::string> podman_command(const Podman& podman, std::vector<std::string> arguments) {
  std::vector<std::string> argv = {"podman", "--root=" + podman.storage, "--runroot=/run/slipway-os-build"};
  if (podman.has_vfs) argv.push_back("--storage-driver=vfs");
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

std::vector<std::string> build_command(const Podman& podman, const PodmanBuild& build) {
  std::vector<std::string> arguments = {"build",
                                        "--isolation=chroot",
                                        "--network=host",
                                        "--pull=newer",
                                        "--layers",
                                        "--format=oci",
                                        "--force-rm",
                                        "--identity-label=false",
                                        "--tag=" + build.tag,
                                        "--file=" + build.folder + "/Containerfile"};
  if (!build.has_cache) arguments.push_back("--no-cache");
  if (!build.logins.empty()) arguments.push_back("--authfile=" + build.logins);
  if (!build.authorities.empty()) arguments.push_back("--cert-dir=" + build.authorities);
  if (!build.policy.empty()) arguments.push_back("--signature-policy=" + build.policy);
  arguments.push_back(build.folder);
  return podman_command(podman, std::move(arguments));
}

std::vector<std::string> export_arguments(const std::string& tag, const std::string& layout, const std::string& name,
                                          const std::string& policy) {
  std::vector<std::string> arguments = {"push", "--format=oci", "--remove-signatures"};
  if (!policy.empty()) arguments.push_back("--signature-policy=" + policy);
  arguments.insert(arguments.end(), {tag, fmt::format("oci:{}:{}", layout, name)});
  return arguments;
}

std::vector<StoredImage> parse_images(std::string_view output) {
  constexpr std::string_view algorithm = "sha256:";
  std::vector<StoredImage> images;
  for (std::string_view line : split(output, '\n')) {
    line = trim(line);
    if (line.starts_with(algorithm)) line.remove_prefix(algorithm.size());
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    images.push_back({.id = std::string(line.substr(0, blank)), .name = std::string(trim(line.substr(blank)))});
  }
  return images;
}

std::vector<std::string> earlier_results(const std::vector<StoredImage>& results, std::string_view pool, std::string_view tag) {
  std::vector<std::string> names;
  for (const StoredImage& image : results) {
    const std::string_view build = std::string_view(image.name).substr(image.name.rfind(':') + 1);  // POOL-CONTENT
    if (image.name != tag && build.substr(0, std::min(build.rfind('-'), build.size())) == pool) names.push_back(image.name);
  }
  return names;
}

PodmanFailure classify_failure(const std::vector<std::string>& output) {
  const std::string_view message = error_line(output);
  const std::string words = to_lower(message);
  const std::size_t status = message.rfind("exit status ");
  PodmanFailure failure{.code = Code::invalid, .reason = std::string(message)};
  failure.is_of_program = message.starts_with("building at STEP \"RUN") && status != std::string_view::npos;
  if (failure.is_of_program) failure.reason = message.substr(status);
  // Programs print the reason, and podman only their exit status.
  std::string last;
  if (failure.is_of_program) {
    for (const std::string_view line : lines_of_last_step(output)) last += to_lower(line) + "\n";
  }
  if (has_one_of(words, disk_words) || has_one_of(last, disk_words)) {
    failure.code = Code::conflict;
  } else if (failure.is_of_program) {
    if (has_one_of(last, source_words)) failure.code = Code::unavailable;
  } else if (has_one_of(words, network_words)) {
    failure.code = Code::unavailable;
  } else if (has_one_of(words, denied_words)) {
    failure.code = Code::denied;
  }
  return failure;
}

Error explain_failure(const PodmanFailure& failure, std::string_view containerfile, int first_line_of_user,
                      const std::vector<std::string>& output) {
  const std::vector<Step> steps = steps_of(containerfile);
  std::string where;
  if (const Step* step = last_step(steps, output)) {
    const int line = step->instruction.line - first_line_of_user + 1;
    const std::string text = shortened(text_of(step->instruction));
    where = line > 0 ? fmt::format("line {} of the Containerfile ({})", line, text)
                     : fmt::format("a step before those of the Containerfile ({})", text);
  }
  std::string text = where.empty() ? failure.reason : where + ": " + failure.reason;
  if (failure.is_of_program) {
    std::vector<std::string_view> lines = lines_of_last_step(output);
    if (lines.size() > shown) lines.erase(lines.begin(), lines.end() - shown);
    for (std::size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? "; its last output: " : " | ") + shortened(lines[i]);
  }
  return Error(failure.code, to_utf8(text));
}

}  // namespace slipway::node
