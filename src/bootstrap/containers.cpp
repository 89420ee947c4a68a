#include "bootstrap/containers.h"

#include "base/text.h"
#include "sys/wait_for.h"

#include <fmt/format.h>

namespace slipway::bootstrap {

namespace {

using sys::Context;

constexpr Milliseconds tool_limit{60'000};  // of commands that list or remove

std::vector<std::string> ctr(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"ctr", "--namespace", "k8s.io"});
  return arguments;
}

std::vector<std::string> ctr_command(const Container& container) {
  std::vector<std::string> argv = ctr({"run", "--rm", "--net-host"});
  for (const Mount& mount : container.mounts) {
    argv.push_back("--mount");
    argv.push_back(
        fmt::format("type=bind,src={},dst={},options=rbind:{}", mount.source, mount.target, mount.writable ? "rw" : "ro"));
  }
  for (const std::string& variable : container.environment) argv.insert(argv.end(), {"--env", variable});
  argv.insert(argv.end(), {container.image, container.name, container.program});
  return argv;
}

std::vector<std::string> podman_command(const Container& container) {
  std::vector<std::string> argv = {"podman",    "run",    "--quiet",      "--net=host", "--rm",
                                   "--replace", "--name", container.name, "--user=0",   "--authfile=/root/.docker/config.json"};
  for (const Mount& mount : container.mounts) {
    argv.push_back("--volume");
    std::string options = mount.writable ? "rw" : "ro";
    if (!mount.is_of_system) options += ",z";
    argv.push_back(fmt::format("{}:{}:{}", mount.source, mount.target, options));
  }
  for (const std::string& variable : container.environment) argv.insert(argv.end(), {"--env", variable});
  argv.push_back(container.image);
  if (!container.is_entry_point) argv.push_back(container.program);
  return argv;
}

}  // namespace

std::vector<std::string> command_of(Runtime runtime, const Container& container) {
  std::vector<std::string> argv = runtime == Runtime::containerd ? ctr_command(container) : podman_command(container);
  argv.insert(argv.end(), container.arguments.begin(), container.arguments.end());
  return argv;
}

// The permission to run a container; its destructor returns it.
class Containers::Turn {
 public:
  static Result<Turn> take(Containers& of, const Context& context, int rank) {
    std::unique_lock lock(of.mutex_);
    const auto waiting = of.waiting_.insert(rank);
    const bool mine = of.turn_.wait(lock, context.stop, [&] { return of.free_ > 0 && *of.waiting_.begin() == rank; });
    of.waiting_.erase(waiting);
    if (mine) --of.free_;
    of.turn_.notify_all();
    if (!mine) return error(Code::cancelled, "stopped while waiting for a turn");
    return Turn(of);
  }
  Turn(Turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  Turn& operator=(Turn&&) = delete;
  ~Turn() {
    if (!of_) return;
    std::lock_guard lock(of_->mutex_);
    ++of_->free_;
    of_->turn_.notify_all();
  }

 private:
  explicit Turn(Containers& of) : of_(&of) {}

  Containers* of_;
};

Result<> Containers::remove_leftovers(const Context& context, const std::set<std::string>& names) {
  if (runtime_ == Runtime::podman) return Ok{};  // --replace does it
  const auto names_in = [&](const std::vector<std::string>& argv) -> Result<std::vector<std::string>> {
    const std::string out = TRY(sys::run_checked(runner_, context, {.argv = argv, .limit = tool_limit}));
    std::vector<std::string> found;
    for (const std::string_view line : split(out, '\n')) {
      const std::string_view first = line.substr(0, line.find(' '));
      if (names.contains(std::string(first))) found.emplace_back(first);
    }
    return found;
  };
  const auto remove = [&](std::vector<std::string> argv) {
    return sys::run_checked(runner_, context, {.argv = ctr(std::move(argv)), .limit = tool_limit});
  };
  for (const std::string& name : TRY(names_in(ctr({"tasks", "ls"})))) TRY(remove({"tasks", "rm", "--force", name}));
  for (const std::string& name : TRY(names_in(ctr({"containers", "ls"})))) TRY(remove({"containers", "rm", name}));
  // A kill between the creation of the file system and of the container leaves a snapshot.
  for (const std::string& name : TRY(names_in(ctr({"snapshots", "ls"})))) TRY(remove({"snapshots", "rm", name}));
  return Ok{};
}

Result<> Containers::ensure_image(const Context& context, const std::string& image) {
  if (runtime_ == Runtime::podman) return Ok{};  // "run" pulls what is missing
  std::lock_guard lock(pull_mutex_);
  if (images_.empty()) {
    const std::string out =
        TRY(sys::run_checked(runner_, context, {.argv = ctr({"images", "ls", "--quiet"}), .limit = tool_limit}));
    for (const std::string_view line : split(out, '\n')) images_.emplace(line);
  }
  if (images_.contains(image)) return Ok{};
  const sys::Command pull{.argv = {"slipway-pull-image", image}};
  constexpr sys::Pace pace{Milliseconds(500), Milliseconds(10'000)};
  TRY(sys::retry<std::string>(context, 6, pace, [&] {
        return sys::run_checked(runner_, context, pull);
      }).context("pulling an image"));
  images_.insert(image);
  return Ok{};
}

Result<> Containers::run(const Context& context, const Container& container, int rank, const LineHandler& on_line) {
  const Turn turn = TRY(Turn::take(*this, context, rank));
  TRY(ensure_image(context, container.image));
  sys::Command command{.argv = command_of(runtime_, container)};
  if (on_line) {
    command.on_line = [&](sys::Stream stream, std::string_view line) {
      if (stream == sys::Stream::err) on_line(line);
    };
  }
  TRY(sys::run_checked(runner_, context, command));
  return Ok{};
}

}  // namespace slipway::bootstrap
