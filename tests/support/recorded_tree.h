// Recorded trees of /proc, /sys and /run for tests.
#pragma once

#include "agent/system_tree.h"
#include "base/text.h"
#include "support/memory_files.h"

#include <string>
#include <string_view>

namespace slipway::testing_support {

// Lines "PATH: CONTENT"; "\n" in the content is a line break. Files are below /recorded, so that a path without the root is not
// found.
class RecordedTree {
 public:
  explicit RecordedTree(std::string_view lines) { put(lines); }

  void put(std::string_view lines) {
    for (const std::string_view line : split(lines, '\n')) {
      const std::size_t colon = line.find(": ");
      if (colon == std::string_view::npos) continue;
      std::string content;
      for (std::string_view rest = line.substr(colon + 2); !rest.empty();) {
        const bool is_break = rest.starts_with("\\n");
        content += is_break ? '\n' : rest.front();
        rest.remove_prefix(is_break ? 2 : 1);
      }
      (void)files.write("/recorded" + std::string(trim(line.substr(0, colon))), content, 0644);
    }
  }

  agent::SystemTree tree() { return {files, "/recorded"}; }

  MemoryFiles files;
};

}  // namespace slipway::testing_support
