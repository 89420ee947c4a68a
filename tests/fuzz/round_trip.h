#pragma once

#include "base/check.h"
#include "base/result.h"

namespace slipway {

// Checks that a parsed value is written and parsed to the same value.
template <class T, class Write, class Read>
void round_trip(const Result<T>& value, Write write, Read read) {
  if (!value.ok()) return;
  const Result<T> again = read(write(value.value()));
  CHECK(again.ok());
  CHECK(again.value() == value.value());
}

}  // namespace slipway
