#include "diagnosis/rules.h"

#include "base/text.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace slipway::diagnosis {
namespace {

using Files = std::map<std::string, std::string>;

constexpr std::string_view image = "registry.slipway.invalid/slipway/release@sha256:cdffe81d05f7133e2867bd52a3683a67";

// A healthy cluster during its installation: one machine waits for its config, a container restarted once, and the second pull of
// an image succeeded.
Files healthy() {
  return {
      {"host/expected.json", R"({"domain":"demo.example.com","apiAddresses":["10.97.77.5"]})"},
      {"host/machines.jsonl",
       R"({"name":"bootstrap","state":"running","address":"10.97.77.10"})"
       "\n"
       R"({"name":"master-0","state":"igniting","address":"10.97.77.11","reason":"waiting for its Ignition config: connection refused"})"
       "\n"},
      {"host/bootstrap.probe.txt",
       "clock 2026-11-22T06:10:00Z\n"
       "name api-int.demo.example.com 10.97.77.5\n"
       "name api.demo.example.com 10.97.77.5\n"
       "reach https://api-int.demo.example.com:22623/healthz 200\n"
       "reach http://10.97.77.1:5000/v2/ 200\n"
       "address 10.97.77.10 eth0\n"
       "address 10.97.77.5 eth0\n"
       "link eth0 02:61:61:4d:4d:0a\n"
       "neighbour 10.97.77.1 02:61:61:4d:4d:01\n"
       "disk / 41 5000000\n"
       "certificate /opt/openshift/tls/root-ca.crt 2026-11-22T06:09:00Z 2036-11-22T06:09:00Z\n"},
      {"host/master-0.probe.txt",
       "clock 2026-11-22T06:10:01Z\n"
       "name api-int.demo.example.com 10.97.77.5\n"
       "name api.demo.example.com 10.97.77.5\n"
       "reach https://api-int.demo.example.com:22623/healthz 200\n"
       "reach https://api-int.demo.example.com:6443/readyz curl: (7) Failed to connect\n"
       "address 10.97.77.11 eth0\n"
       "link eth0 02:61:61:4d:4d:0b\n"
       "neighbour 10.97.77.5 02:61:61:4d:4d:0a\n"},
      {"host/master-0.console.log",
       "INFO     : GET https://10.97.77.5:22623/config/master: attempt #3\n"
       "INFO     : GET error: dial tcp 10.97.77.5:22623: connect: no route to host\n"
       "INFO     : GET result: Service Unavailable\n"},
      {"bootstrap/journals/kubelet.log",
       "kubelet: PullImage from image service failed: failed to resolve reference \"" + std::string(image) +
           "\": dial tcp 10.97.77.1:5000: connect: connection refused\n"
           "kubelet: failed to pull image " +
           std::string(image) +
           ": not found\n"
           "containerd: PullImage \"" +
           std::string(image) +
           "\" returns image reference \"sha256:00\"\n"
           "kubelet: inotify_add_watch: no space left on device\n"
           "kubelet: CrashLoopBackOff: back-off 10s restarting failed container=etcd pod=etcd-bootstrap_openshift-etcd\n"},
      {"bootstrap/containers/logs/openshift-etcd_etcd-bootstrap_ea79/etcd/1.log", "waits for a disk\n"},
      {"host/network.txt", "2: br0    inet 10.97.77.1/24 scope global br0\n"},
      {"bootstrap/network/netstat.txt",
       "tcp LISTEN 0 128 *:6443 *:* users:((\"hyperkube\",pid=2134,fd=7))\n"
       "tcp LISTEN 0 128 127.0.0.1:2379 0.0.0.0:* users:((\"etcd\",pid=1782,fd=8))\n"
       "tcp ESTAB 0 0 127.0.0.1:45526 127.0.0.1:6443 users:((\"slipway-node\",pid=22,fd=8))\n"},
      {"resources/pods.json",
       R"({"items":[{"metadata":{"namespace":"openshift-dns-operator","name":"dns-operator-x"},"spec":{"nodeName":"master-0"},)"
       R"("status":{"containerStatuses":[{"name":"dns-operator","restartCount":1,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}]})"},
  };
}

std::vector<Finding> found_in(const Files& files) {
  Bundle bundle;
  for (const auto& [path, content] : files) bundle.add(path, content);
  return diagnose(bundle);
}

std::string names(const std::vector<Finding>& findings) {
  std::vector<std::string> all;
  for (const Finding& finding : findings) all.push_back(finding.name);
  return join(all, " ");
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// Makes the bootstrap machine start since the given time and wait for the unit. The probes are of 06:10:00.
void put_start(Files& files, std::string_view unit, std::string_view since = "06:09:00", std::string_view more = {}) {
  files["host/machines.jsonl"] = replaced(files["host/machines.jsonl"], "running", "booting");
  files["host/bootstrap.probe.txt"] += fmt::format("job {} start running\n", unit);
  files["host/events.jsonl"] =
      fmt::format(R"({{"time":"2026-11-22T{}.000Z","source":"slipway","kind":"boot","name":"bootstrap","phase":"started"{}}})",
                  since, more) +
      "\n";
}

// An event of the stage os-image-build, as a line of the bootstrap machine's events.
std::string os_build_event(const std::string& phase, const std::string& code = {}, const std::string& message = {}) {
  JsonObject event = {{"time", "2026-11-22T06:10:00.000Z"},
                      {"source", "bootkube"},
                      {"kind", "stage"},
                      {"name", "os-image-build"},
                      {"phase", phase}};
  if (!code.empty()) event["error"] = {{"code", code}, {"message", message}};
  return emit_json(event, JsonStyle::compact) + "\n";
}

TEST(Rules, StolenTimeDoesNotCountForTheStartTimeout) {
  const struct {
    std::string name, began, stolen_before, stolen;
    bool is_found;
  } rows[] = {
      {"nothing was stolen", "06:09:15", R"(,"stolen_ms":500000)", "stolen 500000\n", true},
      {"not late", "06:09:25", R"(,"stolen_ms":500000)", "stolen 500000\n", false},
      {"half of it was stolen", "06:09:15", R"(,"stolen_ms":500000)", "stolen 522500\n", false},
      {"nine tenths were stolen, and the start is still late", "06:03:00", R"(,"stolen_ms":500000)", "stolen 878000\n", true},
      {"nine tenths were stolen", "06:04:00", R"(,"stolen_ms":500000)", "stolen 824000\n", false},
      {"stolen time is not known", "06:09:15", "", "", true},
      {"only the probe has it", "06:09:15", "", "stolen 522500\n", true},
      {"only the event has it", "06:09:15", R"(,"stolen_ms":500000)", "", true},
  };
  for (const auto& row : rows) {
    Files files = healthy();
    put_start(files, "hangs.service", row.began, row.stolen_before);
    files["host/bootstrap.probe.txt"] += row.stolen;
    EXPECT_EQ(to_text(found_in(files)).starts_with("machine-not-booted"), row.is_found) << row.name;
  }
}

TEST(Rules, AMissingImageExplainsAStartThatDoesNotFinish) {
  for (const std::string_view unit : {"release-image.service", "machine-config-daemon-pull.service"}) {
    Files files = healthy();
    put_start(files, unit);
    EXPECT_TRUE(to_text(found_in(files)).starts_with("machine-not-booted")) << unit;
    files.erase("bootstrap/journals/kubelet.log");  // which says that the image was pulled
    files["bootstrap/journals/release-image.log"] =
        "ctr: failed to resolve reference \"" + std::string(image) + "\": not found\n";
    const std::vector<Finding> found = found_in(files);
    ASSERT_EQ(found.size(), 1u) << to_text(found);
    EXPECT_EQ(found[0].name, "image-missing") << unit;
  }
}

TEST(Rules, ABuildThatSucceedsLaterIsNoFault) {
  Files files = healthy();
  files["bootstrap/services/events.jsonl"] = os_build_event("failed", "unavailable", "i/o timeout") + os_build_event("finished");
  EXPECT_EQ(names(found_in(files)), "");
  files["bootstrap/services/events.jsonl"] = os_build_event("failed", "cancelled", "stopped");
  EXPECT_EQ(names(found_in(files)), "");
}

TEST(Rules, AForeignAddressHidesTheUnreachableConfigServer) {
  Files files = healthy();
  std::string& probe = files["host/master-0.probe.txt"];
  probe = replaced(probe, "22623/healthz 200", "22623/healthz curl: (7) Failed to connect");
  EXPECT_TRUE(to_text(found_in(files)).starts_with("config-server-unreachable"));
  probe = replaced(probe, "neighbour 10.97.77.5 02:61:61:4d:4d:0a", "neighbour 10.97.77.5 92:00:00:00:00:01");
  const std::vector<Finding> found = found_in(files);
  ASSERT_EQ(found.size(), 1u) << to_text(found);
  EXPECT_EQ(found[0].name, "address-in-use");
}

TEST(Probe, MachinesThatMissAReachableServerAreProbedAgain) {
  const std::string address = "address 10.97.77.11 eth0\n";
  const std::string reached = address + "reach https://a:1/x 200\n";
  const std::string missed = address + "reach https://a:1/x curl: (7) Failed to connect\n";
  struct Row {
    std::string_view name;
    std::vector<std::string> outputs;
    std::vector<std::size_t> again;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"no probe has output", {"", ""}, {}},
           {"all reach it", {reached, reached}, {}},
           {"none reaches it", {missed, missed}, {}},
           {"one does not", {missed, reached, missed}, {0, 2}},
           {"any status is an answer", {missed, address + "reach https://a:1/x 503\n"}, {0}},
           {"another server", {missed, address + "reach https://a:2/x 200\n"}, {}},
           {"a port that another machine reaches",
            {address + "port 10.0.0.1:2380 timeout\n", address + "port 10.0.0.1:2380 open\n"},
            {0}},
           {"a machine whose network is still being set up", {reached, "reach https://a:1/x curl: (6) no\n"}, {}},
       }) {
    std::vector<Probe> probes;
    for (const std::string& text : row.outputs) probes.push_back(parse_probe(text, ""));
    EXPECT_EQ(to_ask_again(probes), row.again) << row.name;
  }
}

