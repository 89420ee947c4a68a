// The timeline of an installation: what happened when, who waited for whom, and which chain of waiting took all the time. Made of
// the event stream alone (docs/formats/events.md). Pure.
#pragma once

#include "base/json.h"
#include "sys/events.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::cluster {

// Something that took time, or a moment at which something was told.
struct TimelineItem {
  std::string key;     // kind and name: "stage etcd-render", "operator Etcd MemberPromoted"
  std::string label;   // for people
  std::string detail;  // more for people: why it failed, what it saw; often empty
  std::string group;   // for people: whose work it is, "bootstrap machine"
  WallTime begin{}, end{};
  std::optional<std::size_t> waited_for{};  // of what it needed, what ended last; an index of the items
  bool has_failed = false;
  bool is_open = false;              // it began and has not ended; `end` is that of the last event
  bool is_further_revision = false;  // an operator's revision behind its first
  bool is_critical = false;
};

struct Timeline {
  WallTime start{}, end{};
  bool is_complete = false;         // the installation came to its end
  std::vector<TimelineItem> items;  // by their end

  // What took all the time: from the first to the last item that ended, each waited for the one before it.
  std::vector<std::size_t> critical_path() const;
};

// Of the installation: from the first "step assets" to the first "step cluster-version" that ended well, with whatever was killed
// and continued between them; of one that did not come so far, to the last event. The events may be of several streams, in any
// order. What continued may have told again what was told before it, with the time of then: that is one.
Timeline make_timeline(std::vector<sys::Event> events);

// A line an item: when it ended, how long it took, what it is, for whom it waited; then the critical path, and revisions behind
// the first, of which there should be none.
std::string to_text(const Timeline& timeline);

// The same for programs (docs/formats/timeline.md). cluster: its name; empty when it is not known
Json to_json(const Timeline& timeline, const std::string& cluster);

}  // namespace slipway::cluster
