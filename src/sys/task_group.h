// TaskGroup: the way to do several things at once. Threads that have an owner, a name and an end.
//
//   TaskGroup tasks(context);
//   tasks.run("watch nodes", [&](const Context& c) { return watch(c, kube); });
//   tasks.run("serve config", [&](const Context& c) { return server.run(c); });
//   return tasks.wait();
#pragma once

#include "base/result.h"
#include "sys/context.h"

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace slipway::sys {

// The first task that fails stops the others, as does the context's own stop; each task is given a context whose stop token
// says so. Threads: run and wait are called by the one thread that owns the group.
class TaskGroup {
 public:
  explicit TaskGroup(const Context& context);
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  ~TaskGroup();  // asks the tasks to stop and joins them

  // Starts a thread. After the group was stopped the work is called all the same and sees the stop at once.
  void run(std::string name, std::function<Result<>(const Context&)> work);

  void request_stop();

  // Joins all. errors: the failure that came first, with the task's name before it; cancelled errors of tasks that were
  // stopped because of it do not count.
  Result<> wait();

 private:
  Context context_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> forward_;
  Guarded<std::optional<Error>> first_failure_;
  std::vector<std::jthread> threads_;
};

// Does `work(context, i)` for i in 0..count-1, up to `at_once` of them at the same time. errors: as TaskGroup::wait
Result<> for_each_at_once(const Context& context, std::size_t count, int at_once,
                          const std::function<Result<>(const Context&, std::size_t)>& work);

}  // namespace slipway::sys
