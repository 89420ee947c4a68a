#include "sys/task_group.h"

#include <algorithm>
#include <atomic>
#include <system_error>

namespace slipway::sys {

TaskGroup::TaskGroup(const Context& context)
    : context_(context), forward_(context.stop, std::function<void()>([this] { stop_.request_stop(); })) {}

TaskGroup::~TaskGroup() { request_stop(); }

void TaskGroup::run(std::string name, std::function<Result<>(const Context&)> work) {
  const auto fail = [this, name = std::move(name)](Error why) {
    first_failure_.with_lock([&](std::optional<Error>& first) {
      if (!first) first = name.empty() ? std::move(why) : std::move(why).context(name);
    });
    stop_.request_stop();
  };
  try {
    threads_.emplace_back([this, fail, work = std::move(work)] {
      Result<> result = work(context_.with_stop(stop_.get_token()));
      if (result.ok()) return;
      const bool stopped = result.error().code() == Code::cancelled && stop_.stop_requested();
      if (!stopped || context_.stop.stop_requested()) return fail(std::move(result).error());
      stop_.request_stop();
    });
  } catch (const std::system_error& failure) {  // no thread available
    fail(error(Code::unavailable, "starting a thread: {}", failure.what()));
  }
}

void TaskGroup::request_stop() { stop_.request_stop(); }

Result<> TaskGroup::wait() {
  threads_.clear();
  return first_failure_.with_lock([](std::optional<Error>& first) -> Result<> {
    if (first) return *first;
    return Ok{};
  });
}

Result<> for_each_at_once(const Context& context, std::size_t count, int at_once,
                          const std::function<Result<>(const Context&, std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  TaskGroup tasks(context);
  const std::size_t threads = std::min(count, static_cast<std::size_t>(at_once));
  for (std::size_t i = 0; i < threads; ++i) {
    tasks.run({}, [&](const Context& own) -> Result<> {
      for (std::size_t item = next++; item < count; item = next++) {
        if (own.stop.stop_requested()) return error(Code::cancelled, "stopped");
        TRY(work(own, item));
      }
      return Ok{};
    });
  }
  return tasks.wait();
}

}  // namespace slipway::sys
