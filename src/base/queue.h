// Queue<T>: hands values from threads to a thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace slipway {

// Without a limit of length. Threads: any.
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

  // The oldest value, as soon as there is one; nothing when a stop is asked for first.
  std::optional<T> pop(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return !values_.empty(); })) return std::nullopt;
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

  // All values, the oldest first, as soon as there is one; none when a stop is asked for first.
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
