#include "agent/disk_checks.h"

#include "agent/disks.h"
#include "base/guarded.h"
#include "base/text.h"
#include "node/registry_access.h"
#include "release/manifest.h"
#include "release/registry_client.h"
#include "release/release.h"
#include "sys/disk_speed.h"
#include "sys/task_group.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway::agent {

namespace {

constexpr int images_at_once = 4;
constexpr int default_image_limit = 960;             // seconds
constexpr std::uint64_t measured_bytes = 16u << 20;  // enough to measure a rate, little enough for a slow link

struct ImageCheck {
  std::uint64_t size = 0;
  double seconds = 0;
  double rate = 0;  // 10^6 bytes a second
};

Result<ImageCheck> check_image(const sys::Context& context, release::ImageSource& source, const std::string& name) {
  const release::Reference reference = TRY(release::parse_reference(name));
  const SteadyTime start = context.clock.steady();
  release::RawManifest manifest = TRY(source.manifest(context, reference));
  manifest = TRY(release::manifest_for_this_machine(context, source, reference, std::move(manifest)));
  const release::ImageManifest image = TRY(release::parse_image_manifest(manifest));
  ImageCheck check;
  std::uint64_t received = 0;
  for (const release::Descriptor& layer : image.layers) check.size += layer.size;
  if (!image.layers.empty()) {
    const release::Descriptor& largest = *std::max_element(
        image.layers.begin(), image.layers.end(), [](const auto& one, const auto& other) { return one.size < other.size; });
    const Result<> downloaded = source.blob(context, reference, largest, [&](std::string_view piece) -> Result<> {
      received += piece.size();
      if (received >= measured_bytes) return error(Code::too_large, "enough for a measurement");
      return Ok{};
    });
    if (!downloaded.ok() && received < measured_bytes) return downloaded.error();
  }
  const Milliseconds took = std::max(context.clock.steady() - start, Milliseconds(1));
  check.seconds = std::chrono::duration<double>(took).count();
  check.rate = static_cast<double>(received) / 1e6 / check.seconds;
  return check;
}

// As containerd of this host, with the logins that the discovery image brings.
Result<release::RegistryOptions> registry_options(const sys::Context& context, sys::Files& files) {
  const std::string logins = "/root/.docker/config.json";
  release::RegistryOptions options = TRY(node::registry_access(context, files));
  const std::optional<std::string> text = TRY(files.read_if_exists(logins));
  if (text) options.credentials = TRY(release::Credentials::parse(*text, logins));
  return options;
}

// A stop token that is set when the time is over or the outer one is.
class TimeLimit {
 public:
  TimeLimit(const sys::Context& context, Milliseconds limit)
      : forward_(context.stop, [this] { stop_.request_stop(); }), timer_([this, &context, limit](std::stop_token ended) {
          context.clock.wait(context.clock.steady() + limit, ended, nullptr, 0);
          stop_.request_stop();
        }) {}

  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> forward_;
  std::jthread timer_;
};

}  // namespace

Result<assist::Disk> find_installation_disk(const std::vector<assist::Disk>& disks, const std::string& path) {
  for (const assist::Disk& disk : disks) {
    if (path.empty() || (path != disk.path && path != disk.id && path != disk.by_id && path != disk.by_path)) continue;
    if (disk.reasons.empty()) return disk;
    return error(Code::conflict, "{}: cannot be installed on: {}", path, join(disk.reasons, "; "));
  }
  return error(Code::not_found, "'{}' is not a disk of this host (the inventory lists them)", to_utf8(path));
}

Result<StepReply> check_disk_speed(const StepWorld& world, const Json& arguments) {
  const std::string path = text_of(arguments, {"path"});
  const assist::Disk disk = TRY(find_installation_disk(read_disks(world.tree), path));
  const auto times = TRY(sys::measure_durable_writes(world.environment.context, disk.path, {}));
  std::chrono::microseconds slowest{0};
  for (const auto& each : times) slowest = std::max(slowest, sys::percentile_99(each));
  return json_reply(Json{{"io_sync_duration", std::chrono::ceil<Milliseconds>(slowest).count()}, {"path", path}});
}

Result<StepReply> check_images(const StepWorld& world, const Json& arguments) {
  const std::vector<std::string> names = texts_of(arguments, {"images"});
  const int seconds = integer_of(arguments, {"timeout"});
  const TimeLimit limit(world.environment.context, Seconds(seconds > 0 ? seconds : default_image_limit));
  const sys::Context context = world.environment.context.with_stop(limit.token());
  release::RegistryClient client(world.environment.http, TRY(registry_options(context, world.environment.files)));
  std::vector<std::optional<Result<ImageCheck>>> checks(names.size());
  TRY(sys::for_each_at_once(world.environment.context, names.size(), images_at_once,
                            [&](const sys::Context&, std::size_t i) -> Result<> {
                              checks[i].emplace(check_image(context, client, names[i]));
                              return Ok{};
                            }));
  JsonArray images;
  std::vector<std::string> problems;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Result<ImageCheck>& check = *checks[i];
    if (!check.ok()) problems.push_back(fmt::format("{}: {}", names[i], check.error().message()));
    const ImageCheck found = check.ok() ? check.value() : ImageCheck{};
    images.push_back({{"name", names[i]},
                      {"result", check.ok() ? "success" : "failure"},
                      {"size_bytes", found.size},
                      {"time", found.seconds},
                      {"download_rate", found.rate}});
  }
  StepReply reply = json_reply(Json{{"images", std::move(images)}});
  reply.error = join(problems, "; ");
  if (!problems.empty()) reply.exit_code = 2;
  return reply;
}

}  // namespace slipway::agent
