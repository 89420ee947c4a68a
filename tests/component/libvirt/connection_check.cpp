// src/provider/libvirt/connection.h with libvirtd, and with the driver of libvirt that keeps everything in the memory of this
// process. test_libvirt.py runs this program on a host of its own. virsh is the judge.
#include "base/check.h"
#include "base/guarded.h"
#include "base/text.h"
#include "provider/libvirt/connection.h"
#include "support/test_context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace slipway::provider::libvirt {

namespace {

using testing_support::RealTimeContext;
using Duration = std::chrono::milliseconds;

constexpr const char* system_uri = "qemu:///system";
constexpr const char* memory_uri = "test:///default";
constexpr Duration limit{60'000};

// As sys::StopOnSignal does: libvirt writes to connections that its daemon may have closed.
[[maybe_unused]] const auto default_action = std::signal(SIGPIPE, SIG_IGN);

template <class T>
T must(Result<T> result) {
  if (!result.ok()) fmt::print(stderr, "{}\n", result.error().message());
  CHECK(result.ok());
  return std::move(result).value();
}

#define EXPECT_ERROR(expression, expected_code, part)                                                                \
  do {                                                                                                               \
    const auto failed_result = (expression);                                                                         \
    ASSERT_FALSE(failed_result.ok());                                                                                \
    EXPECT_EQ(to_string(failed_result.error().code()), to_string(expected_code)) << failed_result.error().message(); \
    EXPECT_NE(failed_result.error().message().find(part), std::string::npos) << failed_result.error().message();     \
    EXPECT_EQ(failed_result.error().message().find('\n'), std::string::npos);                                        \
  } while (false)

std::unique_ptr<Connection> connect(const std::string& uri = system_uri) { return must(Connection::open(uri)); }

// A folder on the host that belongs to the test.
std::string folder() {
  const char* path = std::getenv("SLIPWAY_LIBVIRT_FOLDER");
  CHECK(path != nullptr);
  return path;
}

std::string run(std::vector<std::string> argv) {
  RealTimeContext test;
  sys::RealRunner runner;
  return must(sys::run_checked(runner, test.context(), {.argv = std::move(argv)}));
}

template <class... Words>
std::string virsh(const Words&... words) {
  return std::string(trim(run({"virsh", "-c", system_uri, words...})));
}

bool exists(const std::string& path) {
  sys::RealFiles files;
  return must(files.info(path)).has_value();
}

template <class Predicate>
void until(const char* what, const Predicate& predicate) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!predicate()) {
    if (std::chrono::steady_clock::now() > end) fmt::print(stderr, "{}: not within {} s\n", what, limit.count() / 1000);
    CHECK(std::chrono::steady_clock::now() <= end);
    std::this_thread::sleep_for(Duration(10));
  }
}

Duration time_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - start);
}

template <class Object>
bool is_listed(const std::vector<Object>& objects, const std::string& name) {
  return std::ranges::find(objects, name, &Object::name) != objects.end();
}

Reader reader_of(const std::string& text) {
  return [&text, sent = std::size_t(0)](char* buffer, std::size_t size) mutable -> Result<std::size_t> {
    const std::size_t piece = text.copy(buffer, size, sent);
    sent += piece;
    return piece;
  };
}

std::string pool_xml(const std::string& name, const std::string& path) {
  return fmt::format("<pool type='dir'><name>{}</name><target><path>{}</path></target></pool>", name, path);
}

std::string volume_xml(const std::string& name, std::uint64_t capacity, std::string_view format, const std::string& base = "") {
  const std::string backing =
      base.empty() ? "" : fmt::format("<backingStore><path>{}</path><format type='qcow2'/></backingStore>", base);
  return fmt::format("<volume><name>{}</name><capacity unit='bytes'>{}</capacity><target><format type='{}'/></target>{}</volume>",
                     name, capacity, format, backing);
}

std::string network_xml(const std::string& name, int number, std::string_view forward = "") {
  return fmt::format(
      "<network><name>{}</name>{}<bridge name='slipway{}'/><ip address='192.168.{}.1' prefix='24'><dhcp>"
      "<range start='192.168.{}.100' end='192.168.{}.110'/></dhcp></ip></network>",
      name, forward, number, number, number, number);
}

