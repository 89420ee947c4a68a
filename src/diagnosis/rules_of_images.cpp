// Rules about images that cannot be pulled.
#include "diagnosis/all_rules.h"

#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace slipway::diagnosis {

namespace {

enum class Kind { missing, other_content, unreachable };

// Errors of registry clients. A line matches a row if it contains all words of the row.
struct Words {
  Kind kind;
  std::vector<std::string_view> all;
};

const std::vector<Words>& table() {
  static const std::vector<Words> rows = {
      {Kind::other_content, {"pull", "unexpected commit digest"}},
      {Kind::other_content, {"pull", "failed precondition"}},
      {Kind::other_content, {"copy", "unexpected commit digest"}},
      {Kind::other_content, {"pull", "digest", "mismatch"}},
      {Kind::other_content, {"pull", "failed size validation"}},
      {Kind::missing, {"failed to resolve", "not found"}},
      {Kind::missing, {"pull", "manifest unknown"}},
      {Kind::missing, {"pull", "content at", "not found"}},
      {Kind::missing, {"failed to copy", "not found"}},
      {Kind::unreachable, {"pull", "dial tcp"}},
      {Kind::unreachable, {"failed to resolve", "dial tcp"}},
      {Kind::unreachable, {"pull", "i/o timeout"}},
  };
  return rows;
}

std::optional<Kind> kind_of(std::string_view line) {
  for (const Words& row : table()) {
    if (std::ranges::all_of(row.all, [&](std::string_view word) { return line.find(word) != std::string_view::npos; }))
      return row.kind;
  }
  return std::nullopt;
}

// The image that a line names, "registry.slipway.invalid/release@sha256:ab12..."; empty if there is none.
std::string image_in(std::string_view line) {
  const std::size_t digest = line.find("@sha256:");
  if (digest == std::string_view::npos) return {};
  constexpr std::string_view other = " \t\"'`\\=(";
  const std::size_t before = line.find_last_of(other, digest);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t end = line.find_first_not_of("0123456789abcdef", digest + 8);
  return std::string(line.substr(begin, std::min(end, line.size()) - begin));
}

struct Failure {
  Machine machine;
  std::string image;
  Quote line;
};

// Log messages about a successful pull.
constexpr std::array pulled_words = {std::string_view("returns image reference"), std::string_view("Successfully pulled image")};

// The log lines of a machine about images that it pulled.
std::vector<Quote> successful_pulls(const Bundle& bundle, const Machine& machine) {
  std::vector<Quote> lines;
  for (const std::string_view words : pulled_words)
    std::ranges::move(bundle.log_lines_with(machine, words), std::back_inserter(lines));
  return lines;
}

bool is_mentioned(const std::vector<Quote>& lines, const std::string& image) {
  return std::ranges::any_of(lines, [&](const Quote& line) { return line.text.find(image) != std::string::npos; });
}

// A stage of the bootstrap machine whose last attempt failed.
struct FailedStage {
  std::string name;
  std::string message;
};

std::vector<FailedStage> failed_stages(const Bundle& bundle) {
  std::vector<FailedStage> failed;
  for (const sys::Event& event : bundle.bootstrap_events()) {
    if (event.kind != "stage") continue;
    if (event.phase == sys::Phase::failed && event.error) {
      std::erase_if(failed, [&](const FailedStage& stage) { return stage.name == event.name; });
      failed.push_back({event.name, event.error->message()});
    } else if (event.phase == sys::Phase::finished) {
      std::erase_if(failed, [&](const FailedStage& stage) { return stage.name == event.name; });
    }
  }
  return failed;
}

std::optional<Failure> find_failure(const Bundle& bundle, Kind kind) {
  for (const Machine& machine : bundle.machines()) {
    const std::vector<Quote> pulled = successful_pulls(bundle, machine);
    for (const std::string_view words :
         {"failed to resolve", "failed to pull", "ailed to copy", "pulling an image", "PullImage"}) {
      std::vector<Quote> lines = bundle.log_lines_with(machine, words);
      for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (kind_of(line->text) != kind) continue;
        const std::string image = image_in(line->text);
        if (image.empty() || is_mentioned(pulled, image)) continue;
        const std::string_view focus = kind == Kind::unreachable ? "dial tcp" : kind == Kind::missing ? "not found" : "igest";
        return Failure{machine, image, {line->file, line->line, shortened(line->text, focus)}};
      }
    }
  }
  return std::nullopt;
}

std::string stage_of(const Bundle& bundle, const Failure& failure) {
  for (const FailedStage& stage : failed_stages(bundle)) {
    if (failure.machine.name == "bootstrap" && stage.message.find(failure.image) != std::string::npos) return stage.name;
  }
  return failure.line.file.find("release-image") != std::string::npos ? "release-image" : "images of " + failure.machine.name;
}

// The image with the name of its component in the release: "etcd (registry...@sha256:...)". Without a known name: the image.
std::string with_component_name(const Bundle& bundle, const std::string& image) {
  const std::string* references = bundle.find(image_references);
  const Result<Json> document = parse_json(references ? *references : "{}", "image-references");
  if (!document.ok()) return image;
  const std::size_t digest = image.find("@sha256:");
  for (const Json& tag : find_array(document.value(), {"spec", "tags"})) {
    if (find_string(tag, {"from", "name"}).value_or("").ends_with(image.substr(digest))) {
      return fmt::format("{} ({})", find_string(tag, {"name"}).value_or(""), image);
    }
  }
  return image;
}

}  // namespace

Found image_missing(const Bundle& bundle) {
  const std::optional<Failure> failure = find_failure(bundle, Kind::missing);
  if (!failure) return std::nullopt;
  return Finding{.stage = stage_of(bundle, *failure),
                 .cause = fmt::format("image {}, which {} needs, does not exist in the registry",
                                      with_component_name(bundle, failure->image), failure->machine.name),
                 .evidence = {failure->line},
                 .next_step =
                     "mirror the whole release with `slipway release mirror`, which verifies every image; on local machines, "
                     "rebuild the folder of --images",
                 .is_final = true};
}

Found digest_mismatch(const Bundle& bundle) {
  const std::optional<Failure> failure = find_failure(bundle, Kind::other_content);
  if (!failure) return std::nullopt;
  return Finding{.stage = stage_of(bundle, *failure),
                 .cause = fmt::format("image {} in the registry does not match its digest, so {} rejects it",
                                      with_component_name(bundle, failure->image), failure->machine.name),
                 .evidence = {failure->line},
                 .next_step =
                     "the content in the registry is damaged or was changed: remove the image there and mirror the release again "
                     "with `slipway release mirror`",
                 .is_final = true};
}

Found registry_unreachable(const Bundle& bundle) {
  for (const Machine& machine : bundle.machines()) {
    const std::optional<Probe> probe = bundle.probe(machine);
    if (!probe) continue;
    for (const Probe::Line& line : probe->lines("reach")) {
      if (!line.words[1].ends_with("/v2/") || line.has_answer()) continue;
      Finding finding{
          .stage = "images of " + machine.name,
          .cause = fmt::format("{} cannot reach registry {}", machine.name, line.words[1]),
          .evidence = {quote(*probe, line)},
          .next_step = fmt::format(
              "check that the registry runs (host/registry.log) and that no firewall blocks {}; image pulls are retried",
              machine.name)};
      if (const auto failure = find_failure(bundle, Kind::unreachable)) finding.evidence.push_back(failure->line);
      return finding;
    }
  }
  return std::nullopt;
}

}  // namespace slipway::diagnosis
