// The event journal of the bootstrap machine, followed as it grows.
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
  // Relays the events of the bootstrap to the event stream of the context until a stop. Waits until the machine runs, and
  // continues after a restart of the machine. No event is relayed twice.
  //
  //   errors  cancelled; those of provider::Provider::run
  Result<> follow(const sys::Context& context, provider::Provider& machines);

  // The last failure in the journal: "stage etcd-bootstrap failed: ...". Empty when there is none, or when the same stage
  // succeeded later.
  std::string last_failure() const;

 private:
  void relay(const sys::Context& context, std::string_view line);

  struct JournalState {
    int lines = 0;       // lines of the journal that were read
    std::string failed;  // name of the last failure
    std::string failure;
  };
  Guarded<JournalState> journal_;
};

}  // namespace slipway::cluster