constexpr const char* mac = "52:54:00:0a:0b:0c";

// The machine boots from its network, because its disk is empty.
std::string domain_xml(const std::string& name, std::string_view more = "", std::string_view firmware = "") {
  return fmt::format(
      "<domain type='qemu'><name>{}</name><memory unit='MiB'>128</memory><vcpu>1</vcpu>"
      "<os{}><type arch='x86_64' machine='q35'>hvm</type><boot dev='hd'/><boot dev='network'/></os>"
      "<features><acpi/></features><on_poweroff>destroy</on_poweroff><devices>{}</devices></domain>",
      name, firmware, more);
}

// Follows the events of a connection in a thread.
class Watch {
 public:
  explicit Watch(Connection& connection)
      : thread_([this, &connection] {
          Result<> ended = connection.follow(test_.context(), [this](const DomainEvent& event) {
            events_.with_lock(
                [&](auto& all) { all.push_back(fmt::format("{} {} {}", event.domain, event.event, event.detail)); });
          });
          ended_.with_lock([&](auto& result) { result = ended.error(); });
        }) {}
  ~Watch() { stop(); }

  std::vector<std::string> events() const {
    return events_.with_lock([](const auto& all) { return all; });
  }
  bool has(const std::string& event) const {
    const std::vector<std::string> all = events();
    return std::ranges::find(all, event) != all.end();
  }
  std::optional<Error> ended() const {
    return ended_.with_lock([](const auto& result) { return result; });
  }
  void stop() {
    test_.stop.request_stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  RealTimeContext test_;
  Guarded<std::vector<std::string>> events_;
  Guarded<std::optional<Error>> ended_;
  std::thread thread_;
};

// Ends connections, as a restart of the daemon does.
std::vector<std::string> clients() {
  std::vector<std::string> ids;
  for (const std::string_view line : split(run({"virt-admin", "client-list", "libvirtd"}), '\n')) {
    const std::string_view id = trim(line).substr(0, trim(line).find(' '));
    if (!id.empty() && id.find_first_not_of("0123456789") == std::string_view::npos) ids.emplace_back(id);
  }
  return ids;
}

TEST(LibvirtInMemory, ListsWhatTheDriverHas) {
  const auto host = connect(memory_uri);
  EXPECT_EQ(host->uri(), memory_uri);
  EXPECT_TRUE(host->is_open());
  const HostFacts facts = must(host->host_facts());
  EXPECT_GT(facts.free_memory, 1u << 20);
  EXPECT_GT(facts.processors, 0);
  const std::vector<Domain> domains = must(host->domains());
  ASSERT_EQ(domains.size(), 1u);
  EXPECT_EQ(domains[0].name, "test");
  EXPECT_EQ(domains[0].state, "running");
  EXPECT_EQ(domains[0].reason, "");
  EXPECT_TRUE(domains[0].is_active);
  EXPECT_TRUE(is_listed(must(host->networks()), "default"));
  const std::vector<Pool> pools = must(host->pools());
  ASSERT_TRUE(is_listed(pools, "default-pool"));
  EXPECT_TRUE(pools[0].is_active);
  EXPECT_GT(pools[0].available, 0u);
  EXPECT_TRUE(must(host->volumes("default-pool", Refresh::yes)).empty());
}

TEST(LibvirtInMemory, CreatesAndRemoves) {
  const auto host = connect(memory_uri);
  must(host->create_pool(pool_xml("p", "/nowhere/p"), "p"));
  must(host->create_pool(pool_xml("p", "/nowhere/p"), "p"));
  must(host->create_volume("p", volume_xml("base", 1 << 20, "qcow2")));
  const Volume base = must(host->find_volume("p", "base")).value();
  EXPECT_EQ(base.path, "/nowhere/p/base");
  must(host->create_volume("p", volume_xml("layer", 2 << 20, "qcow2", base.path)));
  EXPECT_EQ(must(host->volumes("p", Refresh::yes)).size(), 2u);
  EXPECT_ERROR(host->create_volume("p", volume_xml("layer", 1, "raw")), Code::conflict, "creating volume layer in pool p: ");
  EXPECT_ERROR(host->remove_pool("p"), Code::conflict, "it has 2 volumes");
  must(host->remove_volume("p", "layer"));
  must(host->remove_volume("p", "base"));
  must(host->remove_volume("p", "base"));
  must(host->remove_pool("p"));
  must(host->remove_pool("p"));
  must(host->remove_volume("p", "base"));
  EXPECT_FALSE(must(host->find_pool("p")).has_value());

  must(host->define_network(network_xml("n", 77)));
  EXPECT_FALSE(must(host->find_network("n")).value().is_active);
  must(host->start_network("n"));
  must(host->start_network("n"));
  EXPECT_TRUE(must(host->find_network("n")).value().is_active);
  EXPECT_ERROR(host->define_network(network_xml("n", 78)), Code::conflict, "defining network n: ");
  must(host->remove_network("n"));
  must(host->remove_network("n"));
  EXPECT_FALSE(must(host->find_network("n")).has_value());

  const std::string machine = "<domain type='test'><name>m</name><memory>8192</memory><os><type>hvm</type></os></domain>";
  {
    const Watch watch(*host);
    until("an event", [&] {
      must(host->define_domain(machine));
      must(host->remove_domain("m"));
      return watch.has("m undefined removed");
    });
    must(host->define_domain(machine));
    EXPECT_ERROR(host->define_domain(machine), Code::conflict, "defining domain m: ");
    must(host->start_domain("m"));
    must(host->start_domain("m"));
    EXPECT_EQ(must(host->find_domain("m")).value().state, "running");
    until("the start", [&] { return watch.has("m started booted"); });
    must(host->remove_domain("m"));
    until("the end", [&] { return watch.has("m stopped destroyed"); });
  }
  must(host->remove_domain("m"));
  EXPECT_FALSE(must(host->find_domain("m")).has_value());
}

TEST(LibvirtInMemory, ReportsErrors) {
  EXPECT_ERROR(Connection::open("nothing:///system"), Code::invalid, "nothing:///system");
  EXPECT_ERROR(Connection::open("qemu+unix:///system?socket=/nowhere"), Code::unavailable, "(install and start libvirtd");
  EXPECT_ERROR(Connection::open("qemu+ssh://127.0.0.1:1/system"), Code::unavailable,
               "(check with: virsh -c qemu+ssh://127.0.0.1:1/system version)");
  const auto host = connect(memory_uri);
  RealTimeContext test;
  const std::string text = "x";
  EXPECT_FALSE(must(host->find_volume("nothing", "v")).has_value());
  EXPECT_TRUE(must(host->volumes("nothing", Refresh::yes)).empty());
  EXPECT_TRUE(must(host->leases("nothing")).empty());
  EXPECT_ERROR(host->create_volume("nothing", volume_xml("v", 1, "raw")), Code::not_found, "pool nothing: not found on test:///");
  EXPECT_ERROR(host->upload(test.context(), "nothing", "v", 1, reader_of(text)), Code::not_found, "pool nothing: not found");
  EXPECT_ERROR(host->download(test.context(), "default-pool", "v", 1), Code::not_found,
               "volume v: not found in pool default-pool");
  EXPECT_ERROR(host->start_network("nothing"), Code::not_found, "network nothing: not found");
  EXPECT_ERROR(host->start_domain("nothing"), Code::not_found, "domain nothing: not found");
  EXPECT_ERROR(host->create_pool("<pool type='dir'><name>p</name>", "p"), Code::invalid, "defining pool p: ");
  EXPECT_ERROR(host->define_network("<network><name>n</name><ip address='x'/></network>"), Code::invalid, "defining network n: ");
  EXPECT_ERROR(host->define_domain("<domain type='test'><name>d</name></domain>"), Code::invalid, "defining domain d: ");
  EXPECT_ERROR(host->define_domain("no document"), Code::invalid, "defining domain without a name: ");
  EXPECT_FALSE(must(host->offers("kvm")));
}

// A second connection neither waits for the first nor ends its event loop.
TEST(LibvirtInMemory, ConnectionsShareTheEventLoop) {
  const auto first = connect(memory_uri);
  const Watch watch(*first);
  for (int i = 0; i < 20; ++i) connect(memory_uri);
  const std::string machine = "<domain type='test'><name>s</name><memory>8192</memory><os><type>hvm</type></os></domain>";
  until("an event", [&] {
    const auto second = connect(memory_uri);
    const Watch other(*second);
    must(second->define_domain(machine));
    must(second->remove_domain("s"));
    return watch.has("s undefined removed");
  });
}

TEST(LibvirtHost, FactsOfTheHost) {
  const auto host = connect();
  const HostFacts facts = must(host->host_facts());
  EXPECT_NE(virsh("nodeinfo").find(fmt::format("CPU(s):              {}\n", facts.processors)), std::string::npos);
  // Lines such as "free   :   1234 KiB".
  std::uint64_t free_memory = 0;
  const std::string judged = virsh("nodememstats");
  for (const std::string_view line : split(judged, '\n')) {
    const auto parts = split(line, ':');
    if (parts.size() == 2 && trim(parts[0]) != "total") free_memory += std::strtoull(parts[1].data(), nullptr, 10) * 1024;
  }
  EXPECT_GT(facts.free_memory, free_memory / 2);
  EXPECT_LT(facts.free_memory, free_memory * 2);
  EXPECT_TRUE(must(host->offers("qemu")));
  EXPECT_FALSE(must(host->offers("kvm")));  // libvirt_host.py hides it
  EXPECT_FALSE(must(host->offers("nothing")));
}

TEST(LibvirtHost, PoolsAndVolumes) {
  const auto host = connect();
  const std::string path = folder() + "/pools/one";
  must(host->create_pool(pool_xml("one", path), "one"));
  must(host->create_pool(pool_xml("one", path), "one"));
  const Pool pool = must(host->find_pool("one")).value();
  EXPECT_TRUE(pool.is_active);
  EXPECT_GT(pool.available, 1u << 20);
  EXPECT_NE(pool.xml.find(path), std::string::npos);
  EXPECT_NE(virsh("pool-info", "one").find("Autostart:      yes"), std::string::npos);
  // Created partly: defined, and its folder exists.
  virsh("pool-destroy", "one");
  EXPECT_FALSE(must(host->find_pool("one")).value().is_active);
  EXPECT_EQ(must(host->find_pool("one")).value().available, 0u);
  EXPECT_TRUE(must(host->volumes("one", Refresh::yes)).empty());
  EXPECT_FALSE(must(host->find_volume("one", "base")).has_value());
  must(host->create_pool(pool_xml("one", path), "one"));

  must(host->create_volume("one", volume_xml("base", 1 << 20, "qcow2")));
  const Volume base = must(host->find_volume("one", "base")).value();
  EXPECT_EQ(base.path, path + "/base");
  must(host->create_volume("one", volume_xml("layer", 1 << 30, "qcow2", base.path)));
  const std::string layer = must(host->find_volume("one", "layer")).value().xml;
  EXPECT_NE(layer.find("<path>" + base.path + "</path>"), std::string::npos) << layer;
  EXPECT_NE(run({"qemu-img", "info", path + "/layer"}).find("backing file: " + base.path), std::string::npos);
  EXPECT_ERROR(host->create_volume("one", volume_xml("layer", 1, "qcow2")), Code::conflict, "layer");
  // A file that libvirt does not know yet, for instance the console log of a machine.
  run({"sh", "-c", "echo log >" + path + "/console.log"});
  EXPECT_FALSE(must(host->find_volume("one", "console.log")).has_value());
  EXPECT_TRUE(is_listed(must(host->volumes("one", Refresh::yes)), "console.log"));
  RealTimeContext test;
  EXPECT_EQ(must(host->download(test.context(), "one", "console.log", 4)), "log\n");
  EXPECT_EQ(must(host->volumes("one", Refresh::yes)).size(), 3u);

  run({"sh", "-c", "echo log >" + path + "/late.log"});
  EXPECT_ERROR(host->remove_pool("one"), Code::conflict, "removing pool one: it has 4 volumes");
  for (const char* name : {"layer", "base", "console.log", "late.log", "late.log"}) must(host->remove_volume("one", name));
  // libvirt does not list pipes.
  run({"mkfifo", path + "/pipe"});
  EXPECT_ERROR(host->remove_pool("one"), Code::conflict, "removing the folder of pool one: ");
  EXPECT_TRUE(must(host->find_pool("one")).value().is_active);
  run({"rm", path + "/pipe"});
  must(host->remove_pool("one"));
  must(host->remove_pool("one"));
  EXPECT_FALSE(exists(path));
  EXPECT_EQ(virsh("pool-list", "--all", "--name"), "");

  // Somebody removed the folder.
  must(host->create_pool(pool_xml("one", path), "one"));
  run({"rmdir", path});
  EXPECT_ERROR(host->volumes("one", Refresh::yes), Code::unavailable, "refreshing pool one: ");
  must(host->remove_pool("one"));
  EXPECT_EQ(virsh("pool-list", "--all", "--name"), "");
}

TEST(LibvirtHost, Transfers) {
  const auto host = connect();
  RealTimeContext test;
  const std::string path = folder() + "/pools/two";
  must(host->create_pool(pool_xml("two", path), "two"));
  std::string content(3'000'001, 'x');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * i / 7 + i);
  must(host->create_volume("two", volume_xml("v", content.size(), "raw")));
  must(host->upload(test.context(), "two", "v", content.size(), reader_of(content)));
  virsh("vol-download", "v", folder() + "/copy", "--pool", "two");
  sys::RealFiles files;
  EXPECT_TRUE(must(files.read(folder() + "/copy")) == content);
  EXPECT_TRUE(must(host->download(test.context(), "two", "v", content.size())) == content);
  EXPECT_ERROR(host->download(test.context(), "two", "v", content.size() - 1), Code::too_large,
               "downloading volume v of pool two");
  must(host->upload(test.context(), "two", "v", 0, reader_of("")));

