// Backups that users order with objects of OpenShift, and the Jobs that take them. Pure.
//
//   Backup (config.openshift.io/v1alpha1)         periodic: one CronJob for each master
//   EtcdBackup (operator.openshift.io/v1alpha1)   one time: one Job on one master; its status has the result
//
// Annotation slipway.internal/encrypt-to of either object has public keys of age, separated by commas.
#pragma once

#include "components/etcd/facts.h"
#include "components/static_pod/static_pod_operator.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::etcd {

inline constexpr std::string_view encrypt_to_annotation = "slipway.internal/encrypt-to";
// Labels of CronJobs, Jobs and pods: the object that ordered them, and the master.
inline constexpr std::string_view backup_label = "slipway.internal/backup", etcd_backup_label = "slipway.internal/etcd-backup",
                                  backup_node_label = "slipway.internal/backup-node";
// Folder on the masters. The backups of Backup NAME are in NAME, those of EtcdBackups in `requested`.
inline constexpr std::string_view backups_folder = "/var/lib/etcd-auto-backup";

// What the plan reads, in addition to the watches of the static-pod kit.
std::vector<Watched> watched_for_backups();

// Adds to the target:
// - CronJobs and Jobs, and the removal of CronJobs whose Backup or master is gone;
// - the status of EtcdBackups;
// - condition BackupControllerDegraded: orders that cannot be followed, with the field; masters whose last Job failed, with the
//   reason that its pod left;
// - ConfigMap openshift-etcd/recent-backup, if a Job completed after the backup that it records.
//
//   image  of etcd
void add_backups(const std::string& image, const Cluster& cluster, const Snapshot& seen, WallTime now, Target& target);

// The name of a CronJob, at most 52 characters as Kubernetes requires: "etcd-backup-default-master-0", with a hash if it is
// longer.
std::string backup_job_name(std::string_view order, std::string_view node);

}  // namespace slipway::components::etcd
