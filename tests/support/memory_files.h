// MemoryFiles: a file system in memory. The suite in src/sys/files_test.cpp checks the contract of sys::Files.
#pragma once

#include "base/guarded.h"
#include "sys/files.h"

#include <map>
#include <string>

namespace slipway::testing_support {

// Starts with an empty folder "/". Paths are absolute; there are no links. Threads: any.
class MemoryFiles final : public sys::Files {
 public:
  Result<std::string> read(const std::string& path) override {
    return nodes_.with_lock([&](const Nodes& nodes) -> Result<std::string> {
      auto node = nodes.find(path);
      if (node == nodes.end()) return error(Code::not_found, "reading {}: No such file or directory", path);
      if (node->second.kind != sys::FileKind::file) return error(Code::conflict, "reading {}: Is a directory", path);
      return node->second.content;
    });
  }

  Result<> write(const std::string& path, std::string_view content, sys::Mode mode) override {
    TRY(make_directories(parent_of(path), (mode & 077) == 0 ? 0700 : 0755));
    return nodes_.with_lock([&](Nodes& nodes) -> Result<> {
      auto node = nodes.find(path);
      if (node != nodes.end() && node->second.kind == sys::FileKind::directory) {
        return error(Code::conflict, "writing {}: Is a directory", path);
      }
      nodes[path] = {sys::FileKind::file, std::string(content), mode};
      return Ok{};
    });
  }

  Result<> append(const std::string& path, std::string_view content, sys::Mode mode) override {
    TRY(make_directories(parent_of(path), (mode & 077) == 0 ? 0700 : 0755));
    return nodes_.with_lock([&](Nodes& nodes) -> Result<> {
      auto [node, added] = nodes.try_emplace(path, Node{sys::FileKind::file, "", mode});
      if (node->second.kind != sys::FileKind::file) return error(Code::conflict, "appending to {}: Is a directory", path);
      node->second.content += content;
      return Ok{};
    });
  }

  Result<std::optional<sys::FileInfo>> info(const std::string& path) override {
    return nodes_.with_lock([&](const Nodes& nodes) -> Result<std::optional<sys::FileInfo>> {
      auto node = nodes.find(path);
      if (node == nodes.end()) return std::optional<sys::FileInfo>();
      return std::optional(sys::FileInfo{node->second.kind, node->second.content.size(), node->second.mode});
    });
  }

  Result<std::vector<std::string>> list(const std::string& path) override {
    return nodes_.with_lock([&](const Nodes& nodes) -> Result<std::vector<std::string>> {
      auto node = nodes.find(path);
      if (node == nodes.end()) return error(Code::not_found, "listing {}: No such file or directory", path);
      if (node->second.kind != sys::FileKind::directory) return error(Code::conflict, "listing {}: Not a directory", path);
      std::vector<std::string> names;
      for (const auto& [other, unused] : nodes) {
        if (other != "/" && parent_of(other) == path) names.push_back(other.substr(other.find_last_of('/') + 1));
      }
      return names;
    });
  }

  Result<> make_directories(const std::string& path, sys::Mode mode) override {
    return nodes_.with_lock([&](Nodes& nodes) -> Result<> {
      for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
        auto [node, added] = nodes.try_emplace(path.substr(0, end), Node{sys::FileKind::directory, "", mode});
        if (node->second.kind != sys::FileKind::directory)
          return error(Code::conflict, "creating folder {}: Not a directory", path);
        if (end == std::string::npos) return Ok{};
      }
    });
  }

  Result<> rename(const std::string& from, const std::string& to) override {
    return nodes_.with_lock([&](Nodes& nodes) -> Result<> {
      if (!nodes.contains(from)) return error(Code::not_found, "renaming {} to {}: No such file or directory", from, to);
      for (auto node = nodes.begin(); node != nodes.end();) {
        const std::string path = node->first;
        auto next = std::next(node);
        if (path == from || path.starts_with(from + "/")) {
          nodes[to + path.substr(from.size())] = std::move(node->second);
          nodes.erase(node);
        }
        node = next;
      }
      return Ok{};
    });
  }

  Result<> exchange(const std::string& one, const std::string& other) override {
    return nodes_.with_lock([&](Nodes& nodes) -> Result<> {
      if (!nodes.contains(one) || !nodes.contains(other)) {
        return error(Code::not_found, "exchanging {} and {}: No such file or directory", one, other);
      }
      Nodes result;
      for (auto& [path, node] : nodes) {
        const bool is_one = path == one || path.starts_with(one + "/"), is_other = path == other || path.starts_with(other + "/");
        const std::string place = is_one ? other + path.substr(one.size()) : is_other ? one + path.substr(other.size()) : path;
        result[place] = std::move(node);
      }
      nodes = std::move(result);
      return Ok{};
    });
  }

  Result<> remove(const std::string& path) override {
    nodes_.with_lock([&](Nodes& nodes) {
      std::erase_if(nodes, [&](const auto& node) { return node.first == path || node.first.starts_with(path + "/"); });
    });
    return Ok{};
  }

 private:
  struct Node {
    sys::FileKind kind = sys::FileKind::file;
    std::string content;
    sys::Mode mode = 0;
  };
  using Nodes = std::map<std::string, Node>;

  static std::string parent_of(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    return slash == 0 ? "/" : path.substr(0, slash);
  }

  Guarded<Nodes> nodes_{Nodes{{"/", {sys::FileKind::directory, "", 0755}}}};
};

}  // namespace slipway::testing_support
