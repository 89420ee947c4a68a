// MachineTableStore: the machine table (kube/machine_table.h) that the approver uses, and the rows that it adds to it.
#pragma once

#include "components/machine_approver/config_map_store.h"
#include "kube/machine_table.h"

#include <optional>

namespace slipway::components::machine_approver {

// Threads: one.
class MachineTableStore {
 public:
  // follows_table  whether a watch delivers the table (update()); otherwise `rows` are the table
  // `context` and `store` must outlive it.
  MachineTableStore(const sys::Context& context, ConfigMapStore& store, bool follows_table, kube::MachineTable rows)
      : context_(context), store_(store), follows_table_(follows_table), rows_(std::move(rows)) {}

  // The objects of the watch: none or the ConfigMap.
  void update(kube::Objects found);

  // Adds rows for names without one. save() writes them.
  void add(const kube::MachineTable& rows);

  // Writes the added rows. If a cluster has had no table for two minutes, also the rows of its masters: until then the installer
  // may still create the table. A write that fails is postponed. errors: those of ConfigMapStore::find; cancelled
  Result<> save(const kube::Objects& nodes);

  // Current rows, with those that are not saved yet. Without those of a table that cannot be read.
  const kube::MachineTable& rows() const { return rows_; }
  const kube::MachineTable& unsaved_rows() const { return unsaved_rows_; }

  // Whether the table is known, even if it does not exist.
  bool is_listed() const { return !follows_table_ || is_listed_; }
  bool is_readable() const { return !follows_table_ || is_readable_; }
  bool is_missing() const { return follows_table_ && !table_; }

  // When to call save() if nothing changes.
  SteadyTime next_save() const;

 private:
  Result<> add_masters(const kube::Objects& nodes);

  const sys::Context& context_;
  ConfigMapStore& store_;
  const bool follows_table_;
  bool is_listed_ = false;
  bool is_readable_ = false;
  std::optional<Json> table_;   // the ConfigMap as it was read or written last
  SteadyTime missing_since_{};  // zero: it is not missing
  kube::MachineTable rows_;
  kube::MachineTable unsaved_rows_;
};

}  // namespace slipway::components::machine_approver
