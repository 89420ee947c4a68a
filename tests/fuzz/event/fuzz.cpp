// Any line: a parsed event is written as a line that parses to the same event.
#include "base/check.h"
#include "sys/events.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slipway;
  const auto event = sys::parse_event({reinterpret_cast<const char*>(data), size});
  if (!event.ok()) return 0;
  const auto again = sys::parse_event(event->to_line());
  CHECK(again.ok());
  CHECK(again->to_line() == event->to_line());
  return 0;
}
