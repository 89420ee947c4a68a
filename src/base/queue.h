// Queue<T>: passes values from any thread to a consumer thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace slipway {

// Unbounded. Threads: any.
template <class T>
class Queue {
 public:
  void push(T value) {
    {
      std::lock_guard lock(mutex_);
      values_.push_back(std::move(value));
    }
    changed_.notify_one();
  }

  // Waits for a value and removes the oldest one; nullopt if a stop is requested first.
  std::optional<T> pop(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return !values_.empty(); })) return std::nullopt;
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

  // Waits for a value and removes all, the oldest first; empty if a stop is requested first.
  std::deque<T> pop_all(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [this] { return !values_.empty(); });
    return std::exchange(values_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<T> values_;
};

}  // namespace slipway
