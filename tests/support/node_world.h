// NodeWorld: the environment of a command of slipway-node, with files in memory and programs with prepared answers.
//
//   NodeWorld world;
//   world.runner.answer({"ostree", "admin", "status"}, "* slipway ...");
//   ASSERT_TRUE(node::run_first_boot(world.environment(), {}).ok());
#pragma once

#include "base/guarded.h"
#include "base/text.h"
#include "net/curl_http.h"
#include "node/program.h"
#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::testing_support {

// Implements `ln -sfn` as a copy in MemoryFiles and returns prepared answers; every other command exits with 127. Threads: any.
class TableRunner final : public sys::Runner {
 public:
  explicit TableRunner(MemoryFiles& files) : files_(files) {}

  void answer(const std::vector<std::string>& argv, std::string out) {
    answers_.with_lock([&](auto& answers) { answers[shell_quote(argv)] = std::move(out); });
  }
  std::vector<std::string> journal() const {
    return journal_.with_lock([](const auto& journal) { return journal; });
  }

  Result<sys::Output> run(const sys::Context&, const sys::Command& command) override {
    const std::string line = shell_quote(command.argv);
    journal_.with_lock([&](auto& journal) { journal.push_back(line); });
    if (command.argv.size() == 4 && command.argv[0] == "ln" && command.argv[1] == "-sfn") {
      TRY(files_.write(command.argv[3], TRY(files_.read(command.argv[2])), 0600));
      return sys::Output{};
    }
    return answers_.with_lock([&](const auto& answers) -> Result<sys::Output> {
      const auto found = answers.find(line);
      if (found == answers.end()) return sys::Output{.status = 127, .out = "", .err = "not told"};
      return sys::Output{.status = 0, .out = found->second, .err = ""};
    });
  }

 private:
  MemoryFiles& files_;
  Guarded<std::map<std::string, std::string>> answers_;
  Guarded<std::vector<std::string>> journal_;
};

template <class TestContextType>
class NodeWorldWith {
 public:
  node::Environment environment() {
    return {context_, files, runner, random_, http_, [](std::string_view) {}};
  }

  void put(const std::string& path, std::string_view text) { (void)files.write(path, text, 0600); }
  bool has(const std::string& path) { return files.read(path).ok(); }
  std::string text(const std::string& path) { return files.read(path).ok() ? files.read(path).value() : "no such file: " + path; }

  MemoryFiles files;
  TableRunner runner{files};
  TestContextType test;

 private:
  sys::Context context_ = test.context();
  SeededRandom random_{1};
  net::CurlHttp http_;
};

using NodeWorld = NodeWorldWith<TestContext>;
using RealTimeNodeWorld = NodeWorldWith<RealTimeContext>;  // for watches: FakeKube blocks in real time

}  // namespace slipway::testing_support