  EXPECT_ERROR(host->upload(test.context(), "two", "v", content.size() + 1, reader_of(content)), Code::invalid,
               "uploading volume v of pool two: the source has 3000001 bytes instead of 3000002");
  const Reader broken = [](char*, std::size_t) -> Result<std::size_t> { return error(Code::denied, "no file"); };
  EXPECT_ERROR(host->upload(test.context(), "two", "v", 5, broken), Code::denied, "uploading volume v of pool two: no file");
  const Reader stops = [&](char*, std::size_t size) -> Result<std::size_t> { return test.stop.request_stop(), size; };
  EXPECT_ERROR(host->upload(test.context(), "two", "v", 1u << 30, stops), Code::cancelled,
               "uploading volume v of pool two: stopped");
  EXPECT_ERROR(host->download(test.context(), "two", "v", 1 << 30), Code::cancelled, "stopped");

  // In parallel, with refreshes that libvirt refuses at times.
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, name = fmt::format("parallel-{}", i)] {
      RealTimeContext own;
      must(host->create_volume("two", volume_xml(name, content.size(), "raw")));
      must(host->upload(own.context(), "two", name, content.size(), reader_of(content)));
      must(host->volumes("two", Refresh::yes));
      EXPECT_TRUE(must(host->download(own.context(), "two", name, content.size())) == content);
      must(host->remove_volume("two", name));
    });
  }
  for (std::thread& thread : threads) thread.join();
  until("the end of the transfers", [&] { return host->remove_volume("two", "v").ok(); });
  must(host->remove_pool("two"));
  EXPECT_FALSE(exists(path));
}

