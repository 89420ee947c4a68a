// Random Ignition configs for property tests (rapidcheck): valid configs of the newest spec whose entries often collide.
#pragma once

#include "ignition/types.h"

#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

namespace slipway::testing_support {

struct ArbitraryIgnition {
  // The same path may be a file in one config and a link in the next; an argument may be wanted in one and unwanted in the next.
  bool kinds_change = false;
  // Lists that a merge appends to: with them, merging a config with itself changes it.
  bool concatenated = true;
};

class IgnitionMaker {
 public:
  explicit IgnitionMaker(ArbitraryIgnition options) : options_(options) {}

  ignition::Config config() {
    using namespace ignition;
    Config config{.ignition = {.version = newest_version}};
    config.ignition.config.merge = some<Resource>(3, [&](int i) { return resource("http://merge-" + std::to_string(i), true); });
    if (one_in(4)) config.ignition.config.replace = resource("https://replace", true);
    config.ignition.security.tls.certificate_authorities =
        some<Resource>(2, [&](int i) { return resource("data:,ca-" + std::to_string(i), false); });
    config.ignition.timeouts.http_total = maybe<std::int64_t>({10, 20});
    config.ignition.proxy.http_proxy = maybe<std::string>({"http://a", "http://b"});
    config.ignition.proxy.no_proxy = words(3);
    arguments(config.kernel_arguments);
    config.passwd.users = some<User>(2, [&](int i) {
      return User{.name = "user-" + std::to_string(i),
                  .password_hash = maybe<std::string>({"", "x", "y"}),
                  .ssh_authorized_keys = words(3),
                  .uid = maybe<std::int64_t>({1000, 1001}),
                  .groups = words(2),
                  .should_exist = flag()};
    });
    config.passwd.groups = some<Group>(2, [&](int i) {
      return Group{.name = "group-" + std::to_string(i), .gid = maybe<std::int64_t>({0, 7})};
    });
    nodes(config.storage);
    disks(config.storage);
    config.systemd.units = some<Unit>(3, [&](int i) {
      return Unit{.name = "unit-" + std::to_string(i) + ".service",
                  .enabled = flag(),
                  .mask = flag(),
                  .contents = maybe<std::string>({"", "[A]\nB=c\n", "[Install]\nWantedBy=x\n"}),
                  .dropins = some<Dropin>(2, [&](int k) {
                    return Dropin{.name = std::to_string(k) + "0-x.conf", .contents = maybe<std::string>({"", "[A]\nB=d\n"})};
                  })};
    });
    return config;
  }

 private:
  // rapidcheck scales ranges with the size of a test case; here every case uses the whole range.
  static int pick(int count) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, count)); }
  static bool one_in(int count) { return pick(count) == 0; }

  template <class T>
  static std::optional<T> maybe(const std::vector<T>& values) {
    const int choice = pick(static_cast<int>(values.size()) + 1);
    return choice == 0 ? std::nullopt : std::optional<T>(values[static_cast<std::size_t>(choice) - 1]);
  }
  static ignition::Flag flag() { return maybe<bool>({false, true}); }

  // Entries for a random selection of the numbers below `count`, in random order; often none.
  template <class T, class Make>
  static std::vector<T> some(int count, Make make) {
    std::vector<T> entries;
    const int chosen = one_in(3) ? 0 : pick(1 << count);
    for (int i = 0; i < count; ++i) {
      if (chosen & 1 << i) entries.push_back(make(i));
    }
    if (chosen & 1) std::ranges::reverse(entries);
    return entries;
  }
  static ignition::Texts words(int count) {
    return some<std::string>(count, [](int i) { return "word-" + std::to_string(i); });
  }
  ignition::Texts appended() const { return options_.concatenated ? words(2) : ignition::Texts{}; }

  static ignition::Resource resource(std::string source, bool headers) {
    ignition::Resource resource{.source = std::move(source), .compression = maybe<std::string>({"", "gzip"})};
    if (headers) {
      resource.http_headers = some<ignition::HttpHeader>(
          2, [](int i) { return ignition::HttpHeader{.name = "X-" + std::to_string(i), .value = one_in(2) ? "a" : "b"}; });
    }
    if (one_in(3)) resource.verification.hash = "sha256-" + std::string(64, one_in(2) ? 'a' : 'b');
    return resource;
  }

  void arguments(ignition::KernelArguments& arguments) const {
    const int count = 3;
    std::vector<bool> wanted(count, true);
    for (auto&& each : wanted) each = !options_.kinds_change || one_in(2);
    for (const std::string& word : words(count)) {
      (wanted[static_cast<std::size_t>(word.back() - '0')] ? arguments.should_exist : arguments.should_not_exist).push_back(word);
    }
    if (!options_.kinds_change) {
      for (const std::string& word : words(2)) arguments.should_not_exist.push_back("un" + word);
    }
  }

  // Even numbers have remote sources, odd ones have inline contents: the source of a child is merged with the headers of its
  // parent.
  void nodes(ignition::Storage& storage) const {
    using namespace ignition;
    for (const int i : some<int>(4, [](int number) { return number; })) {
      const int kind = options_.kinds_change ? pick(3) : i % 3;
      const std::string path = "/etc/node-" + std::to_string(i);
      const Owner user{.id = maybe<std::int64_t>({0, 1000})};
      if (kind == 0) {
        File file{.path = path, .mode = maybe<std::int64_t>({0, 0644, 0755}), .user = user};
        if (one_in(2)) file.contents = i % 2 == 0 ? resource("http://file", true) : resource("data:,a", false);
        if (file.contents.source) file.overwrite = flag();
        if (options_.concatenated && one_in(3)) file.append = {resource("data:,b", false), resource("data:,b", false)};
        storage.files.push_back(std::move(file));
      } else if (kind == 1) {
        storage.directories.push_back({.path = path, .overwrite = flag(), .mode = maybe<std::int64_t>({0700}), .user = user});
      } else {
        storage.links.push_back(
            {.path = path, .overwrite = flag(), .target = one_in(2) ? "/a" : "b", .hard = flag(), .user = user});
      }
    }
  }

  void disks(ignition::Storage& storage) const {
    using namespace ignition;
    if (!one_in(3)) return;
    storage.disks = some<Disk>(2, [](int i) {
      return Disk{.device = "/dev/disk-" + std::to_string(i),
                  .wipe_table = flag(),
                  .partitions = some<Partition>(3, [](int k) {
                    if (k == 0) return Partition{.label = "first", .size_mib = maybe<std::int64_t>({0, 10})};
                    return Partition{.number = k, .resize = flag(), .wipe_partition_entry = flag()};
                  })};
    });
    storage.filesystems = some<Filesystem>(2, [&](int i) {
      return Filesystem{.device = "/dev/fs-" + std::to_string(i),
                        .format = one_in(2) ? "xfs" : "ext4",
                        .path = maybe<std::string>({"/var", "/srv"}),
                        .options = appended(),
                        .mount_options = appended()};
    });
    storage.luks = some<Luks>(2, [&](int i) {
      return Luks{.name = "luks-" + std::to_string(i),
                  .device = one_in(2) ? "/dev/a" : "/dev/b",
                  .options = appended(),
                  .open_options = words(2),
                  .discard = flag()};
    });
  }

  ArbitraryIgnition options_;
};

inline rc::Gen<ignition::Config> arbitrary_ignition(ArbitraryIgnition options = {}) {
  return rc::gen::noShrink(rc::gen::exec([options] { return IgnitionMaker(options).config(); }));
}

}  // namespace slipway::testing_support