TEST(Rules, AHealthyClusterHasNoFinding) {
  EXPECT_EQ(to_text(found_in(healthy())), "");
  EXPECT_EQ(to_text(found_in({})), "");
  // The bundle of a bootstrap machine that has only just started.
  EXPECT_EQ(to_text(found_in({{"bootstrap/journals/bootkube.log", "started\n"}, {"resources/pods.json", "{}"}})), "");
}

struct Case {
  std::string name;              // of the finding
  void (*change)(Files& files);  // adds the fault to the healthy cluster
  bool is_final;
  std::vector<std::string> words;  // in cause, evidence and next step
};

const std::vector<Case>& cases() {
  static const std::vector<Case> rows = {
      {"machine-reports",
       [](Files& f) {
         f["host/master-0.console.log"] +=
             "slipway: first boot failed: ignition-files.service\nslipway: CRITICAL : failed to create users\nslipway: correct "
             "the "
             "config, then start again from a new disk\n";
       },
       true,
       {"master-0: its first boot failed: slipway: first boot failed: ignition-files.service", "failed to create users",
        "create the machine again"}},
      {"machine-reports",
       [](Files& f) {
         f["host/master-0.console.log"] +=
             "slipway: no network interface has got an address within 60 s\nmaster-0 login: \n[  12.3] slipway: waiting for the "
             "config of the first boot: GET https://192.0.2.5:22623/config/master: attempt #4: EOF\n";
       },
       false,
       {"master-0: it gets no Ignition config", "attempt #4: EOF", "until the server answers"}},
      {"disk-full",
       [](Files& f) {
         f["host/bootstrap.probe.txt"] =
             replaced(f["host/bootstrap.probe.txt"], "disk / 41 5000000", "disk /var/lib/containerd 100 0");
         f["bootstrap/journals/containerd.log"] = "write /var/lib/containerd/x: no space left on device\n";
       },
       true,
       {"/var/lib/containerd of bootstrap is full: 0 B free", "bootstrap.probe.txt", "containerd.log", "free disk space"}},
      {"disk-full",
       [](Files& f) { f["bootstrap/journals/etcd.log"] = "etcd: write wal: no space left on device\n"; },
       false,
       {"a disk of bootstrap was full"}},
      {"assets-expired",
       [](Files& f) {
         f["host/bootstrap.probe.txt"] =
             replaced(f["host/bootstrap.probe.txt"], "06:09:00Z 2036-11-22T06:09:00Z", "05:09:00Z 2026-11-22T05:10:00Z");
       },
       true,
       {"root-ca.crt", "valid until 2026-11-22T05:10:00Z", "the time is 2026-11-22T06:10:00Z"}},
      {"clock-wrong",
       [](Files& f) {
         f["host/bootstrap.probe.txt"] =
             replaced(f["host/bootstrap.probe.txt"], "2026-11-22T06:09:00Z 2036", "2026-11-22T09:09:00Z 2036");
       },
       true,
       {"is ahead of the clock of", "2026-11-22T09:09:00Z"}},
      {"address-in-use",
       [](Files& f) {
         f["host/master-0.probe.txt"] = replaced(f["host/master-0.probe.txt"], "neighbour 10.97.77.5 02:61:61:4d:4d:0a",
                                                 "neighbour 10.97.77.5 92:00:00:00:00:01");
       },
       true,
       {"10.97.77.5", "92:00:00:00:00:01", "platform.local.apiVIPs"}},
      {"address-in-use",
       [](Files& f) {
         f["host/network.txt"] = "1: lo inet 127.0.0.1/8 scope host lo\n2: br0    inet 10.97.77.5/32 scope global br0\n";
       },
       true,
       {"the host side of the cluster network has 10.97.77.5", "network.txt:2"}},
      {"inotify-exhausted",
       [](Files& f) {
         f["control-plane/master-0/journals/containerd.log"] =
             "msg=\"Start recovering state\"\nmsg=\"failed to load plugin\" error=\"failed to create CRI service: failed to "
             "create cni "
             "conf monitor for default: failed to create fsnotify watcher: too many open files\"\n";
       },
       false,
       {"master-0 cannot run containers", "containerd.log:2", "fs.inotify.max_user_instances=1024"}},
      {"port-taken",
       [](Files& f) {
         f["bootstrap/network/netstat.txt"] = "tcp LISTEN 0 5 0.0.0.0:2379 0.0.0.0:* users:((\"python3\",pid=99,fd=3))\n";
         f["bootstrap/containers/logs/openshift-etcd_etcd-bootstrap_ea79/etcd/1.log"] =
             "listen tcp 127.0.0.1:2379: bind: address already in use\n";
       },
       true,
       {"port 2379 of bootstrap", "etcd", "python3", "address already in use"}},
      {"image-missing",
       [](Files& f) {
         f["bootstrap/journals/kubelet.log"] = "kubelet: \"Failed to pull image\" err=\"failed to resolve reference \\\"" +
                                               std::string(image) + "\\\": not found\"\n";
         f["rendered-assets/openshift/image-references"] =
             R"({"spec":{"tags":[{"name":"keepalived-ipfailover","from":{"name":"x@sha256:cdffe81d05f7133e2867bd52a3683a67"}}]}})";
       },
       true,
       {"keepalived-ipfailover", std::string(image), "kubelet.log:1", "slipway release mirror"}},
      {"digest-mismatch",
       [](Files& f) {
         f["bootstrap/journals/release-image.log"] =
             "ctr: failed to pull and unpack image \"" + std::string(image) +
             "\": unexpected commit digest sha256:11, expected sha256:22: failed precondition\n";
         f.erase("bootstrap/journals/kubelet.log");
       },
       true,
       {std::string(image), "does not match its digest", "release-image"}},
      {"registry-unreachable",
       [](Files& f) {
         f["host/bootstrap.probe.txt"] =
             replaced(f["host/bootstrap.probe.txt"], "/v2/ 200", "/v2/ curl: (28) Connection timed out after 4001 milliseconds");
       },
       false,
       {"bootstrap cannot reach registry http://10.97.77.1:5000/v2/", "Connection timed out"}},
      {"ignition-refused",
       [](Files& f) {
         f["host/machines.jsonl"] = replaced(f["host/machines.jsonl"], "igniting", "ignition-failed");
         f["host/master-0.console.log"] +=
             "INFO     : GET result: Forbidden\nCRITICAL : Ignition failed: failed to fetch config\n";
       },
       true,
       {"master-0", "permanently refused the Ignition config of master-0: 403 Forbidden", "token"}},
      {"ignition-config-invalid",
       [](Files& f) {
         f["host/machines.jsonl"] =
             replaced(f["host/machines.jsonl"],
                      "igniting\",\"address\":\"10.97.77.11\",\"reason\":\"waiting for its Ignition config: connection refused",
                      "ignition-failed\",\"address\":\"10.97.77.11\",\"reason\":\"Ignition failed: hash verification failed");
         f["host/master-0.console.log"] += "INFO     : GET result: OK\n";
       },
       true,
       {"master-0 cannot apply its Ignition config", "hash verification failed"}},
      {"machine-not-booted",
       [](Files& f) {
         f["host/machines.jsonl"] =
             replaced(f["host/machines.jsonl"],
                      "igniting\",\"address\":\"10.97.77.11\",\"reason\":\"waiting for its Ignition config: connection refused",
                      "failed\",\"address\":\"10.97.77.11\",\"reason\":\"init ended with status 1");
         f["host/master-0.console.log"] += "Failed to mount API filesystems.\nFreezing execution.\n";
       },
       true,
       {"master-0 does not boot: init ended with status 1", "console.log:5: Freezing execution"}},
      {"disk-full",
       [](Files& f) {
         f["host/bootstrap.probe.txt"] += "disk /var/lib/etcd 1 8176\ndisk /dev 0 0\n";
         f["bootstrap/containers/logs/openshift-etcd_etcd-bootstrap_ea79/etcd/1.log"] =
             "etcd: preallocate: no space left on device\n";
       },
       true,
       {"/var/lib/etcd of bootstrap is full: 8.4 MB free"}},
      {"clock-wrong",
       [](Files& f) {
         f["bootstrap/journals/bootkube.log"] =
             "warning: a.yaml is refused: GET /apis: the server's certificate is not trusted: certificate is not yet valid\n";
       },
       true,
       {"bootkube.log:1", "a clock is wrong"}},
      {"machine-not-booted",
       [](Files& f) {
         put_start(f, "hangs.service");
         f["host/bootstrap.probe.txt"] += "job multi-user.target start waiting\n";
       },
       false,
       {"bootstrap has been starting for 1 min 0 s", "hangs.service"}},
      {"dns-wrong",
       [](Files& f) {
         f["host/master-0.probe.txt"] = replaced(f["host/master-0.probe.txt"], "api-int.demo.example.com 10.97.77.5",
                                                 "api-int.demo.example.com 10.97.77.99");
       },
       false,
       {"on master-0, api-int.demo.example.com resolves to 10.97.77.99", "10.97.77.5", "master-0.probe.txt:2"}},
      {"dns-wrong",
       [](Files& f) {
         f["host/master-0.probe.txt"] =
             replaced(f["host/master-0.probe.txt"], "name api.demo.example.com 10.97.77.5", "name api.demo.example.com");
       },
       false,
       {"on master-0, api.demo.example.com resolves to no address"}},
      {"config-server-unreachable",
       [](Files& f) {
         f["host/master-0.probe.txt"] =
             replaced(f["host/master-0.probe.txt"], "22623/healthz 200", "22623/healthz curl: (28) Connection timed out");
       },
       false,
       {"master-0 cannot reach the machine-config-server", "bootstrap can", "Connection timed out"}},
      {"os-image-build-failed",
       [](Files& f) {
         f["bootstrap/services/events.jsonl"] =
             os_build_event("started") +
             os_build_event("failed", "invalid",
                            "OS image r.example.com/os:1: line 2 of the Containerfile (RUN false): exit status 1") +
             os_build_event("started");
         f["bootstrap/os-images/master/build.log"] =
             "STEP 2/2: RUN false\nError: building at STEP \"RUN false\": while running runtime: exit status 1\n";
       },
       true,
       {"line 2 of the Containerfile (RUN false): exit status 1", "build.log:2: Error: building at STEP", "events.jsonl:2",
        "correct the Containerfile"}},
      {"os-image-build-failed",
       [](Files& f) { f["bootstrap/services/events.jsonl"] = os_build_event("failed", "denied", "pushing to r.example.com/os"); },
       true,
       {"pushing to r.example.com/os", "renderedImagePushSecret"}},
      {"os-image-build-failed",
       [](Files& f) { f["bootstrap/services/events.jsonl"] = os_build_event("failed", "conflict", "file system /var has 1 GB"); },
       true,
       {"disk space or memory"}},
      {"os-image-build-failed",
       [](Files& f) { f["bootstrap/services/events.jsonl"] = os_build_event("failed", "unavailable", "i/o timeout"); },
       false,
       {"i/o timeout", "slipway retries"}},
      {"manifest-refused",
       [](Files& f) {
         f["bootstrap/journals/bootkube.log"] =
             "Nov 22 06:36 bootstrap bootkube.sh[7]: cb-bootstrap: warning: 99_user.yaml is refused: ConfigMap \"A_B\" is "
             "invalid: "
             "metadata.name\n";
       },
       true,
       {"the API rejects manifest 99_user.yaml", "ConfigMap \"A_B\" is invalid", "correct 99_user.yaml"}},
      {"manifest-refused",
       [](Files& f) {
         f["bootstrap/journals/bootkube.log"] =
             "bootkube.sh[7]: warning: 99_user.yaml waits: the server does not know Nothing of example.com/v1\n";
       },
       false,
       {"the API does not accept manifest 99_user.yaml", "does not know Nothing"}},
      {"operator-crashes",
       [](Files& f) {
         f["resources/pods.json"] = replaced(f["resources/pods.json"], "\"restartCount\":1", "\"restartCount\":4");
         f["control-plane/master-0/containers/logs/openshift-dns-operator_dns-operator-x_1/dns-operator/3.log"] =
             "one\nfatal: no such setting\n";
         f["control-plane/master-0/containers/logs/openshift-dns-operator_dns-operator-x_1/dns-operator/2.log"] = "older\n";
       },
       false,
       {"openshift-dns-operator/dns-operator-x", "4 restarts", "dns-operator/3.log:2: fatal: no such setting",
        "kubectl logs --previous"}},
      {"operator-crashes",
       [](Files& f) { f["bootstrap/containers/logs/openshift-etcd_etcd-bootstrap_ea79/etcd/3.log"] = "panic: no data\n"; },
       false,
       {"container etcd of pod openshift-etcd/etcd-bootstrap on bootstrap", "panic: no data"}},
  };
  return rows;
}

