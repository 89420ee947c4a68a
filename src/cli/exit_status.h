// What the program ends with when an installation fails (installer 1.2): it hangs on the step that failed, and on what the
// cluster says then.
#pragma once

#include "base/guarded.h"
#include "cli/command.h"
#include "sys/events.h"

#include <string>

namespace slipway::cli {

// Of a step of docs/formats/events.md; ExitStatus::failure of one that has no status of its own. Pure.
ExitStatus status_of_step(std::string_view step);

// Hears which step failed. Threads: any.
class FailedStep {
 public:
  void hear(const sys::Event& event);
  std::string name() const;  // of the last; empty when none did

 private:
  mutable Guarded<std::string> name_;
};

}  // namespace slipway::cli
