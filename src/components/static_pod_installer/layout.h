// Layout: the files of one operand that a node's disk shall have: its certificates, the folder of its revision, and the pod that
// the kubelet runs. Pure.
#pragma once

#include "components/controller/operand.h"
#include "components/controller/view.h"
#include "sys/files.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::static_pod_installer {

// What is known of an operand beforehand; of what parts it is made, revision-status-N tells.
const std::vector<Operand>& operands();

// A folder whose files are the keys of one object. Paths are those on the node, "/etc/kubernetes/...".
struct ObjectFolder {
  std::string path;
  Part::Kind kind;
  const Json* object;

  bool operator==(const ObjectFolder&) const = default;
};

struct Layout {
  Snapshot seen;                             // keeps the objects
  int revision = 0;                          // that shall be on this node; 0: none
  std::vector<ObjectFolder> certificates{};  // as they are now, of any revision
  std::vector<std::string> gone{};           // folders of optional certificates that are not there any more
  std::vector<ObjectFolder> parts{};         // of the revision
  const Json* pod = nullptr;                 // ConfigMap with the key pod.yaml, one of them
  std::vector<std::string> missing{};        // "Secret openshift-etcd/etcd-all-certs": what the revision waits for
  std::vector<int> kept{};                   // revisions whose folders stay, in order

  // Whether it says the same with the same objects: an object that was put anew counts as another one.
  bool is_same(const Layout& other) const;
};

Layout plan_layout(const Operand& operand, const Snapshot& seen, std::string_view node);

struct File {
  std::string name;
  std::string content;
  sys::Mode mode = 0600;
};

// The files of a folder, by name. errors: invalid: `data` of a Secret that is not base64
Result<std::vector<File>> files_of(const ObjectFolder& folder);
sys::Mode mode_of(const ObjectFolder& folder);

// The pod as the kubelet gets it: REVISION, NODE_NAME and NODE_ENVVAR_NAME replaced wherever they stand. errors: invalid: the
// ConfigMap has no pod.yaml
Result<std::string> pod_text(const Json& pod_config, int revision, std::string_view node);

// Below the folder of revisions `names` are there: those of revisions of this operand that are not kept.
std::vector<std::string> outdated(const Operand& operand, const std::vector<std::string>& names, const std::vector<int>& kept);

}  // namespace slipway::components::static_pod_installer