TEST(Rules, FindExactlyTheFaultWithEvidence) {
  for (const Case& row : cases()) {
    Files files = healthy();
    row.change(files);
    const std::vector<Finding> findings = found_in(files);
    ASSERT_EQ(names(findings), row.name) << to_text(findings);
    EXPECT_EQ(findings[0].is_final, row.is_final) << row.name;
    EXPECT_FALSE(findings[0].stage.empty()) << row.name;
    EXPECT_FALSE(findings[0].evidence.empty()) << row.name;
    for (const std::string& word : row.words) {
      EXPECT_NE(to_text(findings).find(word), std::string::npos) << row.name << ": " << word << "\n" << to_text(findings);
    }
  }
}

TEST(Rules, EachHasACase) {
  std::set<std::string_view> tried;
  for (const Case& row : cases()) tried.insert(row.name);
  for (const Rule& rule : rules()) EXPECT_TRUE(tried.contains(rule.name)) << rule.name;
  EXPECT_EQ(tried.size(), rules().size());
}

TEST(Rules, FinalFindingsComeFirst) {
  Files files = healthy();
  files["host/master-0.probe.txt"] =
      replaced(files["host/master-0.probe.txt"], "api-int.demo.example.com 10.97.77.5", "api-int.demo.example.com 10.9.9.9");
  files["bootstrap/journals/bootkube.log"] = "x.yaml is refused: no\n";
  EXPECT_EQ(names(found_in(files)), "manifest-refused dns-wrong");
}

