#include "components/etcd/backups.h"

#include "base/digest.h"
#include "base/text.h"
#include "components/controller/certificate_rotation.h"
#include "components/controller/operand.h"
#include "components/render/document.h"
#include "components/render/manifest.h"
#include "kube/conditions.h"
#include "net/age.h"

#include <algorithm>
#include <chrono>
#include <optional>

namespace slipway::components::etcd {

namespace {

constexpr std::string_view record_name = "recent-backup";
constexpr std::string_view requested_folder = "requested";
constexpr std::int64_t usual_count = 15;  // of OpenShift
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
constexpr std::size_t longest_name = 52;
constexpr std::int64_t start_limit_seconds = 3600;  // a run that was missed is made up for an hour
constexpr std::string_view unsupported_claim =
    "backups are files on the masters, because the release has no storage for the control plane (leave it empty)";

// An order of backups that can be followed.
struct Order {
  std::string folder;
  std::string retention;  // "--keep-number=15"
  std::vector<std::string> recipients{};
};

// The problems of an object, each with its field; empty: `order` is complete.
std::vector<std::string> read_recipients(const Json& object, Order& order) {
  std::vector<std::string> problems;
  const std::string text = text_of(object, {"metadata", "annotations", encrypt_to_annotation});
  for (const std::string_view word : split(text, ',')) {
    const std::string_view recipient = trim(word);
    if (recipient.empty()) continue;
    if (const Result<> checked = net::check_age_recipient(recipient); !checked.ok())
      problems.push_back(fmt::format("annotation {}: {}", encrypt_to_annotation, checked.error().message()));
    order.recipients.emplace_back(recipient);
  }
  return problems;
}

std::int64_t integer_at(const Json& object, std::initializer_list<std::string_view> path, std::int64_t fallback) {
  const Json* value = find(object, path);
  return value && value->is_int64() ? value->get_int64() : fallback;
}

std::vector<std::string> read_backup(const Json& object, Order& order) {
  std::vector<std::string> problems = read_recipients(object, order);
  if (const std::string claim = text_of(object, {"spec", "etcd", "pvcName"}); !claim.empty())
    problems.push_back(fmt::format("spec.etcd.pvcName: '{}': {}", claim, unsupported_claim));
  order.folder = fmt::format("{}/{}", backups_folder, kube::name_of(object));
  if (kube::name_of(object) == requested_folder)
    problems.push_back(fmt::format("metadata.name: '{}' is the folder of EtcdBackups (use another name)", requested_folder));
  if (text_of(object, {"spec", "etcd", "retentionPolicy", "retentionType"}) == "RetentionSize") {
    const std::int64_t size = integer_at(object, {"spec", "etcd", "retentionPolicy", "retentionSize", "maxSizeOfBackupsGb"}, 10);
    order.retention = fmt::format("--keep-bytes={}", size * gibibyte);
  } else {
    const std::int64_t count =
        integer_at(object, {"spec", "etcd", "retentionPolicy", "retentionNumber", "maxNumberOfBackups"}, usual_count);
    order.retention = fmt::format("--keep-number={}", count);
  }
  return problems;
}

// A name as the value of a label, which has at most 63 characters.
std::string short_label(std::string_view name) {
  constexpr std::size_t longest = 63;
  return name.size() <= longest ? std::string(name) : sha256_hex(name).substr(0, longest);
}

JsonObject labels_of(std::string_view label, std::string_view order, std::string_view node) {
  return {{label, short_label(order)}, {backup_node_label, short_label(node)}};
}

Result<Json> job_spec(const std::string& image, const Order& order, const std::string& node, const JsonObject& labels) {
  std::vector<std::string> command = {"cluster-etcd-operator", "backup", "--folder=" + order.folder, order.retention,
                                      "--result=/dev/termination-log"};
  for (const std::string& recipient : order.recipients) command.push_back("--encrypt-to=" + recipient);
  const std::string certificates = fmt::format("{}/etcd-certs/secrets/etcd-all-certs/etcd-peer-{}", static_pod_resources, node);
  return fill_document("etcd/backup-job.yaml", {{"IMAGE", quoted(image)},
                                                {"NODE", quoted(node)},
                                                {"LABELS", emit_json(labels, JsonStyle::compact)},
                                                {"COMMAND", emit_json(texts(command), JsonStyle::compact)},
                                                {"CERTIFICATE", quoted(certificates + ".crt")},
                                                {"KEY", quoted(certificates + ".key")}});
}

std::string describe(std::string_view kind, const Json& object, const std::vector<std::string>& problems) {
  return fmt::format("{} {}: {}", kind, kube::name_of(object), join(problems, ", "));
}

// The end of a Job: when, and whether it completed. Nothing while it runs.
struct JobEnd {
  bool is_complete = false;
  std::string time{};  // RFC 3339
  std::string reason{};
};

std::optional<JobEnd> end_of(const Json& job) {
  for (const auto& [type, is_complete] : {std::pair{"Complete", true}, std::pair{"Failed", false}}) {
    if (kube::condition_status(job, type) != "True") continue;
    return JobEnd{.is_complete = is_complete,
                  .time = std::string(kube::condition_text(job, type, "lastTransitionTime")),
                  .reason = std::string(kube::condition_text(job, type, "message"))};
  }
  return {};
}

// What the last pod of a Job left: the record of its backup, or the last lines of its log. Empty if there is none.
std::string last_words(const Json& job, const Snapshot& seen) {
  std::string words, created;
  for (const Json* pod : seen.list(kube::types::pods, space)) {
    if (text_of(*pod, {"metadata", "labels", "batch.kubernetes.io/job-name"}) != kube::name_of(job)) continue;
    for (const Json& status : find_array(*pod, {"status", "containerStatuses"})) {
      const std::string message = text_of(status, {"state", "terminated", "message"});
      const std::string since = text_of(*pod, {"metadata", "creationTimestamp"});
      if (message.empty() || since < created) continue;
      words = message;
      created = since;
    }
  }
  return words;
}

// The line that says why a Job failed: the last one of its log that is not blank.
std::string failure_of(const Json& job, const JobEnd& end, const Snapshot& seen) {
  const std::string words = last_words(job, seen);
  std::string_view last = trim(words);
  if (const std::size_t line = last.rfind('\n'); line != std::string_view::npos) last = last.substr(line + 1);
  return last.empty() ? end.reason : std::string(last);
}

// The Jobs of one order, newest end first.
struct EndedJob {
  const Json* job;
  JobEnd end;
};

std::vector<EndedJob> ended_jobs(const Snapshot& seen) {
  std::vector<EndedJob> ended;
  for (const Json* job : seen.list(kube::types::jobs, space)) {
    const bool is_backup = find(*job, {"metadata", "labels", backup_node_label}) != nullptr;
    if (const std::optional<JobEnd> end = end_of(*job); is_backup && end) ended.push_back({job, *end});
  }
  std::ranges::stable_sort(ended, std::ranges::greater(), [](const EndedJob& it) { return it.end.time; });
  return ended;
}

// Jobs of a schedule count with their last end for each master.
void add_failures(const std::vector<const Json*>& orders, const std::vector<EndedJob>& ended, const Cluster& cluster,
                  const Snapshot& seen, std::vector<std::string>& problems) {
  for (const Json* order : orders) {
    for (const Master& master : cluster.masters) {
      const auto last = std::ranges::find_if(ended, [&](const EndedJob& it) {
        return text_of(*it.job, {"metadata", "labels", backup_label}) == short_label(kube::name_of(*order)) &&
               text_of(*it.job, {"metadata", "labels", backup_node_label}) == short_label(master.node);
      });
      if (last == ended.end() || last->end.is_complete) continue;
      problems.push_back(fmt::format("Backup {}: the last backup on {} failed: {}", kube::name_of(*order), master.node,
                                     failure_of(*last->job, last->end, seen)));
    }
  }
}

void add_record(const std::vector<EndedJob>& ended, const Snapshot& seen, Target& target) {
  const auto last = std::ranges::find_if(ended, [](const EndedJob& it) { return it.end.is_complete; });
  if (last == ended.end()) return;
  const std::string completed = last->end.time;
  const std::optional<std::string> known = data_of(seen.find(kube::types::config_maps, space, record_name), "completed");
  if (known && *known >= completed) return;
  const Result<Json> words = parse_json(last_words(*last->job, seen), "termination message");
  if (!words.ok()) return;
  Json object =
      config_map(object_name(space, record_name), {{"completed", completed},
                                                   {"master", text_of(*last->job, {"spec", "template", "spec", "nodeName"})},
                                                   {"revision", text_of(words.value(), {"revision"})},
                                                   {"keys", text_of(words.value(), {"keys"})}});
  target.plan.desired_objects.push_back({kube::types::config_maps, std::move(object)});
}

Json cron_job(const Json& backup, const std::string& name, const JsonObject& labels, Json spec) {
  const std::string zone = text_of(backup, {"spec", "etcd", "timeZone"});
  JsonObject cron = {{"schedule", text_of(backup, {"spec", "etcd", "schedule"})},
                     {"timeZone", zone.empty() ? "UTC" : zone},
                     {"concurrencyPolicy", "Forbid"},
                     {"startingDeadlineSeconds", start_limit_seconds},
                     {"successfulJobsHistoryLimit", 1},
                     {"failedJobsHistoryLimit", 1},
                     {"jobTemplate", {{"metadata", {{"labels", labels}}}, {"spec", std::move(spec)}}}};
  return {{"apiVersion", "batch/v1"},
          {"kind", "CronJob"},
          {"metadata", {{"name", name}, {"namespace", space}, {"labels", labels}}},
          {"spec", std::move(cron)}};
}

void set_condition(const Json& backup, const Condition& condition, const Json& job_reference, WallTime now, Target& target) {
  std::vector<Condition> conditions = {condition};
  if (condition.type != "BackupPending") conditions.push_back({"BackupPending", false, condition.reason, "the backup has ended"});
  Json next = with_conditions(backup, conditions, now);
  if (!job_reference.is_null()) next.as_object()["status"].as_object()["backupJob"] = job_reference;
  target.plan.desired_objects.push_back({kube::types::etcd_backups, std::move(next), DesiredObject::How::status});
}

bool is_finished(const Json& backup) {
  return kube::condition_status(backup, "BackupCompleted") == "True" || kube::condition_status(backup, "BackupFailed") == "True";
}

// The master that takes one-time backups: the first whose member works.
const Master* choose_master(const Cluster& cluster, const Snapshot& seen) {
  const std::optional<Facts> facts = find_facts(seen);
  for (const Master& master : cluster.masters) {
    const bool works = facts && std::ranges::any_of(facts->members, [&](const ObservedMember& it) {
                         return host_of(it.member) == master.address && it.is_voter() && it.is_healthy;
                       });
    if (works) return &master;
  }
  return nullptr;
}

void follow_job(const Json& backup, const Json& job, const Snapshot& seen, WallTime now, Target& target) {
  const Json reference = {{"namespace", space}, {"name", kube::name_of(job)}};
  const std::optional<JobEnd> end = end_of(job);
  const std::string node = text_of(job, {"spec", "template", "spec", "nodeName"});
  if (!end) {
    set_condition(backup, {"BackupPending", true, "BackupPending", fmt::format("Job {} runs on {}", kube::name_of(job), node)},
                  reference, now, target);
  } else if (end->is_complete) {
    const Result<Json> record = parse_json(last_words(job, seen), "termination message");
    const std::string id = record.ok() ? text_of(record.value(), {"id"}) : "";
    set_condition(backup,
                  {"BackupCompleted", true, "BackupCompleted",
                   fmt::format("{}/{}/{} on {}", backups_folder, requested_folder, id.empty() ? "..." : id, node)},
                  reference, now, target);
  } else {
    set_condition(backup, {"BackupFailed", true, "BackupFailed", fmt::format("on {}: {}", node, failure_of(job, *end, seen))},
                  reference, now, target);
  }
}

void add_requested(const std::string& image, const Cluster& cluster, const Snapshot& seen, WallTime now, Target& target) {
  for (const Json* backup : seen.list(kube::types::etcd_backups)) {
    if (is_finished(*backup)) continue;
    const std::string name = backup_job_name(fmt::format("{}-{}", requested_folder, kube::name_of(*backup)), "");
    if (const Json* job = seen.find(kube::types::jobs, space, name)) {
      follow_job(*backup, *job, seen, now, target);
      continue;
    }
    Order order{.folder = fmt::format("{}/{}", backups_folder, requested_folder),
                .retention = fmt::format("--keep-number={}", usual_count)};
    std::vector<std::string> problems = read_recipients(*backup, order);
    if (const std::string claim = text_of(*backup, {"spec", "pvcName"}); !claim.empty())
      problems.push_back(fmt::format("spec.pvcName: '{}': {}", claim, unsupported_claim));
    if (!problems.empty()) {
      set_condition(*backup, {"BackupFailed", true, "BackupFailed", join(problems, ", ")}, {}, now, target);
      continue;
    }
    const Master* master = choose_master(cluster, seen);
    if (!master) {
      set_condition(*backup, {"BackupPending", true, "BackupPending", "no master has a healthy member of etcd"}, {}, now, target);
      continue;
    }
    const JsonObject labels = labels_of(etcd_backup_label, kube::name_of(*backup), master->node);
    Result<Json> spec = job_spec(image, order, master->node, labels);
    if (!spec.ok()) continue;
    spec->as_object()["ttlSecondsAfterFinished"] = 24 * 3600;
    target.plan.desired_objects.push_back({kube::types::jobs,
                                           {{"apiVersion", "batch/v1"},
                                            {"kind", "Job"},
                                            {"metadata", {{"name", name}, {"namespace", space}, {"labels", labels}}},
                                            {"spec", std::move(spec).value()}},
                                           DesiredObject::How::create});
  }
}

}  // namespace

std::vector<Watched> watched_for_backups() {
  return {{kube::types::backups},
          {kube::types::etcd_backups},
          {kube::types::cron_jobs, std::string(space)},
          {kube::types::jobs, std::string(space)}};
}

std::string backup_job_name(std::string_view order, std::string_view node) {
  std::string name = fmt::format("etcd-backup-{}{}{}", order, node.empty() ? "" : "-", node);
  if (name.size() <= longest_name && name.find('.') == std::string::npos) return name;
  std::ranges::replace(name, '.', '-');
  constexpr std::size_t digits = 8;
  const std::string hash = sha256_hex(fmt::format("{}/{}", order, node)).substr(0, digits);
  return fmt::format("{}-{}", name.substr(0, longest_name - digits - 1), hash);
}

void add_backups(const std::string& image, const Cluster& cluster, const Snapshot& seen, WallTime now, Target& target) {
  std::vector<std::string> problems, wanted;
  std::vector<const Json*> orders;
  for (const Json* backup : seen.list(kube::types::backups)) {
    if (text_of(*backup, {"spec", "etcd", "schedule"}).empty()) continue;  // "no backups", as in OpenShift
    Order order;
    if (const std::vector<std::string> wrong = read_backup(*backup, order); !wrong.empty()) {
      problems.push_back(describe("Backup", *backup, wrong));
      continue;
    }
    orders.push_back(backup);
    for (const Master& master : cluster.masters) {
      const std::string name = backup_job_name(kube::name_of(*backup), master.node);
      const JsonObject labels = labels_of(backup_label, kube::name_of(*backup), master.node);
      Result<Json> spec = job_spec(image, order, master.node, labels);
      if (!spec.ok()) {
        problems.push_back(describe("Backup", *backup, {spec.error().message()}));
        continue;
      }
      wanted.push_back(name);
      target.plan.desired_objects.push_back({kube::types::cron_jobs, cron_job(*backup, name, labels, std::move(spec).value())});
    }
  }
  for (const Json* job : seen.list(kube::types::cron_jobs, space)) {
    const bool is_ours = find(*job, {"metadata", "labels", backup_label}) != nullptr;
    if (!is_ours || std::ranges::find(wanted, kube::name_of(*job)) != wanted.end()) continue;
    target.plan.desired_objects.push_back({kube::types::cron_jobs, *job, DesiredObject::How::remove});
  }
  const std::vector<EndedJob> ended = ended_jobs(seen);
  add_failures(orders, ended, cluster, seen, problems);
  add_record(ended, seen, target);
  add_requested(image, cluster, seen, now, target);
  target.conditions.push_back(problems.empty()
                                  ? Condition{"BackupControllerDegraded"}
                                  : Condition{"BackupControllerDegraded", true, "BackupFailed", join(problems, "; ")});
}

}  // namespace slipway::components::etcd
