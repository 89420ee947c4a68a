#include "components/etcd/backups.h"

#include "base/yaml.h"
#include "kube/conditions.h"

#include <gtest/gtest.h>

namespace slipway::components::etcd {
namespace {

const WallTime now = parse_rfc3339("2026-11-27T12:00:00Z").value();
constexpr const char* key = "age1s9marweutrjcagu829q9htzn5ml5fltqz0e065wyrr0tcu85tuuqe5t6r9";

class BackupsTest : public testing::Test {
 protected:
  void put(const std::string& yaml) { view.put(parse_yaml(yaml, "test").value().value); }

  void put_backup(const std::string& name, const std::string& etcd, const std::string& annotations = "{}") {
    put(
        fmt::format("{{apiVersion: config.openshift.io/v1alpha1, kind: Backup, metadata: {{name: {}, annotations: {}}}, "
                    "spec: {{etcd: {}}}}}",
                    name, annotations, etcd));
  }

  // A Job that ended at this time, and its pod.
  void put_job(const std::string& name, const std::string& labels, const std::string& type, const std::string& time,
               const std::string& message) {
    put(
        fmt::format("{{apiVersion: batch/v1, kind: Job, metadata: {{name: {}, namespace: openshift-etcd, labels: {}}}, "
                    "spec: {{template: {{spec: {{nodeName: master-0}}}}}}, "
                    "status: {{conditions: [{{type: {}, status: 'True', lastTransitionTime: '{}', message: backoff}}]}}}}",
                    name, labels, type, time));
    Json pod = parse_yaml(fmt::format("{{apiVersion: v1, kind: Pod, metadata: {{name: {}-x, namespace: openshift-etcd, "
                                      "creationTimestamp: '{}', labels: {{batch.kubernetes.io/job-name: {}}}}}}}",
                                      name, time, name),
                          "test")
                   .value()
                   .value;
    pod.as_object()["status"] = {{"containerStatuses", JsonArray{{{"state", {{"terminated", {{"message", message}}}}}}}}};
    view.put(std::move(pod));
  }

  Target plan() {
    Target target;
    const Snapshot seen = view.snapshot();
    add_backups("r/etcd@sha256:1", cluster, seen, now, target);
    return target;
  }

  static std::vector<std::string> names(const Target& target, const kube::ResourceType& type, DesiredObject::How how) {
    std::vector<std::string> found;
    for (const DesiredObject& it : target.plan.desired_objects) {
      if (it.type == type && it.how == how) found.emplace_back(kube::name_of(it.object));
    }
    return found;
  }

  static Condition condition(const Target& target) {
    for (const Condition& it : target.conditions) {
      if (it.type == "BackupControllerDegraded") return it;
    }
    return {};
  }

  void put_members() {
    Facts facts;
    for (const Master& master : cluster.masters) {
      facts.members.push_back({.member = {.id = 1, .name = master.node, .peer_urls = {peer_url(master.address)}},
                               .is_healthy = master.node != "master-0"});
    }
    view.put(facts_object(facts));
  }

