#include "provider/local/service.h"

#include "provider/local/shortage.h"

#include "sys/wait_for.h"

namespace slipway::provider::local {

Result<> Service::run(const sys::Context& context, sys::Runner& runner) {
  Shortage shortage(context, plan_.name);
  auto on_line = [&](sys::Stream, std::string_view line) {
    shortage.over();  // the program runs
    output_.with_lock([&](ServiceOutput& output) {
      output.is_up = output.is_up || line.find(plan_.is_up) != std::string_view::npos;
      output.last_line = line;
    });
    changed_.notify();
    if (plan_.on_line) plan_.on_line(line);
  };
  for (;;) {
    int status = 0;
    const Result<> ran = shortage.until_done([&]() -> Result<> {
      status = TRY(runner.run(context, {.argv = plan_.command, .output_limit = 0, .on_line = on_line})).status;
      return Ok{};
    });
    if (!ran.ok()) {
      output_.with_lock([&](ServiceOutput& output) { output.last_line = ran.error().message(); });
      return ran;
    }
    context.log.warn("{}: ended with status {}, restarting", plan_.name, status);
    if (!sys::pause(context, Seconds(1))) return error(Code::cancelled, "stopped");
  }
}

Result<> Service::wait_until_up(const sys::Context& context) {
  auto observe = [&]() -> Result<sys::Observation> {
    const ServiceOutput output = output_.with_lock([](const ServiceOutput& now) { return now; });
    return output.is_up ? sys::Observation::done()
                        : sys::Observation::not_yet("{}", output.last_line.empty() ? "no output" : output.last_line);
  };
  return sys::wait_for(context, plan_.name, Seconds(20), observe, &changed_);
}

}  // namespace slipway::provider::local