TEST(LibvirtHost, Networks) {
  const auto host = connect();
  int number = 81;
  for (const std::string_view forward : {"", "<forward mode='nat'/>"}) {
    const std::string xml = network_xml("net", number++, forward);
    must(host->define_network(xml));
    EXPECT_FALSE(must(host->find_network("net")).value().is_active);
    EXPECT_TRUE(must(host->leases("net")).empty());
    must(host->start_network("net"));
    must(host->start_network("net"));
    const Network network = must(host->find_network("net")).value();
    EXPECT_TRUE(network.is_active);
    EXPECT_NE(network.xml.find("range start"), std::string::npos);
    EXPECT_TRUE(must(host->leases("net")).empty());
    const std::string judged = virsh("net-info", "net");
    EXPECT_NE(judged.find("Active:         yes"), std::string::npos) << judged;
    EXPECT_NE(judged.find("Autostart:      yes"), std::string::npos) << judged;
    EXPECT_EQ(run({"iptables", "-t", "nat", "-S"}).find("MASQUERADE") != std::string::npos, !forward.empty());
    EXPECT_ERROR(host->define_network(network_xml("net", 90)), Code::conflict, "defining network net: ");
    // Another network has its bridge, or its addresses.
    EXPECT_FALSE(host->define_network(network_xml("other", number - 1)).ok());
    virsh("net-destroy", "net");
    must(host->remove_network("net"));
    must(host->remove_network("net"));
    EXPECT_EQ(virsh("net-list", "--all", "--name"), "");
  }
}

