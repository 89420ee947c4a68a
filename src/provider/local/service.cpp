#include "provider/local/service.h"

#include "provider/local/shortage.h"

#include "sys/wait_for.h"

namespace slipway::provider::local {

Result<> Service::run(const sys::Context& context, sys::Runner& runner) {
  Shortage shortage(context, plan_.name);
  auto on_line = [&](sys::Stream, std::string_view line) {
    shortage.over();  // it runs
    told_.with_lock([&](Told& told) {
      told.is_up = told.is_up || line.find(plan_.is_up) != std::string_view::npos;
      told.last_words = line;
    });
    heard_.notify();
    if (plan_.on_line) plan_.on_line(line);
  };
  for (;;) {
    int status = 0;
    const Result<> ran = shortage.until_done([&]() -> Result<> {
      status = TRY(runner.run(context, {.argv = plan_.command, .output_limit = 0, .on_line = on_line})).status;
      return Ok{};
    });
    if (!ran.ok()) {
      told_.with_lock([&](Told& told) { told.last_words = ran.error().message(); });
      return ran;
    }
    context.log.warn("{}: ended with status {}, restarting", plan_.name, status);
    if (!sys::pause(context, Seconds(1))) return error(Code::cancelled, "stopped");
  }
}

Result<> Service::wait_until_up(const sys::Context& context) {
  auto look = [&]() -> Result<sys::Look> {
    const Told told = told_.with_lock([](const Told& now) { return now; });
    return told.is_up ? sys::Look::done() : sys::Look::not_yet("{}", told.last_words.empty() ? "no output" : told.last_words);
  };
  return sys::wait_for(context, plan_.name, Seconds(20), look, &heard_);
}

}  // namespace slipway::provider::local
