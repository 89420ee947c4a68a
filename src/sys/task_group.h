// TaskGroup: runs tasks in parallel, on threads that have an owner, a name and an end.
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

// The first task that fails stops the others, and so does a stop of the context. Each task gets a context whose stop token
// reports this. Threads: only the thread that owns the group calls run and wait.
class TaskGroup {
 public:
  explicit TaskGroup(const Context& context);
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  ~TaskGroup();  // requests a stop and joins the tasks

  // Starts a thread. If the group was stopped before, `work` still runs and sees the stop at once.
  void run(std::string name, std::function<Result<>(const Context&)> work);

  void request_stop();

  // Joins all tasks. errors: the first failure, prefixed with the task's name. Cancelled errors that this failure caused are
  // ignored.
  Result<> wait();

 private:
  Context context_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> forward_;
  Guarded<std::optional<Error>> first_failure_;
  std::vector<std::jthread> threads_;
};

// Calls `work(context, i)` for i in 0..count-1, at most `at_once` calls in parallel. errors: as TaskGroup::wait
Result<> for_each_at_once(const Context& context, std::size_t count, int at_once,
                          const std::function<Result<>(const Context&, std::size_t)>& work);

}  // namespace slipway::sys
