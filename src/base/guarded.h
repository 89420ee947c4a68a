// Guarded<T>: shared data that is accessible only while its lock is held.
//
//   Guarded<std::map<std::string, Node>> nodes;
//   nodes.with_lock([&](auto& map) { map[name] = node; });
//
// Never call a callback, I/O or the log inside with_lock: copy what you need and leave.
#pragma once

#include <mutex>
#include <utility>

namespace slipway {

template <class T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  template <class Function>
  decltype(auto) with_lock(Function&& function) {
    std::lock_guard lock(mutex_);
    return std::forward<Function>(function)(value_);
  }

  template <class Function>
  decltype(auto) with_lock(Function&& function) const {
    std::lock_guard lock(mutex_);
    return std::forward<Function>(function)(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

}  // namespace slipway
