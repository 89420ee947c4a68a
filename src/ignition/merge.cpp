#include "ignition/merge.h"

#include "ignition/fields.h"
#include "ignition/translate.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace slipway::ignition {

namespace {

using Keys = std::unordered_set<std::string>;

template <class T>
T merged(const T& parent, const T& child);

// The keys of all lists of a struct that share one namespace.
template <IsStruct T>
Keys shared_keys(const T& value) {
  Keys keys;
  for_each_field<T>([&](const auto& field) {
    if constexpr (is_list<std::remove_cvref_t<decltype(value.*field.member)>>) {
      if (!field.rules.shares_keys) return;
      for (const auto& item : value.*field.member) keys.insert(key_of(item));
    }
  });
  return keys;
}

// removed: keys of the child in lists that share the namespace. Items of the parent with these keys are dropped, unless the child
// has them in this list.
template <class T>
std::vector<T> merged_by_key(const std::vector<T>& parent, const std::vector<T>& child, const Keys& removed) {
  std::unordered_map<std::string, const T*> of_child;
  for (const T& item : child) of_child.insert_or_assign(key_of(item), &item);
  std::vector<T> result;
  Keys of_parent;
  for (const T& item : parent) {
    const std::string& key = key_of(item);
    of_parent.insert(key);
    const auto other = of_child.find(key);
    if (other != of_child.end()) {
      if constexpr (std::is_same_v<T, HttpHeader>) {
        if (!other->second->value) continue;
      }
      result.push_back(merged(item, *other->second));
    } else if (!removed.contains(key)) {
      result.push_back(item);
    }
  }
  for (const T& item : child) {
    if (!of_parent.contains(key_of(item))) result.push_back(item);
  }
  return result;
}

template <class T>
T merged(const T& parent, const T& child) {
  if constexpr (IsStruct<T>) {
    const Keys keys_of_child = shared_keys(child);
    T result{};
    for_each_field<T>([&](const auto& field) {
      const auto& of_parent = parent.*field.member;
      const auto& of_child = child.*field.member;
      if constexpr (is_list<std::remove_cvref_t<decltype(of_parent)>>) {
        if (field.rules.concatenated) {
          result.*field.member = of_parent;
          (result.*field.member).insert((result.*field.member).end(), of_child.begin(), of_child.end());
        } else {
          result.*field.member = merged_by_key(of_parent, of_child, field.rules.shares_keys ? keys_of_child : Keys{});
        }
      } else {
        result.*field.member = merged(of_parent, of_child);
      }
    });
    return result;
  } else if constexpr (is_optional<T>) {
    return child ? child : parent;
  } else {
    return child;
  }
}

}  // namespace

Config merge(const Config& parent, const Config& child) {
  const Version version = std::max(parent.ignition.version, child.ignition.version);
  return merged(raise(parent, version), raise(child, version));
}

}  // namespace slipway::ignition
