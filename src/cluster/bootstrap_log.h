// What the bootstrap machine tells while it works: its event journal, read as it grows.
#pragma once

#include "base/guarded.h"
#include "provider/provider.h"
#include "sys/context.h"

#include <string>

namespace slipway::cluster {

// Where the bootstrap engine writes its events on the machine.
inline constexpr const char* bootstrap_journal = "/var/log/openshift/events.jsonl";

// Threads: any.
class BootstrapLog {
 public:
  // Hands the bootstrap's events on to the context's stream until a stop. Waits for the machine to run, and begins again when it
  // restarts; events that were seen are not told twice. errors: cancelled; what entering the machine says
  Result<> follow(const sys::Context& context, provider::Provider& machines);

  // The failure that was told last, unless the same thing succeeded since: "stage etcd-bootstrap failed: ...". Empty when all is
  // well.
  std::string last_failure() const;

 private:
  void hear(const sys::Context& context, std::string_view line);

  struct JournalState {
    int lines = 0;       // of the journal, so far
    std::string failed;  // name of what failed last
    std::string failure;
  };
  Guarded<JournalState> journal_;
};

}  // namespace slipway::cluster
