#include "agent/agent.h"

#include "agent/backoff.h"
#include "agent/installer.h"
#include "agent/inventory.h"
#include "agent/medium.h"
#include "agent/units.h"
#include "assist/service_requests.h"
#include "base/flags.h"
#include "base/number.h"
#include "base/text.h"
#include "sys/environment_variable.h"
#include "sys/lock.h"
#include "sys/wait_for.h"

#include <fmt/core.h>

namespace slipway::agent {

namespace {

constexpr int medium_is_lost = 256, is_unknown_step = -1, has_failed = 1;  // exit codes of replies
constexpr std::size_t largest_output = 1u << 20;
// A machine that was rebooted has a new key. The service takes it when the old one was silent for three minutes.
constexpr Milliseconds twin_patience = std::chrono::minutes(4);
constexpr Milliseconds shortest_round{1'000};
const std::string prefer_wait = "wait=25";

// What a round of the conversation with the service leads to.
enum class Next { ask_again, register_again };

class Conversation {
 public:
  Conversation(const net::Environment& environment, const AgentOptions& options, const SystemTree& tree, Identity identity)
      : environment_(environment),
        options_(options),
        tree_(tree),
        service_(environment, options.service, std::move(identity)),
        installer_(environment, tree_, service_, options.folder + "/install"),
        world_{environment, tree_, service_, &installer_},
        steps_(world_) {}

  Result<> run() {
    for (;;) {
      TRY(register_host());
      while (TRY(ask()) == Next::ask_again) continue;
    }
  }

 private:
  // errors: cancelled; those of files
  Result<> register_host() {
    const sys::Context& context = environment_.context;
    Backoff backoff;
    Milliseconds twin_for{0};  // how long the service has refused the ID
    for (;;) {
      const Identity identity = service_.identity();
      service_.set_token(options_.service.token);
      const std::string path = fmt::format("/v2/infra-envs/{}/hosts", options_.service.infra_env_id);
      const Json body = {{"host_id", identity.host_id},
                         {"discovery_agent_version", options_.version},
                         {"public_key", identity.public_key},
                         {"boot_id", tree_.text("/proc/sys/kernel/random/boot_id")}};
      const Result<net::Answer> answer =
          service_.send(context, "POST", path, emit_json(body, JsonStyle::compact), {{"Content-Type", "application/json"}});
      if (answer.ok() && answer->status == 201) return accept(answer.value());
      if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
      const Error why = answer.ok() ? assist::refusal(answer.value()) : answer.error();
      const bool is_away = why.code() == Code::unavailable || why.code() == Code::timeout;
      const Milliseconds pause = is_away ? backoff.next() : Milliseconds(options_.interval);
      context.log.warn("cannot register as host {}: {}; trying again in {}", identity.host_id, why.message(),
                       human_duration(pause));
      if (!answer.ok() || !is_id_in_use(answer.value())) twin_for = Milliseconds(0);
      if (twin_for >= twin_patience && options_.forced_id.empty()) {
        twin_for = Milliseconds(0);
        TRY(take_own_id(identity));
        continue;
      }
      if (answer.ok() && is_id_in_use(answer.value())) twin_for += pause;
      if (!sys::pause(context, pause)) return error(Code::cancelled, "stopped");
    }
  }

  Result<> take_own_id(const Identity& identity) {
    Identity own = TRY(with_own_id(environment_.files, options_.folder, tree_, identity));
    environment_.context.log.warn("another machine with the same serial numbers is connected; this host takes the ID {}",
                                  own.host_id);
    service_.set_identity(std::move(own));
    return Ok{};
  }

  Result<> accept(const net::Answer& answer) {
    const Result<Json> body = parse_json(answer.body, "answer of the service");
    const std::string token = body.ok() ? text_of(body.value(), {"host_token"}) : "";
    if (!token.empty()) service_.set_token(Secret(token));
    steps_.forget_sent();
    environment_.context.log.info("registered as host {} at {}", service_.identity().host_id, options_.service.url);
    return Ok{};
  }

  // One question and the start of the steps in its answer. errors: cancelled
  Result<Next> ask() {
    const sys::Context& context = environment_.context;
    const SteadyTime start = context.clock.steady();
    const auto seconds = std::chrono::duration_cast<Seconds>(context.clock.now().time_since_epoch()).count();
    const std::string path = fmt::format("{}/instructions?timestamp={}", service_.host_path(), seconds);
    const Result<net::Answer> answer = service_.send(context, "GET", path, "", {{"Prefer", prefer_wait}});
    if (context.stop.stop_requested()) return error(Code::cancelled, "stopped");
    if (!answer.ok() || answer->status != 200) return survive(answer.ok() ? assist::refusal(answer.value()) : answer.error());
    Result<Json> body = parse_json(answer->body, "instructions");
    Result<Instructions> instructions = body.ok() ? parse_instructions(body.value()) : std::move(body).error();
    if (!instructions.ok()) return survive(instructions.error());
    backoff_.reset();
    steps_.start(instructions.value());
    if (instructions->must_exit) {
      context.log.info("the service asks this host to register again");
      TRY(pause(shortest_round));
      return Next::register_again;
    }
    // A service that held the question until there was something to do is asked again at once.
    const bool is_held = answer->header("Preference-Applied").has_value();
    const Milliseconds pause_length = is_held ? shortest_round : Milliseconds(instructions->next);
    TRY(pause(std::max(pause_length, shortest_round) - (context.clock.steady() - start)));
    return Next::ask_again;
  }

  Result<Next> survive(const Error& why) {
    const bool is_refused = why.code() == Code::denied || why.code() == Code::not_found || why.code() == Code::conflict;
    const Milliseconds length = is_refused ? Milliseconds(options_.interval) : backoff_.next();
    environment_.context.log.warn("cannot get instructions: {}; {} in {}", why.message(),
                                  is_refused ? "registering again" : "asking again", human_duration(length));
    steps_.forget_sent();
    TRY(pause(length));
    return is_refused ? Next::register_again : Next::ask_again;
  }

  Result<> pause(Milliseconds length) {
    if (length <= Milliseconds(0) || sys::pause(environment_.context, length)) return Ok{};
    return error(Code::cancelled, "stopped");
  }

  const net::Environment& environment_;
  const AgentOptions& options_;
  const SystemTree& tree_;
  ServiceClient service_;
  Installer installer_;
  const StepWorld world_;
  StepRunner steps_;
  Backoff backoff_;
};

// Where /proc, /sys and /run are. The variable is for machines whose firmware describes them there.
std::string root_of(const Flags& flags) {
  return flags.is_given("root") ? flags.text("root") : sys::environment_variable("SLIPWAY_AGENT_ROOT");
}

Result<Secret> read_token(sys::Files& files, const std::string& path) {
  if (path.empty()) return Secret(sys::environment_variable("PULL_SECRET_TOKEN"));
  return Secret(std::string(trim(TRY(files.read(path)))));
}

}  // namespace

StepRunner::~StepRunner() {
  for (auto& [type, thread] : threads_) thread.request_stop();
}

void StepRunner::start(const Instructions& instructions) {
  for (const Instruction& instruction : instructions.steps) {
    const bool starts = book_.with_lock(
        [&](StepBook& book) { return book.start(instruction, world_.environment.context.clock.steady(), instructions.next); });
    if (!starts) continue;
    // The thread of the last step of this type has done its work: the assignment joins it.
    threads_[instruction.type] = std::jthread([this, instruction](const std::stop_token& stop) { run(instruction, stop); });
  }
}

void StepRunner::forget_sent() {
  book_.with_lock([](StepBook& book) { book.forget_sent(); });
}

void StepRunner::run(const Instruction& instruction, const std::stop_token& stop) {
  const sys::Context context = world_.environment.context.with_stop(stop);
  const net::Environment environment = world_.environment.with(context);
  const StepWorld own{environment, world_.tree, world_.service, world_.installer};
  const auto fail = [](int exit_code, std::string why) { return StepReply{.exit_code = exit_code, .error = std::move(why)}; };
  StepReply reply;
  if (const Step* step = find_step(instruction.type); !step) {
    reply = fail(is_unknown_step, fmt::format("step type '{}' is not supported by this agent", to_utf8(instruction.type)));
  } else if (const Result<> medium = check_medium(world_.tree); !medium.ok()) {
    reply = fail(medium_is_lost, medium.error().message());
  } else {
    Result<StepReply> result = step->run(own, instruction.arguments);
    reply = result.ok() ? std::move(result).value() : fail(has_failed, result.error().message());
  }
  if (reply.output.size() > largest_output) {
    reply = fail(has_failed,
                 fmt::format("the output has {}, more than {}", human_size(reply.output.size()), human_size(largest_output)));
  }
  if (!stop.stop_requested()) post(context, instruction, std::move(reply));
  book_.with_lock([&](StepBook& book) { book.end(instruction.type); });
}

void StepRunner::post(const sys::Context& context, const Instruction& instruction, StepReply reply) {
  if (reply.exit_code != 0) {
    context.log.warn("step {} failed with exit code {}: {}", instruction.type, reply.exit_code, reply.error);
  }
  const bool is_known = reply.exit_code == 0 && book_.with_lock([&](const StepBook& book) {
    return book.is_known(instruction.type, reply.output, context.clock.steady());
  });
  if (is_known) return;
  const Json body = {{"step_type", instruction.type},
                     {"step_id", instruction.id},
                     {"exit_code", reply.exit_code},
                     {"output", reply.output},
                     {"error", reply.error}};
  const Result<net::Answer> answer = world_.service.deliver(context, "POST", world_.service.host_path() + "/instructions", body);
  if (!answer.ok() && answer.error().code() != Code::cancelled) {
    context.log.warn("the service does not take the reply of step {}: {}", instruction.type, answer.error().message());
    return forget_sent();
  }
  if (!answer.ok() || reply.exit_code != 0) return;
  book_.with_lock([&](StepBook& book) { book.sent(instruction.type, reply.output, context.clock.steady()); });
}

Result<> run_agent(const net::Environment& environment, const AgentOptions& options) {
  TRY(environment.files.make_directories(options.folder, 0700));
  const sys::FileLock lock = TRY(sys::FileLock::acquire(options.folder + "/lock", "agent of this host"));
  const SystemTree tree(environment.files, options.root);
  Identity identity = TRY(load_identity(environment.files, options.folder, tree, options.forced_id));
  return Conversation(environment, options, tree, std::move(identity)).run();
}

const std::vector<Flag>& flags_of_run() {
  static const std::vector<Flag> all = {{.name = "url", .required = true},
                                        {.name = "infra-env-id", .required = true},
                                        {.name = "cacert"},
                                        {.name = "token-file"},
                                        {.name = "agent-version", .fallback = "slipway-agent"},
                                        {.name = "interval", .fallback = "60"},
                                        {.name = "host-id"},
                                        {.name = "folder", .fallback = std::string(default_folder)},
                                        {.name = "root"}};
  return all;
}

Result<> run_agent_command(const net::Environment& environment, const std::vector<std::string>& arguments) {
  const Flags flags = TRY(parse_flags("slipway-agent run", flags_of_run(), arguments));
  AgentOptions options{.service = {.url = flags.text("url"), .infra_env_id = flags.text("infra-env-id")}};
  while (options.service.url.ends_with('/')) options.service.url.pop_back();
  TRY(net::parse_url(options.service.url).context("--url"));
  const std::optional<int> interval = parse_number<int>(flags.text("interval"));
  if (!interval || *interval < 1) return error(Code::invalid, "--interval: must be a number of seconds, at least 1");
  if (!is_uuid(options.service.infra_env_id)) return error(Code::invalid, "--infra-env-id: must be a UUID");
  if (flags.is_given("host-id") && !is_uuid(flags.text("host-id"))) return error(Code::invalid, "--host-id: must be a UUID");
  options.service.ca_file = flags.text("cacert");
  options.service.token = TRY(read_token(environment.files, flags.text("token-file")));
  options.version = flags.text("agent-version");
  options.interval = Seconds(*interval);
  options.folder = flags.text("folder");
  options.root = root_of(flags);
  options.forced_id = flags.text("host-id");
  return run_agent(environment, options);
}

Result<> run_inventory_command(const net::Environment& environment, const std::vector<std::string>& arguments) {
  const Flags flags = TRY(parse_flags("slipway-agent inventory", {{.name = "root"}}, arguments));
  const SystemTree tree(environment.files, root_of(flags));
  const assist::Inventory inventory = read_inventory(tree, TRY(net::interface_addresses()));
  environment.print(emit_json(assist::to_json(inventory), JsonStyle::pretty));
  return Ok{};
}

}  // namespace slipway::agent
