#pragma once

#include "base/check.h"
#include "base/result.h"

namespace slipway {

// What was read is written and read again as the same.
template <class T, class Write, class Read>
void round_trip(const Result<T>& value, Write write, Read read) {
  if (!value.ok()) return;
  const Result<T> again = read(write(value.value()));
  CHECK(again.ok());
  CHECK(again.value() == value.value());
}

}  // namespace slipway
