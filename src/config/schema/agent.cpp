#include "config/schema/tables.h"

namespace slipway::config {

namespace {

Fields metadata_fields() {
  static constexpr Field fields[] = {{.name = "name"}, {.name = "namespace"}};
  return fields;
}

Fields interface_fields() {
  static constexpr Field fields[] = {{.name = "name"}, {.name = "macAddress"}};
  return fields;
}

Fields host_fields() {
  static constexpr Field fields[] = {
      {.name = "hostname"},
      {.name = "role", .allowed = "master|worker"},
      {.name = "interfaces", .kind = Kind::object, .is_list = true, .members = interface_fields},
      {.name = "rootDeviceHints", .kind = Kind::object, .members = root_device_fields},
      {.name = "networkConfig", .kind = Kind::any},
  };
  return fields;
}

}  // namespace

Fields agent_config_fields() {
  static constexpr Field fields[] = {
      {.name = "apiVersion", .allowed = "v1beta1|v1alpha1"},
      {.name = "kind", .allowed = "AgentConfig"},
      {.name = "metadata", .kind = Kind::object, .members = metadata_fields},
      {.name = "rendezvousIP"},
      {.name = "hosts", .kind = Kind::object, .is_list = true, .members = host_fields},
      {.name = "additionalNTPSources", .is_list = true},
      {.name = "bootArtifactsBaseURL"},
      {.name = "minimalISO", .kind = Kind::boolean},
  };
  return fields;
}

}  // namespace slipway::config
