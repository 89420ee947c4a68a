// The journal of a cluster's resources: what was begun, and what was completed. It is written to the disk before each change of
// the platform and after it, so that a run after a kill knows which call may have been without an answer. docs/formats/ has the
// format of the file.
#pragma once

#include "base/guarded.h"
#include "base/result.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/lock.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace slipway::provider::plan {

// Threads: any.
class Journal {
 public:
  enum class State {
    unknown,  // not in the journal: never created, removed completely, or the journal is lost
    begun,    // creation or removal began; whether it ended is not known
    created,
  };

  using States = std::map<std::string, State>;  // by key

  // The states in a journal, without a lock: another process may be writing it. Empty if there is none.
  // errors: invalid: a line is damaged; those of files
  static Result<States> read(const std::string& path);

  // Opens the journal of a cluster, and creates it and its folder if it is missing. No other process can open it until this
  // object ends. A line that was cut by a kill is dropped.
  //
  //   path    the file, mode 0600; next to it is PATH.lock
  //   errors  conflict: another process changes the resources of this cluster, with its number; invalid: a line is damaged; those
  //           of files
  static Result<Journal> open(sys::Clock& clock, const std::string& path);

  State state_of(const std::string& key) const;
  States states() const;

  // Each writes one line and syncs the file, unless the resource has that state already. errors: those of files
  Result<> begin(const std::string& key);
  Result<> created(const std::string& key);
  Result<> removed(const std::string& key);

  // Removes the file, when no resource is left. The lock file stays. Nothing can be written afterwards.
  Result<> forget();

 private:
  // Apart from the object, so that it can be moved.
  struct Shared {
    explicit Shared(States known) : states(std::move(known)) {}

    Guarded<States> states;
    sys::Fd file;            // open for appending
    std::mutex appending;    // held while a line is written; guards the two below
    std::uint64_t size = 0;  // of the complete lines, in bytes
    bool is_cut = false;     // the file may have a part of a line after them
  };

  Journal(sys::Clock& clock, std::string path, sys::FileLock lock, std::unique_ptr<Shared> shared);
  Result<> write(const std::string& key, State state);
  Result<> append(std::string_view line, std::string_view doing);

  sys::Clock* clock_;
  std::string path_;
  sys::FileLock lock_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace slipway::provider::plan
