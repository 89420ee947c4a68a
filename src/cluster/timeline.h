// The timeline of an installation: what happened when, which item waited for which, and the critical path. Computed from the
// event stream alone (docs/formats/events.md). Pure.
#pragma once

#include "base/json.h"
#include "sys/events.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::cluster {

// A span, or a moment.
struct TimelineItem {
  std::string key;     // kind and name: "stage etcd-render", "operator Etcd MemberPromoted"
  std::string label;   // for display
  std::string detail;  // for display: an error or an observation; often empty
  std::string group;   // for display: the component, "bootstrap machine"
  WallTime begin{}, end{};
  std::optional<std::size_t> waited_for{};  // the needed item that ended last, as an index of the items
  bool has_failed = false;
  bool is_open = false;              // has started and has not ended; `end` is the time of the last event
  bool is_further_revision = false;  // a revision of an operator after its first one
  bool is_critical = false;
};

struct Timeline {
  WallTime start{}, end{};
  bool is_complete = false;         // the installation ended
  std::vector<TimelineItem> items;  // sorted by their end

  // The critical path: each item waited for the one before it. From the first to the last item that ended.
  std::vector<std::size_t> critical_path() const;
};

// The timeline from the first "step assets" to the first "step cluster-version" that succeeded, including interrupted and
// continued runs; for an incomplete installation, to the last event. The events may come from several streams, in any order. A
// continued run may repeat an event of an earlier run with the same time; the two count as one.
Timeline make_timeline(std::vector<sys::Event> events);

// One line for each item: end, duration, label, the item that it waited for. Then the critical path, and revisions after the
// first; a normal installation has none.
std::string to_text(const Timeline& timeline);

// The same as JSON (docs/formats/timeline.md). cluster: its name; empty when unknown
Json to_json(const Timeline& timeline, const std::string& cluster);

}  // namespace slipway::cluster
