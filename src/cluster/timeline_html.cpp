#include "cluster/timeline_html.h"

#include "base/template.h"
#include "data/data.h"

namespace slipway::cluster {

namespace {

// Makes JSON safe inside a script element: without '<' it contains no tag and no comment. In JSON, '<' occurs in strings only.
std::string without_tags(const std::string& json) {
  std::string text;
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string to_html(const Timeline& timeline, const std::string& cluster) {
  const auto file = [](std::string_view name) { return data::content(data::cluster(), name); };
  const std::string json = emit_json(to_json(timeline, cluster), JsonStyle::compact);
  return fill_template(file("timeline.html"), "timeline.html",
                       {{"STYLE", std::string(file("timeline.css"))},
                        {"SCRIPT", std::string(file("timeline.js"))},
                        {"TIMELINE", without_tags(json)}})
      .value();
}

}  // namespace slipway::cluster