TEST(Rules, AMachineThatJustStartedIsNotLate) {
  Files files = healthy();
  put_start(files, "bootkube.service", "06:09:30");
  EXPECT_EQ(names(found_in(files)), "");
}

// A machine without a probe could have the address.
TEST(Rules, AnAddressIsForeignOnlyIfAllMachinesHaveProbes) {
  Files files = healthy();
  files["host/master-0.probe.txt"] = replaced(files["host/master-0.probe.txt"], "02:61:61:4d:4d:0a", "92:00:00:00:00:01");
  files.erase("host/bootstrap.probe.txt");
  EXPECT_EQ(names(found_in(files)), "");
}

// Neighbour tables of the other machines still contain it.
TEST(Rules, ARemovedMachineIsNotForeign) {
  Files files = healthy();
  files["host/machines.jsonl"] = R"({"name":"master-0","state":"running","address":"10.97.77.11"})"
                                 "\n";
  files.erase("host/bootstrap.probe.txt");
  EXPECT_EQ(names(found_in(files)), "");
}

// The firmware sets up the network of a machine again when the machine boots.
TEST(Rules, AMachineWithoutAnAddressProvesNothing) {
  Files files = healthy();
  files["host/bootstrap.probe.txt"] =
      "clock 2026-11-22T06:10:00Z\n"
      "name api-int.demo.example.com\n"
      "reach http://10.97.77.1:5000/v2/ curl: (7) Failed to connect to 10.97.77.1 port 5000 after 0 ms\n"
      "link eth0 02:61:61:4d:4d:0a\n";
  EXPECT_EQ(names(found_in(files)), "");
}

// If no machine reaches the server, it may not have started yet.
TEST(Rules, AConfigServerIsUnreachableOnlyIfAnotherMachineReachesIt) {
  Files files = healthy();
  for (const char* path : {"host/master-0.probe.txt", "host/bootstrap.probe.txt"}) {
    files[path] = replaced(files[path], "22623/healthz 200", "22623/healthz curl: (7) refused");
  }
  EXPECT_EQ(names(found_in(files)), "");
}

}  // namespace
}  // namespace slipway::diagnosis
