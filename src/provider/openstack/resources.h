// The resources of a cluster in a project of OpenStack: finds, creates and removes them.
#pragma once

#include "provider/openstack/work.h"

#include <string>
#include <vector>

namespace slipway::provider::openstack {

// The cluster of the resources, and what is needed to create some of them: the members of Project, which describes them.
struct ResourceInputs {
  std::string infra_id;
  std::string expires{};
  OsImage* os_image = nullptr;
  std::function<Result<std::string>(const sys::Context& context, const std::string& path)> sha512{};
  std::function<Result<std::string>()> new_key{};
  std::function<Result<std::string>(const std::string& machine, const std::optional<Pointer>& pointer)> config{};
};

class Resources final : public plan::KindsPlatform<Work> {
 public:
  Resources(Api& api, ResourceInputs inputs);

  std::vector<std::string> calls_of(const plan::Resource& resource) const override;

  // Calls without an answer are looked up and repeated. An image that another cluster imports may be complete after a while.
  int attempts() const override { return 8; }
  // Ports stay in use for a while after the removal of their machines.
  plan::Patience patience() const override { return {.idle_rounds = 60, .pause = Milliseconds(5000)}; }

  // The machines that exist.
  Result<std::vector<Item>> machines(const sys::Context& context);

  Work work(const sys::Context& context) override { return {context, project_}; }

 private:
  plan::Found found_of(const Item& item, const plan::Resource* planned) const override;

  Flavors flavors_;
  Project project_;
};

}  // namespace slipway::provider::openstack
