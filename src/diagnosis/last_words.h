// The last words of containers: the line of a log that best explains why a program ended. Pure.
#pragma once

#include "diagnosis/bundle.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::diagnosis {

// "3" in ".../containers/logs/NAMESPACE_POD_UID/CONTAINER/3.log": the number of earlier starts of the container.
std::optional<std::int64_t> starts_before(std::string_view path);

// The last line with a word of failure, else the last line. number: its line number, from 1.
std::string_view failure_line(std::string_view text, int& number);

// The last words of a container: from the log of its last start that wrote any. Nothing if the bundle has no log of it.
//
//   pod  "NAMESPACE/NAME"
std::optional<Quote> last_words(const Bundle& bundle, const std::string& pod, std::string_view container);

}  // namespace slipway::diagnosis
