// FakeMachine: a machine in memory: its files, the programs that change them, and a kill at any step.
//
//   FakeMachine machine;
//   machine.change_limit.left = 7;                        // the program is killed at the eighth change
//   (void)disk.change(...);                       // with machine.environment()
//   machine.revive();
//   EXPECT_EQ(machine.tree("/etc"), ...);
#pragma once

#include "base/guarded.h"
#include "base/text.h"
#include "kube/client.h"
#include "net/curl_http.h"
#include "node/program.h"
#include "support/memory_files.h"
#include "support/seeded_random.h"
#include "support/test_context.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace slipway::testing_support {

// The number of changes that remain, and what happens afterwards.
struct ChangeLimit {
  int left = -1;                   // -1: unlimited
  std::optional<Error> failure{};  // the error of the change after the last one, once; empty: the program is killed
  bool is_dead = false;            // every change fails

  Result<> change() {
    if (is_dead) return error(Code::cancelled, "killed");
    if (left < 0) return Ok{};
    if (left-- > 0) return Ok{};
    if (failure) return *failure;
    is_dead = true;
    return error(Code::cancelled, "killed");
  }
};

class LimitedFiles final : public sys::Files {
 public:
  LimitedFiles(MemoryFiles& files, ChangeLimit& change_limit) : files_(files), limit_(change_limit) {}

  Result<std::string> read(const std::string& path) override {
    if (path == "/dev/null") return std::string();
    return files_.read(path);
  }
  Result<std::optional<sys::FileInfo>> info(const std::string& path) override { return files_.info(path); }
  Result<std::vector<std::string>> list(const std::string& path) override { return files_.list(path); }
  Result<> write(const std::string& path, std::string_view content, sys::Mode mode) override {
    TRY(limit_.change());
    return files_.write(path, content, mode);
  }
  Result<> append(const std::string& path, std::string_view content, sys::Mode mode) override {
    TRY(limit_.change());
    return files_.append(path, content, mode);
  }
  Result<> make_directories(const std::string& path, sys::Mode mode) override { return files_.make_directories(path, mode); }
  Result<> rename(const std::string& from, const std::string& to) override {
    TRY(limit_.change());
    return files_.rename(from, to);
  }
  Result<> exchange(const std::string& one, const std::string& other) override {
    TRY(limit_.change());
    return files_.exchange(one, other);
  }
  Result<> remove(const std::string& path) override {
    if (!TRY(files_.info(path))) return Ok{};
    TRY(limit_.change());
    return files_.remove(path);
  }

 private:
  MemoryFiles& files_;
  ChangeLimit& limit_;
};

// Implements cp, ln and systemctl; other commands succeed and are recorded. gzip prints "unpacked " and its input.
class LimitedPrograms final : public sys::Runner {
 public:
  LimitedPrograms(MemoryFiles& files, ChangeLimit& change_limit) : files_(files), limit_(change_limit) {}

  Result<sys::Output> run(const sys::Context&, const sys::Command& command) override {
    const std::vector<std::string>& argv = command.argv;
    if (argv[0] == "gzip") return sys::Output{.status = 0, .out = "unpacked " + command.input, .err = ""};
    TRY(limit_.change());
    journal.push_back(shell_quote(argv) + (command.input.empty() ? "" : " < " + command.input));
    if (argv[0] == "cp") {
      const auto info = TRY(files_.info(argv[3]));
      if (!info) return sys::Output{.status = 1, .out = "", .err = "cp: no such file"};
      TRY(files_.write(argv[4], TRY(files_.read(argv[3])), info->mode));
    } else if (argv[0] == "ln") {
      TRY(files_.write(argv[3], "", 0777));
    } else if (argv[0] == "systemctl" && argv.back() == missing_unit) {
      return sys::Output{.status = 5, .out = "", .err = "Unit " + missing_unit + " not found."};
    } else if (argv[0] == "systemctl" && argv[1] == "--no-reload") {
      for (std::size_t i = 3; i < argv.size(); ++i) {
        if (argv[2] == "reenable")
          enabled.insert(argv[i]);
        else
          enabled.erase(argv[i]);
      }
    }
    return sys::Output{};
  }

  std::vector<std::string> journal;
  std::set<std::string> enabled;
  std::string missing_unit;  // systemctl fails with it

 private:
  MemoryFiles& files_;
  ChangeLimit& limit_;
};

// Reads work after a kill, so that the test can use them.
class LimitedApi final : public kube::Api {
 public:
  LimitedApi(kube::Api& api, ChangeLimit& change_limit) : api_(api), limit_(change_limit) {}

  Result<Json> send(const sys::Context& context, const kube::ApiRequest& request) override {
    if (request.method != "GET" && request.path.find("/events") == std::string::npos) TRY(limit_.change());
    return api_.send(context, request);
  }
  Result<> stream(const sys::Context& context, const std::string& path,
                  const std::function<Result<>(kube::WatchEvent)>& on_event) override {
    return api_.stream(context, path, on_event);
  }

 private:
  kube::Api& api_;
  ChangeLimit& limit_;
};

// The clock is virtual. Threads: one.
class FakeMachine {
 public:
  node::Environment environment() {
    return {context_, mortal_files_, programs, random_, http_, [](std::string_view) {}};
  }

  void put(const std::string& path, std::string_view text, sys::Mode mode = 0644) { (void)memory.write(path, text, mode); }
  std::string text(const std::string& path) {
    return memory.read(path).ok() ? memory.read(path).value() : "no such file: " + path;
  }

  // Every file below a folder, "MODE CONTENT" by path, without the daemon's own state.
  std::map<std::string, std::string> tree(const std::string& folder) {
    std::map<std::string, std::string> all;
    add_tree(folder, all);
    return all;
  }

  // Replaces a folder by a copy of another one, which nothing kills.
  void copy_folder(const std::string& from, const std::string& to) {
    (void)memory.remove(to);
    add_folder(from, to);
  }

  void revive() { change_limit = ChangeLimit(); }
  void reboot() { (void)memory.remove("/run"); }

  ChangeLimit change_limit;
  MemoryFiles memory;
  LimitedPrograms programs{memory, change_limit};
  TestContext test;

 private:
  void add_folder(const std::string& from, const std::string& to) {
    const auto names = memory.list(from);
    if (!names.ok()) return;
    for (const std::string& name : names.value()) {
      const auto info = memory.info(from + "/" + name).value();
      if (info->kind == sys::FileKind::directory)
        add_folder(from + "/" + name, to + "/" + name);
      else
        put(to + "/" + name, text(from + "/" + name), info->mode);
    }
  }

  void add_tree(const std::string& folder, std::map<std::string, std::string>& all) {
    if (folder == "/etc/machine-config-daemon") return;
    const auto names = memory.list(folder);
    if (!names.ok()) return;
    for (const std::string& name : names.value()) {
      const std::string path = (folder == "/" ? "" : folder) + "/" + name;
      const auto info = memory.info(path).value();
      if (info->kind == sys::FileKind::directory)
        add_tree(path, all);
      else
        all[path] = fmt::format("{:04o} {}", info->mode, memory.read(path).value());
    }
  }

  sys::Context context_ = test.context();
  LimitedFiles mortal_files_{memory, change_limit};
  SeededRandom random_{1};
  net::CurlHttp http_;
};

}  // namespace slipway::testing_support