TEST(LibvirtHost, Domains) {
  const auto host = connect();
  RealTimeContext test;
  const std::string path = folder() + "/pools/three";
  must(host->create_pool(pool_xml("three", path), "three"));
  must(host->create_volume("three", volume_xml("disk", 1 << 30, "qcow2")));
  const std::string config = R"({"ignition": {"version": "3.3.0"}})";
  must(host->create_volume("three", volume_xml("config.ign", config.size(), "raw")));
  must(host->upload(test.context(), "three", "config.ign", config.size(), reader_of(config)));
  must(host->define_network(network_xml("net", 83, "<forward mode='nat'/>")));
  must(host->start_network("net"));
  const std::string devices = fmt::format(
      "<disk type='file' device='disk'><driver name='qemu' type='qcow2'/><source file='{}/disk'/>"
      "<target dev='vda' bus='virtio'/></disk>"
      "<interface type='network'><mac address='{}'/><source network='net'/><model type='virtio'/></interface>"
      "<serial type='pty'><log file='{}/console.log' append='on'/></serial>",
      path, mac, path);
  std::string xml = domain_xml("machine", devices);
  xml.insert(xml.find("<features>"),
             fmt::format("<sysinfo type='fwcfg'><entry name='opt/com.coreos/config' file='{}/config.ign'/></sysinfo>", path));
  Watch watch(*host);
  until("an event", [&] {
    must(host->remove_domain("machine"));
    must(host->define_domain(xml));
    return watch.has("machine defined added");
  });
  EXPECT_ERROR(host->define_domain(xml), Code::conflict, "defining domain machine: ");
  Domain domain = must(host->find_domain("machine")).value();
  EXPECT_FALSE(domain.is_active);
  EXPECT_EQ(domain.state, "shut off");
  EXPECT_NE(domain.xml.find("opt/com.coreos/config"), std::string::npos);
  must(host->start_domain("machine"));
  must(host->start_domain("machine"));
  domain = must(host->find_domain("machine")).value();
  EXPECT_TRUE(domain.is_active);
  EXPECT_EQ(domain.state, virsh("domstate", "machine"));
  EXPECT_EQ(domain.xml.find("<alias"), std::string::npos) << "not the inactive configuration: " << domain.xml;
  EXPECT_NE(virsh("dominfo", "machine").find("Autostart:      enable"), std::string::npos);
  until("the start", [&] { return watch.has("machine started booted"); });
  EXPECT_ERROR(host->define_domain(domain_xml("broken", devices + "<serial type='nothing'/>")), Code::invalid,
               "defining domain broken: ");
  EXPECT_TRUE(exists(path + "/console.log"));
  EXPECT_TRUE(is_listed(must(host->volumes("three", Refresh::yes)), "console.log"));

  virsh("suspend", "machine");
  domain = must(host->find_domain("machine")).value();
  EXPECT_EQ(domain.state + "/" + domain.reason, "paused/user");
  virsh("resume", "machine");
  // The firmware of the machine asks for an address.
  until("a lease", [&] { return !must(host->leases("net")).empty(); });
  const Lease lease = must(host->leases("net")).front();
  EXPECT_EQ(lease.mac, mac);
  EXPECT_NE(virsh("net-dhcp-leases", "net").find(lease.address + "/24"), std::string::npos);

  // The host kills it.
  run({"sh", "-c", "kill -KILL $(cat /run/libvirt/qemu/machine.pid)"});
  until("the end", [&] { return watch.has("machine stopped failed"); });
  until("the end", [&] { return !must(host->find_domain("machine")).value().is_active; });
  domain = must(host->find_domain("machine")).value();
  EXPECT_EQ(domain.state + " (" + domain.reason + ")", virsh("domstate", "machine", "--reason"));
  EXPECT_EQ(domain.reason, "crashed");
  must(host->start_domain("machine"));

  must(host->remove_domain("machine"));
  must(host->remove_domain("machine"));
  until("the end", [&] { return watch.has("machine undefined removed"); });
  EXPECT_TRUE(watch.has("machine stopped destroyed"));
  const Duration time = time_of([&] { watch.stop(); });
  fmt::print("FIGURE follow() ends {} ms after a stop\n", time.count());
  EXPECT_LT(time, Duration(2000));
  EXPECT_EQ(watch.ended().value().code(), Code::cancelled);
  EXPECT_EQ(virsh("list", "--all", "--name"), "");

  must(host->remove_network("net"));
  EXPECT_ERROR(host->remove_pool("three"), Code::conflict, "it has 3 volumes");
  for (const Volume& volume : must(host->volumes("three", Refresh::yes))) must(host->remove_volume("three", volume.name));
  must(host->remove_pool("three"));
  EXPECT_FALSE(exists(path));
}

