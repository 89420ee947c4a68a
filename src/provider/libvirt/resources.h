// The resources of a cluster on a libvirt host: finds, creates and removes them.
#pragma once

#include "net/environment.h"
#include "provider/libvirt/connection.h"
#include "provider/libvirt/os_image.h"
#include "provider/plan/platform.h"

#include <map>
#include <string>

namespace slipway::provider::libvirt {

class Resources final : public plan::Platform {
 public:
  //   infra_id  of the cluster; begins all its names
  //   configs   the Ignition config of each machine that may be created
  Resources(const net::Environment& environment, Connection& connection, std::string infra_id, OsImageSource os_image = {},
            std::map<std::string, std::string> configs = {});

  Result<std::optional<plan::Found>> find(const sys::Context& context, const plan::Resource& resource) override;
  Result<> create(const sys::Context& context, const plan::Resource& resource) override;
  Result<> remove(const sys::Context& context, const plan::Found& found) override;
  Result<std::vector<plan::Found>> scan(const sys::Context& context) override;

 private:
  Result<bool> is_whole_volume(const plan::Resource& resource, const Volume& volume);
  Result<> create_volume(const sys::Context& context, const plan::Resource& resource);
  Result<> create_machine(const plan::Resource& resource);
  Result<> upload_text(const sys::Context& context, const plan::Resource& resource, const std::string& text);

  const net::Environment environment_;
  Connection& connection_;
  const std::string infra_id_;
  const OsImageSource os_image_;
  const std::map<std::string, std::string> configs_;
};

// The folder of a pool of files. errors: not_found: no such pool; invalid: a pool of another type
Result<std::string> folder_of_pool(Connection& connection, const std::string& pool);

}  // namespace slipway::provider::libvirt
