// The resources of a cluster in a vCenter: finds, creates and removes them.
#pragma once

#include "provider/plan/platform.h"
#include "provider/vsphere/work.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slipway::provider::vsphere {

class Resources final : public plan::Platform {
 public:
  // image, configs: as in Work; null: nothing is created
  Resources(Vcenter& vcenter, std::string infra_id, OsImage* image = nullptr,
            const std::map<std::string, std::string>* configs = nullptr);

  Result<std::optional<plan::Found>> find(const sys::Context& context, const plan::Resource& resource) override;
  Result<> create(const sys::Context& context, const plan::Resource& resource) override;
  Result<> remove(const sys::Context& context, const plan::Found& found) override;
  Result<std::vector<plan::Found>> scan(const sys::Context& context) override;

  // vCenter ends an import of a run that was killed after five minutes, and only then allows its removal.
  int attempts() const override { return 16; }
  plan::Patience patience() const override { return {.idle_rounds = 120, .pause = Milliseconds(3000)}; }

  // The machines that exist.
  Result<std::vector<Item>> machines(const sys::Context& context);

  Work work(const sys::Context& context) { return {context, vcenter_, inventory_, lookups_, infra_id_, image_, configs_}; }

 private:
  Vcenter& vcenter_;
  const std::string infra_id_;
  OsImage* const image_;
  const std::map<std::string, std::string>* const configs_;
  Lookups lookups_;
  Inventory inventory_;
};

}  // namespace slipway::provider::vsphere
