#include "cli/cluster_commands.h"

#include "base/guarded.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/local_options.h"
#include "cli/timeline_events.h"
#include "cluster/timeline.h"
#include "net/http_server.h"
#include "web/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

namespace slipway::cli {

namespace {

// The file is looked at, not watched with inotify: its instances are shared with local machines, and a look costs microseconds.
constexpr Milliseconds pace_of_looks = Milliseconds(250);
constexpr Milliseconds heartbeat = Seconds(15);

// What browsers get. Documents are replaced as a whole, so that a client that lost the connection has nothing to catch up with.
struct Shown {
  std::shared_ptr<const std::string> timeline, events;
  std::vector<std::shared_ptr<net::AnswerStream>> listeners{};
};

// The last events, newest last: what a page can show.
constexpr std::size_t most_events = 2000;

std::shared_ptr<const std::string> text_of_events(const std::vector<sys::Event>& events) {
  std::string text = "[";
  for (std::size_t i = events.size() - std::min(events.size(), most_events); i < events.size(); ++i) {
    if (text.size() > 1) text += ",";
    text += events[i].to_line();
  }
  return std::make_shared<const std::string>(text + "]");
}

net::ServerAnswer json_answer(std::shared_ptr<const std::string> body) {
  return {.status = 200,
          .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}},
          .body = std::move(body)};
}

net::ServerAnswer answer(Guarded<Shown>& shown, const net::ServerRequest& request) {
  if (const Result<> site = web::check_site(request, {"localhost"}); !site.ok()) {
    return net::text_answer(403, site.error().message() + "\n");
  }
  if (std::optional<net::ServerAnswer> file = web::page_answer(request)) return std::move(*file);
  if (request.method != "GET") return net::text_answer(405, "this server only shows an installation\n");
  if (request.path == "/page.json") {
    return json_answer(std::make_shared<const std::string>(R"({"kind":"watch","needs_token":false})"));
  }
  return shown.with_lock([&](Shown& now) -> net::ServerAnswer {
    if (request.path == "/watch/timeline") return json_answer(now.timeline);
    if (request.path == "/watch/events") return json_answer(now.events);
    if (request.path != "/watch/stream") return net::text_answer(404, "there is no such page\n");
    auto stream = std::make_shared<net::AnswerStream>();
    (void)stream->write("event: change\ndata: {}\n\n");
    now.listeners.push_back(stream);
    return {.status = 200,
            .headers = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}},
            .stream = std::move(stream)};
  });
}

void tell(Guarded<Shown>& shown, std::string_view message) {
  shown.with_lock([&](Shown& now) { std::erase_if(now.listeners, [&](const auto& each) { return !each->write(message); }); });
}

// The document of an installation that has not begun.
std::shared_ptr<const std::string> nothing() { return std::make_shared<const std::string>("null"); }

// Reads everything again. errors: those of reading; if only the events of machines cannot be read, the others are shown
Result<> update(const Environment& environment, const Arguments& arguments, Guarded<Shown>& shown) {
  auto recorded = TRY(read_recorded_events(environment, arguments));
  Result<> with_machines = Ok{};
  if (recorded) {
    with_machines = add_events_of_machines(environment, arguments, *recorded);
    std::ranges::stable_sort(recorded->events, {}, &sys::Event::time);
  }
  auto events = recorded ? text_of_events(recorded->events) : std::make_shared<const std::string>("[]");
  auto timeline = nothing();
  if (recorded) {
    const cluster::Timeline made = cluster::make_timeline(std::move(recorded->events));
    if (!made.items.empty())  // of other commands only
      timeline = std::make_shared<const std::string>(emit_json(cluster::to_json(made, recorded->cluster), JsonStyle::compact));
  }
  shown.with_lock([&](Shown& now) {
    now.timeline = std::move(timeline);
    now.events = std::move(events);
  });
  tell(shown, "event: change\ndata: {}\n\n");
  return with_machines;
}

Result<> watch(const Environment& environment, const Arguments& arguments) {
  const std::string& port_text = arguments["--port"];
  const auto port = port_text.empty() ? std::optional<std::uint16_t>(0) : parse_number<std::uint16_t>(port_text);
  if (!port) return error(Code::invalid, "--port: '{}' is no port", to_utf8(port_text));
  const std::string path = recorded_events_path(arguments);
  Guarded<Shown> shown(Shown{.timeline = nothing(), .events = std::make_shared<const std::string>("[]")});
  const net::HttpServer server = TRY(net::HttpServer::listen(
      {.port = *port, .connections = 64}, [&](const net::ServerRequest& request) { return answer(shown, request); }));
  environment.print(fmt::format("http://127.0.0.1:{}/ shows {} (press Ctrl+C to end)\n", server.port(), path));

  const sys::Context& context = environment.context;
  std::optional<std::uint64_t> seen;
  std::string last_problem;
  SteadyTime next_heartbeat = context.clock.steady() + heartbeat;
  while (!context.stop.stop_requested()) {
    const auto info = TRY(environment.files.info(path));
    const std::uint64_t size = info ? info->size : 0;
    if (seen != size) {
      const Result<> updated = update(environment, arguments, shown);
      const std::string problem = updated.ok() ? "" : updated.error().message();
      if (!problem.empty() && problem != last_problem)
        context.log.warn("{}; the page shows the events that could be read", problem);
      last_problem = problem;
      seen = size;
    }
    if (context.clock.steady() >= next_heartbeat) {
      tell(shown, ":\n\n");  // finds browsers that have left
      next_heartbeat = context.clock.steady() + heartbeat;
    }
    context.clock.wait(context.clock.steady() + pace_of_looks, context.stop, nullptr, 0);
  }
  return Ok{};
}

}  // namespace

Command watch_command() {
  return {
      .words = "watch",
      .summary = "Serve a web page that shows an installation while it runs",
      .options = {{.name = "--from", .value = "FILE", .help = "file with events (default: the events of the asset directory)"},
                  {.name = "--port", .value = "N", .help = "port on 127.0.0.1 (default: any free port)"},
                  state_of_directory_option()},
      .run = watch};
}

}  // namespace slipway::cli
