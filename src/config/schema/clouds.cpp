#include "config/schema/tables.h"

namespace slipway::config {

namespace {

Fields endpoint_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The service, for example ec2.", .is_required = true, .empty = Empty::written},
      {.name = "url", .about = "Its https URL.", .is_required = true, .empty = Empty::written},
  };
  return fields;
}

Fields aws_volume_fields() {
  static constexpr Field fields[] = {
      {.name = "type", .about = "The volume type.", .fallback = "gp3", .empty = Empty::written},
      {.name = "size", .kind = Kind::integer, .about = "Its size in GiB.", .fallback = "120", .empty = Empty::written},
      {.name = "iops",
       .kind = Kind::integer,
       .about = "I/O operations per second, for types io1, io2 and gp3.",
       .empty = Empty::written},
      {.name = "kmsKeyARN", .about = "The encryption key.", .otherwise = "the one of the account"},
  };
  return fields;
}

Fields aws_metadata_fields() {
  static constexpr Field fields[] = {
      {.name = "authentication",
       .about = "Whether the metadata service requires a token.",
       .otherwise = "Required on machines that slipway creates",
       .allowed = "Required|Optional"},
  };
  return fields;
}

Fields gcp_label_fields() {
  static constexpr Field fields[] = {
      {.name = "key", .about = "The label's name.", .is_required = true, .empty = Empty::written},
      {.name = "value", .about = "Its value.", .is_required = true, .empty = Empty::written},
  };
  return fields;
}

Fields gcp_tag_fields() {
  static constexpr Field fields[] = {
      {.name = "parentID",
       .about = "The owner of the tag: an organization number or a project ID.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "key", .about = "The tag's name.", .is_required = true, .empty = Empty::written},
      {.name = "value", .about = "Its value.", .is_required = true, .empty = Empty::written},
  };
  return fields;
}

Fields gcp_key_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The key's name.", .otherwise = "the one in defaultMachinePlatform", .empty = Empty::written},
      {.name = "keyRing", .about = "Its key ring.", .otherwise = "the one in defaultMachinePlatform", .empty = Empty::written},
      {.name = "projectID", .about = "The project of the key ring.", .otherwise = "the cluster's"},
      {.name = "location",
       .about = "The location of the key ring.",
       .otherwise = "the cluster's region",
       .empty = Empty::written},
  };
  return fields;
}

Fields gcp_encryption_fields() {
  static constexpr Field fields[] = {
      {.name = "kmsKey", .kind = Kind::object, .about = "The key.", .members = gcp_key_fields},
      {.name = "kmsKeyServiceAccount", .about = "The account that uses the key.", .otherwise = "the one of Compute Engine"},
  };
  return fields;
}

Fields gcp_disk_fields() {
  static constexpr Field fields[] = {
      {.name = "diskType",
       .about = "The disk type. pd-standard for compute only.",
       .fallback = "pd-ssd",
       .allowed = "pd-ssd|pd-standard|pd-balanced|hyperdisk-balanced",
       .empty = Empty::written},
      {.name = "DiskSizeGB", .kind = Kind::integer, .about = "Its size in GB.", .fallback = "128", .empty = Empty::written},
      {.name = "encryptionKey",
       .kind = Kind::object,
       .about = "The encryption key.",
       .otherwise = "the one of the platform",
       .members = gcp_encryption_fields},
  };
  return fields;
}

Fields gcp_image_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The image's name.", .is_required = true, .empty = Empty::written},
      {.name = "project", .about = "Its project.", .is_required = true, .empty = Empty::written},
  };
  return fields;
}

}  // namespace

Fields aws_pool_fields() {
  static constexpr Field fields[] = {
      {.name = "type",
       .about = "The instance type, for example m6i.xlarge.",
       .otherwise = "the usual one of the region",
       .empty = Empty::written},
      {.name = "zones", .is_list = true, .about = "The availability zones of the machines.", .otherwise = "all"},
      {.name = "rootVolume",
       .kind = Kind::object,
       .about = "The machines' disk.",
       .members = aws_volume_fields,
       .empty = Empty::written},
      {.name = "metadataService",
       .kind = Kind::object,
       .about = "The instance metadata service.",
       .members = aws_metadata_fields,
       .empty = Empty::written},
      {.name = "amiID", .about = "The image to boot.", .otherwise = "the one of the release"},
      {.name = "iamRole", .about = "An existing role. Not with iamProfile.", .otherwise = "created by the cluster"},
      {.name = "iamProfile", .about = "An existing instance profile. Not with iamRole.", .otherwise = "created by the cluster"},
      {.name = "additionalSecurityGroupIDs",
       .is_list = true,
       .about = "Additional security groups, for example sg-0123, at most 10."},
  };
  return fields;
}

