#include "components/machine_approver/machine_table_store.h"

#include <algorithm>
#include <utility>

namespace slipway::components::machine_approver {

namespace {

constexpr Milliseconds longest_without_table = std::chrono::minutes(2);

void add_missing(kube::MachineTable& rows, const kube::MachineTable& others) {
  for (const kube::MachineRow& row : others) {
    if (!kube::find_machine(rows, row.name)) rows.push_back(row);
  }
}

}  // namespace

void MachineTableStore::update(kube::Objects found) {
  is_listed_ = true;
  is_readable_ = false;
  rows_ = unsaved_rows_;
  table_.reset();
  if (found.empty()) {
    if (missing_since_ == SteadyTime{}) missing_since_ = context_.clock.steady();
    return context_.log.warn("no machine table exists: requests for new names need manual approval");
  }
  missing_since_ = {};
  table_ = std::move(found.front());
  auto rows = kube::parse_machine_table(*table_);
  if (!rows.ok()) return context_.log.warn("{}: no machine can join", rows.error().message());
  rows_ = std::move(rows).value();
  add_missing(rows_, unsaved_rows_);
  is_readable_ = true;
}

void MachineTableStore::add(const kube::MachineTable& rows) {
  add_missing(rows_, rows);
  add_missing(unsaved_rows_, rows);
}

Result<> MachineTableStore::save(const kube::Objects& nodes) {
  if (is_missing()) {
    if (context_.clock.steady() < missing_since_ + longest_without_table) return Ok{};
    missing_since_ = context_.clock.steady();
    TRY(add_masters(nodes));
  }
  if (unsaved_rows_.empty()) return Ok{};
  for (int attempt = 1;; ++attempt) {
    if (!follows_table_ || attempt > 1) table_ = TRY(store_.find(kube::machine_table_space, kube::machine_table_name));
    kube::MachineTable rows;
    if (table_) {
      auto parsed = kube::parse_machine_table(*table_);
      if (!parsed.ok()) return store_.postpone("the machine table", parsed.error());
      rows = std::move(parsed).value();
    }
    const std::size_t before = rows.size();
    add_missing(rows, unsaved_rows_);
    if (table_ && rows.size() == before) break;
    const Json fresh = {{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", {{"namespace", kube::machine_table_space}, {"name", kube::machine_table_name}}}};
    auto written = store_.write(kube::with_machine_table(table_.value_or(fresh), rows), table_.has_value());
    if (written.ok()) {
      table_ = std::move(written).value();
      for (std::size_t i = before; i < rows.size(); ++i) {
        context_.log.info("added machine {} to the machine table with role {}", rows[i].name, rows[i].role);
      }
      break;
    }
    if (written.error().code() != Code::conflict || attempt == write_attempts) {
      return store_.postpone("the machine table", written.error());
    }
  }
  unsaved_rows_.clear();
  return Ok{};
}

SteadyTime MachineTableStore::next_save() const {
  if (missing_since_ == SteadyTime{}) return SteadyTime::max();
  return std::max(missing_since_ + longest_without_table, store_.next_write());
}

Result<> MachineTableStore::add_masters(const kube::Objects& nodes) {
  const auto endpoints = store_.find("openshift-etcd", "etcd-endpoints");
  if (!endpoints.ok()) return store_.postpone("the rows of masters", endpoints.error());
  if (!endpoints.value()) return Ok{};
  kube::MachineTable masters = kube::first_machine_rows(*endpoints.value(), nodes).rows;
  std::erase_if(masters, [](const kube::MachineRow& row) { return row.role != "master"; });
  add(masters);
  return Ok{};
}

}  // namespace slipway::components::machine_approver
