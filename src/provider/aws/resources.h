// The resources of a cluster in an account of AWS: finds, creates and removes them.
#pragma once

#include "provider/aws/work.h"
#include "provider/plan/platform.h"

#include <optional>
#include <string>
#include <vector>

namespace slipway::provider::aws {

class Resources final : public plan::Platform {
 public:
  //   domain  of the cluster; empty: that of its private zone
  //   tags    of the user, for new resources
  //   config  as in Account; needed for creating machines
  Resources(Api& api, std::string infra_id, std::string domain, Parameters tags = {},
            std::function<Result<std::string>(const std::string& machine, const std::string& url)> config = {});

  Result<std::optional<plan::Found>> find(const sys::Context& context, const plan::Resource& resource) override;
  Result<> create(const sys::Context& context, const plan::Resource& resource) override;
  Result<> remove(const sys::Context& context, const plan::Found& found) override;
  Result<std::vector<plan::Found>> scan(const sys::Context& context) override;

  // Calls without an answer are looked up and repeated.
  int attempts() const override { return 5; }
  // Addresses of load balancers, NAT gateways and machines stay in use for minutes after the removal of their owners.
  plan::Patience patience() const override { return {.idle_rounds = 90, .pause = Milliseconds(10'000)}; }

  // The machines that exist.
  Result<std::vector<Item>> machines(const sys::Context& context);

  Work work(const sys::Context& context) { return {context, account_}; }

 private:
  Inventory inventory_;
  Account account_;
};

}  // namespace slipway::provider::aws