Fields aws_fields() {
  static constexpr Field fields[] = {
      {.name = "region", .about = "The region, for example us-east-1.", .is_required = true, .empty = Empty::written},
      {.name = "subnets", .is_list = true, .about = "Existing subnets.", .otherwise = "created by the cluster"},
      {.name = "hostedZone", .about = "An existing private DNS zone. Requires subnets.", .otherwise = "created by the cluster"},
      {.name = "hostedZoneRole", .about = "The role that may change that zone in another account."},
      {.name = "userTags",
       .kind = Kind::map,
       .about = "Tags for all created resources, at most 25. Name and kubernetes.io/cluster/ are reserved."},
      {.name = "propagateUserTags",
       .kind = Kind::boolean,
       .about = "Whether resources that the cluster creates get these tags too.",
       .otherwise = "false"},
      {.name = "serviceEndpoints",
       .kind = Kind::object,
       .is_list = true,
       .about = "Custom endpoints of services.",
       .members = endpoint_fields},
      {.name = "lbType",
       .about = "The kind of load balancer for applications.",
       .otherwise = "Classic",
       .allowed = "Classic|NLB"},
      {.name = "bestEffortDeleteIgnition",
       .kind = Kind::boolean,
       .about = "Whether an installation succeeds if the bootstrap machine's Ignition config cannot be removed at the end.",
       .otherwise = "false"},
      {.name = "publicIpv4Pool", .about = "A pool of the user's own public addresses."},
      machines_of_all_pools(aws_pool_fields),
      {.name = "amiID", .about = "Older form of defaultMachinePlatform.amiID.", .instead = "defaultMachinePlatform.amiID"},
      {.name = "experimentalPropagateUserTags",
       .kind = Kind::boolean,
       .about = "Older name of propagateUserTags.",
       .instead = "propagateUserTags",
       .empty = Empty::kept},
      {.name = "preserveBootstrapIgnition",
       .kind = Kind::boolean,
       .about = "Older name of bestEffortDeleteIgnition.",
       .instead = "bestEffortDeleteIgnition"},
  };
  return fields;
}

Fields gcp_pool_fields() {
  static constexpr Field fields[] = {
      {.name = "type",
       .about = "The instance type, for example n2-standard-4.",
       .otherwise = "n2-standard-4",
       .empty = Empty::written},
      {.name = "zones", .is_list = true, .about = "The zones of the machines.", .otherwise = "all zones of the region"},
      {.name = "osDisk",
       .kind = Kind::object,
       .about = "The machines' disk.",
       .members = gcp_disk_fields,
       .empty = Empty::written},
      {.name = "osImage",
       .kind = Kind::object,
       .about = "The image to boot.",
       .otherwise = "the one of the release",
       .members = gcp_image_fields},
      {.name = "tags", .is_list = true, .about = "Network tags of the machines."},
      {.name = "secureBoot",
       .about = "Whether machines use Secure Boot.",
       .otherwise = "Disabled",
       .allowed = "Enabled|Disabled"},
      {.name = "onHostMaintenance",
       .about = "What happens to machines during host maintenance. Must be Terminate with confidentialCompute.",
       .otherwise = "Migrate",
       .allowed = "Migrate|Terminate"},
      {.name = "confidentialCompute",
       .about = "Whether the memory of the machines is encrypted.",
       .otherwise = "Disabled",
       .allowed = "Enabled|Disabled"},
      {.name = "serviceAccount", .about = "The service account of the machines.", .otherwise = "created by the cluster"},
  };
  return fields;
}

Fields gcp_fields() {
  static constexpr Field fields[] = {
      {.name = "projectID", .about = "The project.", .is_required = true, .empty = Empty::written},
      {.name = "region", .about = "The region, for example us-east1.", .is_required = true, .empty = Empty::written},
      {.name = "network", .about = "An existing network.", .otherwise = "created by the cluster"},
      {.name = "networkProjectID", .about = "The project of that network.", .otherwise = "projectID"},
      {.name = "controlPlaneSubnet", .about = "The subnet of the control plane in that network."},
      {.name = "computeSubnet", .about = "The subnet of the other machines in that network."},
      {.name = "userLabels",
       .kind = Kind::object,
       .is_list = true,
       .about = "Labels for all created resources, at most 32.",
       .members = gcp_label_fields},
      {.name = "userTags",
       .kind = Kind::object,
       .is_list = true,
       .about = "Existing tags for all created resources.",
       .members = gcp_tag_fields},
      {.name = "userProvisionedDNS",
       .about = "Whether the user creates the DNS records.",
       .otherwise = "Disabled",
       .allowed = "Enabled|Disabled"},
      machines_of_all_pools(gcp_pool_fields),
  };
  return fields;
}

}  // namespace slipway::config
