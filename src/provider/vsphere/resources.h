// The resources of a cluster in a vCenter: finds, creates and removes them.
#pragma once

#include "provider/plan/kinds.h"
#include "provider/vsphere/work.h"

#include <map>
#include <string>
#include <vector>

namespace slipway::provider::vsphere {

class Resources final : public plan::KindsPlatform<Work> {
 public:
  // image, configs: as in Work; null: nothing is created
  Resources(Vcenter& vcenter, std::string infra_id, OsImage* image = nullptr,
            const std::map<std::string, std::string>* configs = nullptr);

  Result<> create(const sys::Context& context, const plan::Resource& resource) override;
  Result<> remove(const sys::Context& context, const plan::Found& found) override;

  // vCenter ends an import of a run that was killed after five minutes, and only then allows its removal.
  int attempts() const override { return 16; }
  plan::Patience patience() const override { return {.idle_rounds = 120, .pause = Milliseconds(3000)}; }

  // The machines that exist.
  Result<std::vector<Item>> machines(const sys::Context& context);

  Work work(const sys::Context& context) override {
    return {context, vcenter_, inventory(), lookups_, infra_id_, image_, configs_};
  }

 private:
  plan::Found found_of(const Item& item, const plan::Resource* planned) const override;

  Vcenter& vcenter_;
  const std::string infra_id_;
  OsImage* const image_;
  const std::map<std::string, std::string>* const configs_;
  Lookups lookups_;
};

}  // namespace slipway::provider::vsphere
