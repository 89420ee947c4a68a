// FakeOstree: a FakeMachine with OSTree deployments: the programs ostree and boot-counter, and a boot loader that counts
// attempts.
//
//   FakeOstree machine("root=x quiet");       // kernel arguments of its only deployment
//   (void)updater.stage(...);                  // with machine.environment()
//   machine.boot();
#pragma once

#include "node/os_update/deployments.h"

#include "support/fake_machine.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::testing_support {

class FakeOstree final : public sys::Runner {
 public:
  struct Entry {
    std::string commit;
    int serial = 0;
    std::string arguments;

    std::string id() const { return fmt::format("{}.{}", commit, serial); }
    std::string folder() const { return "/sysroot/ostree/deploy/slipway/deploy/" + id(); }
  };

  static std::string first_image() { return "sha256:" + std::string(64, '1'); }

  explicit FakeOstree(std::string arguments) : deployments_{{.commit = first_commit, .arguments = std::move(arguments)}} {
    booted_ = deployments_[0].id();
    write_boot_files();
  }

  node::Environment environment() {
    node::Environment made = machine_.environment();
    return {made.context, made.files, *this, made.random, made.http, made.print};
  }

  void put(const std::string& path, std::string_view text) { machine_.put(path, text); }
  std::string text(const std::string& path) { return machine_.text(path); }
  void revive() { machine_.revive(); }

  // The deployment that boots next.
  const Entry& next() const { return deployments_.front(); }
  void boot() { start(deployments_.front()); }
  void fall_back() {
    counter = 0;
    start(deployments_.at(1));
  }

  Result<sys::Output> run(const sys::Context& context, const sys::Command& command) override {
    const std::vector<std::string>& argv = command.argv;
    const auto is = [&](std::vector<std::string> words) {
      return argv.size() >= words.size() && std::equal(words.begin(), words.end(), argv.begin());
    };
    if (is({"ostree", "admin", "status"})) return sys::Output{.status = 0, .out = status(), .err = ""};
    if (is({"ostree", "--repo=/ostree/repo"})) return query(argv);
    if (is({"systemctl", "list-units"})) return sys::Output{.status = 0, .out = failed_units, .err = ""};
    if (is({"ostree", "admin", "deploy"})) return deploy(argv);
    if (is({"ostree", "admin", "set-default"})) {
      TRY(change_limit.change());
      const auto wanted = deployments_.begin() + std::stoi(argv.at(3));
      std::rotate(deployments_.begin(), wanted, wanted + 1);
      write_boot_files();
      return sys::Output{};
    }
    if (argv[0] == "/usr/lib/slipway/boot-counter") {
      TRY(change_limit.change());
      if (argv.at(1) == "start" && deployments_.size() < 2)
        return sys::Output{.status = 1, .out = "", .err = "nothing to fall back to"};
      counter = argv.at(1) == "start" ? std::optional<int>(3) : std::nullopt;
      write_boot_files();
      return sys::Output{};
    }
    return machine_.programs.run(context, command);
  }

 private:
  static inline const std::string first_commit = std::string(64, 'a');
  FakeMachine machine_;
  std::vector<Entry> deployments_;
  std::string booted_;

 public:
  ChangeLimit& change_limit = machine_.change_limit;
  std::optional<int> counter;  // attempts that the boot loader has left
  std::string failed_units;    // the answer of systemctl list-units

  struct Ref {
    std::string name, commit;
    std::map<std::string, std::string> metadata;
  };
  std::vector<Ref> refs = {{"slipway/machine-os", first_commit, {{"slipway.image", first_image()}}}};

 private:
  std::string status() const {
    std::string text;
    for (const Entry& each : deployments_) text += (each.id() == booted_ ? "* slipway " : "  slipway ") + each.id() + "\n";
    return text;
  }

  // What the repository has.
  Result<sys::Output> query(const std::vector<std::string>& argv) {
    std::string names;
    for (const Ref& ref : refs) names += ref.name + "\n";
    if (argv[2] == "refs" && argv.size() == 3) return sys::Output{.status = 0, .out = names, .err = ""};
    if (argv[2] == "refs") {
      std::erase_if(refs, [&](const Ref& ref) { return ref.name == argv.at(4); });
      return sys::Output{};
    }
    const auto wanted = std::ranges::find_if(
        refs, [&](const Ref& ref) { return (argv[2] == "rev-parse" ? ref.name : ref.commit) == argv.back(); });
    if (wanted == refs.end()) return sys::Output{.status = 1, .out = "", .err = "no such ref or commit"};
    if (argv[2] == "rev-parse") return sys::Output{.status = 0, .out = wanted->commit + "\n", .err = ""};
    const auto value = wanted->metadata.find(argv.at(3).substr(std::string_view("--print-metadata-key=").size()));
    if (value == wanted->metadata.end()) return sys::Output{.status = 1, .out = "", .err = "no such key"};
    return sys::Output{.status = 0, .out = "'" + value->second + "'\n", .err = ""};
  }

  Result<sys::Output> deploy(const std::vector<std::string>& argv) {
    TRY(change_limit.change());
    Entry made{.commit = argv.back(), .arguments = {}};
    for (const std::string& word : argv) {
      constexpr std::string_view append = "--karg-append=";
      if (!word.starts_with(append)) continue;
      if (!made.arguments.empty()) made.arguments += ' ';
      made.arguments += word.substr(append.size());
    }
    const auto booted = std::ranges::find(deployments_, booted_, &Entry::id);
    deployments_ = {*booted};
    made.serial = deployments_[0].commit == made.commit ? deployments_[0].serial + 1 : 0;
    machine_.copy_folder("/etc", made.folder() + "/etc");
    deployments_.push_back(made);
    write_boot_files();
    return sys::Output{};
  }

  void start(const Entry& deployment) {
    machine_.copy_folder("/etc", std::ranges::find(deployments_, booted_, &Entry::id)->folder() + "/etc");
    booted_ = deployment.id();
    machine_.copy_folder(deployment.folder() + "/etc", "/etc");
    machine_.reboot();
    write_boot_files();
  }

  std::string options_of(const Entry& each) const { return each.arguments + " ostree=/ostree/boot.0/" + each.id(); }

  void write_boot_files() {
    (void)machine_.memory.remove("/boot/loader/entries");
    for (std::size_t i = 0; i < deployments_.size(); ++i) {
      machine_.put(fmt::format("/boot/loader/entries/ostree-{}.conf", i), "options " + options_of(deployments_[i]) + "\n");
      if (deployments_[i].id() == booted_) machine_.put("/proc/cmdline", options_of(deployments_[i]) + "\n");
    }
    if (counter)
      machine_.put("/boot/grub/grubenv", fmt::format("boot_counter={}\nboot_success=0\n", *counter));
    else
      (void)machine_.memory.remove("/boot/grub/grubenv");
  }
};

}  // namespace slipway::testing_support