  View view;
  Cluster cluster{.masters = {{"master-0", "10.0.0.11"}, {"master-1", "10.0.0.12"}}};
};

using How = DesiredObject::How;
using Names = std::vector<std::string>;

TEST_F(BackupsTest, EachMasterHasACronJob) {
  put_backup("default",
             "{schedule: '0 3 * * *', retentionPolicy: {retentionType: RetentionNumber, "
             "retentionNumber: {maxNumberOfBackups: 4}}}",
             fmt::format("{{slipway.internal/encrypt-to: '{}, {}'}}", key, key));
  const Target target = plan();
  EXPECT_EQ(names(target, kube::types::cron_jobs, How::apply),
            (Names{"etcd-backup-default-master-0", "etcd-backup-default-master-1"}));
  EXPECT_FALSE(condition(target).is_true) << condition(target).message;
  const Json& object = target.plan.desired_objects.front().object;
  EXPECT_EQ(text_of(object, {"spec", "schedule"}), "0 3 * * *");
  EXPECT_EQ(text_of(object, {"spec", "timeZone"}), "UTC");
  EXPECT_EQ(text_of(object, {"spec", "concurrencyPolicy"}), "Forbid");
  const Json* pod = find(object, {"spec", "jobTemplate", "spec", "template", "spec"});
  ASSERT_TRUE(pod);
  EXPECT_EQ(text_of(*pod, {"nodeName"}), "master-0");
  EXPECT_EQ(find(*pod, {"automountServiceAccountToken"})->as_bool(), false);
  const Json& container = find_array(*pod, {"containers"}).at(0);
  EXPECT_EQ(texts_of(container, {"command"}),
            (Names{"cluster-etcd-operator", "backup", "--folder=/var/lib/etcd-auto-backup/default", "--keep-number=4",
                   "--result=/dev/termination-log", fmt::format("--encrypt-to={}", key), fmt::format("--encrypt-to={}", key)}));
}

TEST_F(BackupsTest, OrdersThatCannotBeFollowedAreNamed) {
  struct Case {
    const char *name, *etcd, *annotations, *message;
  };
  for (const Case& c : std::vector<Case>{{"a", "{schedule: '@daily', pvcName: claim}", "{}",
                                          "Backup a: spec.etcd.pvcName: 'claim': backups are files on the masters"},
                                         {"a", "{schedule: '@daily'}", "{slipway.internal/encrypt-to: ssh-rsa}",
                                          "annotation slipway.internal/encrypt-to: 'ssh-rsa': not a public key of age"},
                                         {"requested", "{schedule: '@daily'}", "{}", "metadata.name: 'requested'"}}) {
    put_backup(c.name, c.etcd, c.annotations);
    const Target target = plan();
    EXPECT_TRUE(condition(target).is_true);
    EXPECT_NE(condition(target).message.find(c.message), std::string::npos) << condition(target).message;
    EXPECT_EQ(names(target, kube::types::cron_jobs, How::apply), Names());
    view.remove(kube::types::backups, "", c.name);
  }
}

TEST_F(BackupsTest, RetentionIsANumberOrASize) {
  struct Case {
    const char *policy, *flag;
  };
  for (const Case& c :
       std::vector<Case>{{"{}", "--keep-number=15"},
                         {"{retentionType: RetentionNumber}", "--keep-number=15"},
                         {"{retentionType: RetentionSize, retentionSize: {maxSizeOfBackupsGb: 2}}", "--keep-bytes=2147483648"},
                         {"{retentionType: RetentionSize}", "--keep-bytes=10737418240"}}) {
    put_backup("default", fmt::format("{{schedule: '@daily', retentionPolicy: {}}}", c.policy));
    const std::string text = emit_json(plan().plan.desired_objects.front().object, JsonStyle::compact);
    EXPECT_NE(text.find(c.flag), std::string::npos) << c.policy;
  }
}

TEST_F(BackupsTest, CronJobsWithoutOrderAreRemoved) {
  for (const char* name : {"etcd-backup-default-master-1", "etcd-backup-default-master-2", "etcd-backup-old-master-0"}) {
    put(
        fmt::format("{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: {}, namespace: openshift-etcd, "
                    "labels: {{slipway.internal/backup: x}}}}}}",
                    name));
  }
  put("{apiVersion: batch/v1, kind: CronJob, metadata: {name: of-a-user, namespace: openshift-etcd}}");
  put_backup("default", "{schedule: '@daily'}");
  EXPECT_EQ(names(plan(), kube::types::cron_jobs, How::remove),
            (Names{"etcd-backup-default-master-2", "etcd-backup-old-master-0"}));
  put_backup("default", "{schedule: ''}");
  EXPECT_EQ(names(plan(), kube::types::cron_jobs, How::remove).size(), 3u) << "no schedule: no backups";
}

TEST_F(BackupsTest, TheLastJobOfAMasterCounts) {
  put_backup("default", "{schedule: '@daily'}");
  const std::string labels = "{slipway.internal/backup: default, slipway.internal/backup-node: master-0}";
  put_job("one", labels, "Complete", "2026-11-27T03:00:00Z", R"({"id":"2026-11-27_030000","revision":"42","keys":"7"})");
  Target target = plan();
  EXPECT_FALSE(condition(target).is_true) << condition(target).message;
  EXPECT_EQ(names(target, kube::types::config_maps, How::apply), Names{"recent-backup"});
  const Json& record = target.plan.desired_objects.back().object;
  EXPECT_EQ(text_of(record, {"data", "completed"}), "2026-11-27T03:00:00Z");
  EXPECT_EQ(text_of(record, {"data", "revision"}), "42");
  view.put(record);
  EXPECT_EQ(names(plan(), kube::types::config_maps, How::apply), Names()) << "recorded already";
  put_job("two", labels, "Failed", "2026-11-27T04:00:00Z",
          "time=... level=info\n/var/lib/etcd-auto-backup/default on master-0: no space\n");
  target = plan();
  EXPECT_TRUE(condition(target).is_true);
  EXPECT_EQ(condition(target).message,
            "Backup default: the last backup on master-0 failed: /var/lib/etcd-auto-backup/default on master-0: no space");
  put_job("three", labels, "Complete", "2026-11-27T05:00:00Z", R"({"id":"x","revision":"43","keys":"7"})");
  EXPECT_FALSE(condition(plan()).is_true);
}

TEST_F(BackupsTest, AnEtcdBackupHasOneJobAndAResult) {
  put("{apiVersion: operator.openshift.io/v1alpha1, kind: EtcdBackup, metadata: {name: before-change}, spec: {pvcName: ''}}");
  const auto state = [&](std::string_view type) {
    for (const DesiredObject& it : plan().plan.desired_objects) {
      if (it.type == kube::types::etcd_backups) return std::string(kube::condition_text(it.object, type, "message"));
    }
    return std::string("no status");
  };
  EXPECT_EQ(state("BackupPending"), "no master has a healthy member of etcd");
  put_members();
  const Target target = plan();
  ASSERT_EQ(names(target, kube::types::jobs, How::create), Names{"etcd-backup-requested-before-change"});
  EXPECT_EQ(text_of(target.plan.desired_objects.back().object, {"spec", "template", "spec", "nodeName"}), "master-1")
      << "the member of master-0 is not healthy";
  const std::string labels = "{slipway.internal/etcd-backup: before-change, slipway.internal/backup-node: master-0}";
  put_job("etcd-backup-requested-before-change", labels, "Suspended", "2026-11-27T05:00:00Z", "");
  EXPECT_EQ(state("BackupPending"), "Job etcd-backup-requested-before-change runs on master-0");
  put_job("etcd-backup-requested-before-change", labels, "Failed", "2026-11-27T05:00:00Z", "etcd does not run");
  EXPECT_EQ(state("BackupFailed"), "on master-0: etcd does not run");
  put_job("etcd-backup-requested-before-change", labels, "Complete", "2026-11-27T05:00:00Z", R"({"id":"2026-11-27_050000"})");
  EXPECT_EQ(state("BackupCompleted"), "/var/lib/etcd-auto-backup/requested/2026-11-27_050000 on master-0");
}

TEST(BackupJobName, FitsKubernetes) {
  EXPECT_EQ(backup_job_name("default", "master-0"), "etcd-backup-default-master-0");
  const std::string first = backup_job_name("default", "master-0.an-extraordinarily-long-domain.example.com"),
                    second = backup_job_name("default", "master-1.an-extraordinarily-long-domain.example.com");
  EXPECT_LE(first.size(), 52u);
  EXPECT_NE(first, second);
  EXPECT_EQ(first.find('.'), std::string::npos);
}

}  // namespace
}  // namespace slipway::components::etcd
