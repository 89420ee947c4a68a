// What the functions that list, create and remove resources have in common: folders.cpp (tags and folders), templates.cpp,
// machines.cpp (machines and rules).
#pragma once

#include "provider/os_image.h"
#include "provider/plan/inventory.h"
#include "provider/plan/resource.h"
#include "provider/vsphere/client.h"
#include "provider/vsphere/cluster_plan.h"
#include "provider/vsphere/documents.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace slipway::provider::vsphere {

using plan::Inventory;
using plan::Item;

// What machines have in common, so that it is looked up once for all of them. Threads: any.
class Lookups {
 public:
  // Returns what `make` has made for the key before, or makes it.
  template <class Value>
  Result<Value> get(const std::string& key, const std::function<Result<Value>()>& make) {
    Known<Value>& known = std::get<Known<Value>>(known_);
    {
      std::lock_guard lock(mutex_);
      if (const auto found = known.find(key); found != known.end()) return found->second;
    }
    Value made = TRY(make());
    std::lock_guard lock(mutex_);
    known.insert_or_assign(key, made);
    return made;
  }

  void forget();

 private:
  template <class Value>
  using Known = std::map<std::string, Value>;

  std::mutex mutex_;
  std::tuple<Known<Reference>, Known<std::string>, Known<Hardware>> known_;
};

struct Work {
  const sys::Context& context;
  Vcenter& vcenter;
  Inventory& inventory;
  Lookups& lookups;
  const std::string& infra_id;
  OsImage* image = nullptr;                                     // needed for creating templates
  const std::map<std::string, std::string>* configs = nullptr;  // Ignition configs by machine; needed for creating machines
};

// errors: not_found: there is nothing at the path
Result<Reference> object_at(const Work& work, const std::string& path);

// The paths of objects, from their names and parents.
class Paths {
 public:
  // Types and properties that paths are made from.
  static std::vector<Properties> wanted();

  void add(const Object& object);
  std::string of(const Reference& object) const;
  std::string parent_of(const Object& object) const { return of(reference_of(object.at("parent"))); }

 private:
  struct Entry {
    std::string name{};
    Reference parent{};
  };
  std::map<Reference, Entry> entries_;
};

Result<std::vector<Item>> list_tags(const Work& work);
Result<Item> create_tag(const Work& work, const plan::Resource& resource);

// The infraIDs of the clusters for which slipway has made a category.
Result<std::vector<std::string>> list_tagged_clusters(const sys::Context& context, Vcenter& vcenter);
Result<> remove_tag(const Work& work, const Item& item);

// Attaches the tag of the cluster and others.
Result<> attach_tags(const Work& work, const Reference& object, std::vector<std::string> tag_ids, std::string_view name);

Result<std::vector<Item>> list_folders(const Work& work);
Result<Item> create_folder(const Work& work, const plan::Resource& resource);
Result<> remove_folder(const Work& work, const Item& item);

// All templates that slipway has made. Those that machines of other clusters use, or that another cluster imports, are not ours.
Result<std::vector<Item>> list_templates(const Work& work);

// Whether a machine is a template that slipway has made, or will be one: clones inherit its marks and have one more. Needs
// image_mark and template_mark.
bool is_os_template(const Object& machine);
Result<Item> create_template(const Work& work, const plan::Resource& resource);
Result<> remove_template(const Work& work, const Item& item);

// The network with this name that the hosts of a compute cluster have, or the one at this path.
Result<Reference> network_of(const Work& work, const std::string& compute_cluster, const std::string& network);

Result<std::vector<Item>> list_machines(const Work& work);
Result<Item> create_machine(const Work& work, const plan::Resource& resource);
Result<> remove_machine(const Work& work, const Item& item);
Result<> start_machine(const Work& work, const Item& item);

Result<std::vector<Item>> list_rules(const Work& work);
Result<Item> create_rule(const Work& work, const plan::Resource& resource);
Result<> remove_rule(const Work& work, const Item& item);

// "config.extraConfig[\"slipway.cluster\"]"
std::string mark_path(std::string_view mark);

}  // namespace slipway::provider::vsphere
