// Layout: the files of one operand on a node's disk: its certificates, the folder of its revision, and the pod that the kubelet
// runs. Pure.
#pragma once

#include "components/controller/operand.h"
#include "components/controller/view.h"
#include "sys/files.h"

#include <string>
#include <string_view>
#include <vector>

namespace slipway::components::static_pod_installer {

// The fixed properties of the operands. Their parts are in revision-status-N.
const std::vector<Operand>& operands();

// A folder whose files are the keys of one object. Paths are as on the node, "/etc/kubernetes/...".
struct ObjectFolder {
  std::string path;
  Part::Kind kind;
  const Json* object;

  bool operator==(const ObjectFolder&) const = default;
};

struct Layout {
  Snapshot seen;                             // keeps the objects alive
  int revision = 0;                          // wanted on this node; 0: none
  std::vector<ObjectFolder> certificates{};  // current ones, not of a revision
  std::vector<std::string> removed{};        // folders of optional certificates that no longer exist
  std::vector<ObjectFolder> parts{};         // of the revision
  const Json* pod = nullptr;                 // ConfigMap of `parts` with the key pod.yaml
  std::vector<std::string> missing{};        // "Secret openshift-etcd/etcd-all-certs": objects that the revision waits for
  std::vector<int> kept{};                   // revisions whose folders stay, sorted

  // Whether both contain the same objects. An object that was put into the view again counts as another object.
  bool is_same(const Layout& other) const;
};

Layout plan_layout(const Operand& operand, const Snapshot& seen, std::string_view node);

struct File {
  std::string name;
  std::string content;
  sys::Mode mode = 0600;
};

// The files of a folder, sorted by name. errors: invalid: `data` of a Secret is not base64
Result<std::vector<File>> files_of(const ObjectFolder& folder);
sys::Mode mode_of(const ObjectFolder& folder);

// The pod for the kubelet: REVISION, NODE_NAME and NODE_ENVVAR_NAME are replaced everywhere. errors: invalid: the ConfigMap has
// no pod.yaml
Result<std::string> pod_text(const Json& pod_config, int revision, std::string_view node);

// Returns those of `names`, the folders of revisions, that belong to revisions of this operand that are not kept.
std::vector<std::string> outdated(const Operand& operand, const std::vector<std::string>& names, const std::vector<int>& kept);

}  // namespace slipway::components::static_pod_installer
