// The resources of a cluster in an account of AWS: finds, creates and removes them.
#pragma once

#include "provider/aws/work.h"
#include "provider/plan/kinds.h"

#include <string>
#include <vector>

namespace slipway::provider::aws {

// The cluster of the resources, and what is needed to create some of them: the members of Account, which describes them.
struct ResourceInputs {
  std::string infra_id;
  std::string domain{};  // empty: that of the cluster's private zone
  Parameters tags{};
  Api* zone_api = nullptr;
  std::function<Result<std::string>(const sys::Context& context, const std::string& name)> os_image_file{};
  std::function<Result<>(const std::string& path)> forget_os_image_file{};
  std::function<Result<std::string>(const std::string& machine, const std::string& url)> config{};
};

class Resources final : public plan::KindsPlatform<Work> {
 public:
  Resources(Api& api, ResourceInputs inputs);

  std::vector<std::string> calls_of(const plan::Resource& resource) const override;

  // Calls without an answer are looked up and repeated.
  int attempts() const override { return 5; }
  // Addresses of load balancers, NAT gateways and machines stay in use for minutes after the removal of their owners.
  plan::Patience patience() const override { return {.idle_rounds = 90, .pause = Milliseconds(10'000)}; }

  // The machines that exist.
  Result<std::vector<Item>> machines(const sys::Context& context);

  Work work(const sys::Context& context) override { return {context, account_}; }

 private:
  plan::Found found_of(const Item& item, const plan::Resource* planned) const override;

  Account account_;
};

}  // namespace slipway::provider::aws