TEST(LibvirtHost, VariablesOfTheFirmwareAreRemoved) {
  const auto host = connect();
  must(host->define_domain(domain_xml("uefi", "", " firmware='efi'")));
  must(host->start_domain("uefi"));
  const std::string variables = "/var/lib/libvirt/qemu/nvram/uefi_VARS.fd";
  EXPECT_TRUE(exists(variables));
  must(host->remove_domain("uefi"));
  EXPECT_FALSE(exists(variables));
  // Also of a machine with a saved state, and of one that ended.
  must(host->define_domain(domain_xml("uefi", "", " firmware='efi'")));
  must(host->start_domain("uefi"));
  virsh("managedsave", "uefi");
  EXPECT_EQ(must(host->find_domain("uefi")).value().reason, "saved");
  must(host->remove_domain("uefi"));
  EXPECT_FALSE(exists(variables));
  EXPECT_EQ(virsh("list", "--all", "--name"), "");
}

// libvirtd closes connections that do not answer for 4 s (test_libvirt.py).
TEST(LibvirtHost, IdleConnectionsRemain) {
  const auto host = connect();
  std::this_thread::sleep_for(Duration(6000));
  EXPECT_TRUE(host->is_open());
  must(host->domains());
}

TEST(LibvirtHost, EndOfAConnection) {
  const std::vector<std::string> others = clients();
  const auto host = connect();
  Watch watch(*host);
  std::vector<std::string> own = clients();
  std::erase_if(own, [&](const std::string& id) { return std::ranges::find(others, id) != others.end(); });
  ASSERT_EQ(own.size(), 1u);
  run({"virt-admin", "client-disconnect", "libvirtd", "--client", own[0]});
  until("the end", [&] { return watch.ended().has_value(); });
  EXPECT_EQ(watch.ended()->code(), Code::unavailable) << watch.ended()->message();
  fmt::print("{}\n", watch.ended()->message());
  until("the end", [&] { return !host->is_open(); });
  EXPECT_ERROR(host->domains(), Code::unavailable, "listing the domains: ");
  must(connect()->domains());
}

}  // namespace

}  // namespace slipway::provider::libvirt
