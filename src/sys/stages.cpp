#include "sys/stages.h"

#include "base/check.h"
#include "base/queue.h"
#include "base/text.h"
#include "sys/task_group.h"

#include <algorithm>
#include <map>
#include <set>

namespace slipway::sys {

namespace {

constexpr std::string_view name_characters = "abcdefghijklmnopqrstuvwxyz0123456789-";

// Names of the stages that are part of a cycle or depend on one.
std::vector<std::string> in_circles(const std::vector<Stage>& stages) {
  std::map<std::string, const Stage*> waiting;
  for (const Stage& stage : stages) waiting.emplace(stage.name, &stage);
  for (bool progress = true; progress;) {
    progress = std::erase_if(waiting, [&](const auto& entry) {
                 return std::ranges::none_of(entry.second->needs, [&](const auto& need) { return waiting.contains(need); });
               }) > 0;
  }
  std::vector<std::string> names;
  for (const auto& [name, stage] : waiting) names.push_back(name);
  return names;
}

// The state of a run of the stages. Used by one thread only.
class Progress {
 public:
  explicit Progress(const std::vector<Stage>& stages) {
    for (const Stage& stage : stages) waiting_.push_back(&stage);
  }

  void set_done(const std::string& name) {
    done_.insert(name);
    std::erase_if(waiting_, [&](const Stage* stage) { return stage->name == name; });
  }

  // Removes and returns the stages that can start now.
  std::vector<const Stage*> take_ready() {
    std::vector<const Stage*> ready;
    std::erase_if(waiting_, [&](const Stage* stage) {
      const bool can_start = std::ranges::all_of(stage->needs, [&](const auto& need) { return done_.contains(need); });
      if (can_start) ready.push_back(stage);
      return can_start;
    });
    return ready;
  }

 private:
  std::vector<const Stage*> waiting_;  // in the order of the list
  std::set<std::string> done_;
};

Json to_json(const std::vector<std::string>& texts) {
  JsonArray list;
  for (const std::string& text : texts) list.push_back(text.c_str());
  return list;
}

Result<> run_one(const Context& context, Files& files, const std::string& marker, const Stage& stage) {
  Span span(context.events, context.clock, "stage", stage.name, {{"needs", to_json(stage.needs)}});
  auto work = [&]() -> Result<> {
    TRY(stage.run(context));
    return files.write(marker, "", 0644);
  };
  return span.end(work()).context("stage " + stage.name);
}

}  // namespace

Findings check_stages(const std::vector<Stage>& stages) {
  Findings findings;
  std::set<std::string> names;
  for (const Stage& stage : stages) {
    if (stage.name.empty() || stage.name.find_first_not_of(name_characters) != std::string::npos) {
      findings.error({}, stage.name, "names of stages must have lower-case letters, digits and dashes only");
    }
    if (!names.insert(stage.name).second) findings.error({}, stage.name, "duplicate name");
  }
  for (const Stage& stage : stages) {
    for (const std::string& need : stage.needs) {
      if (!names.contains(need)) findings.error({}, stage.name, "needs '{}', which is not a stage", need);
    }
  }
  if (findings.has_errors()) return findings;
  if (auto names_in_circle = in_circles(stages); !names_in_circle.empty()) {
    findings.error({}, names_in_circle.front(), "circular dependency: {}", join(names_in_circle, ", "));
  }
  return findings;
}

std::string marker_path(const std::string& marker_folder, const std::string& stage) {
  return fmt::format("{}/{}.done", marker_folder, stage);
}

Result<> run_stages(const Context& context, Files& files, const std::string& marker_folder, const std::vector<Stage>& stages) {
  TRY(check_stages(stages).to_result().context("the list of stages"));
  Progress progress(stages);
  auto skip = [&](const Stage& stage, const char* reason) {
    progress.set_done(stage.name);
    context.events.emit({.kind = "stage", .name = stage.name, .phase = Phase::skipped, .fields = {{"reason", reason}}});
  };
  for (const Stage& stage : stages) {
    if (!stage.applies) {
      skip(stage, "does not apply");
    } else if (TRY(files.info(marker_path(marker_folder, stage.name)))) {
      skip(stage, "done before");
    }
  }
  // Each stage that ends pushes an entry: its name if it succeeded, nullopt if it failed.
  Queue<std::optional<std::string>> ended;
  TaskGroup tasks(context);
  std::size_t running = 0;
  for (bool failed = false;;) {
    if (!failed && !context.stop.stop_requested()) {
      for (const Stage* stage : progress.take_ready()) {
        ++running;
        tasks.run("", [&, stage](const Context& own) -> Result<> {
          Result<> result = run_one(own, files, marker_path(marker_folder, stage->name), *stage);
          ended.push(result.ok() ? std::optional(stage->name) : std::nullopt);
          return result;
        });
      }
    }
    if (running == 0) break;
    // Without a stop token: a stage that was asked to stop still ends, and this waits for it.
    std::optional<std::optional<std::string>> stage = ended.pop({});
    CHECK(stage);
    --running;
    if (*stage) {
      progress.set_done(**stage);
    } else {
      failed = true;
      tasks.request_stop();
    }
  }
  TRY(tasks.wait());
  if (context.stop.stop_requested()) return error(Code::cancelled, "stopped before the next stage");
  return Ok{};
}

}  // namespace slipway::sys
