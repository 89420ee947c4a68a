#include "config/schema_tables.h"

namespace slipway::config {

namespace {

Fields endpoint_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The service, as in ec2.", .is_required = true, .empty = Empty::written},
      {.name = "url", .about = "Where it is, an https URL.", .is_required = true, .empty = Empty::written},
  };
  return fields;
}

Fields aws_volume_fields() {
  static constexpr Field fields[] = {
      {.name = "type", .about = "The kind of volume.", .fallback = "gp3", .empty = Empty::written},
      {.name = "size", .kind = Kind::integer, .about = "Its size in GiB.", .fallback = "120", .empty = Empty::written},
      {.name = "iops",
       .kind = Kind::integer,
       .about = "Operations a second, for the kinds io1, io2 and gp3.",
       .empty = Empty::written},
      {.name = "kmsKeyARN", .about = "The key that encrypts it.", .otherwise = "the account's"},
  };
  return fields;
}

Fields aws_metadata_fields() {
  static constexpr Field fields[] = {
      {.name = "authentication",
       .about = "Whether the metadata service asks for a token.",
       .otherwise = "Optional",
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
       .about = "Whose tag it is: the organization's number or the project's id.",
       .is_required = true,
       .empty = Empty::written},
      {.name = "key", .about = "The tag's name.", .is_required = true, .empty = Empty::written},
      {.name = "value", .about = "Its value.", .is_required = true, .empty = Empty::written},
  };
  return fields;
}

Fields gcp_key_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The key's name.", .otherwise = "that of defaultMachinePlatform", .empty = Empty::written},
      {.name = "keyRing",
       .about = "The ring that it is on.",
       .otherwise = "that of defaultMachinePlatform",
       .empty = Empty::written},
      {.name = "projectID", .about = "The ring's project.", .otherwise = "the cluster's"},
      {.name = "location", .about = "Where the ring is.", .otherwise = "the cluster's region", .empty = Empty::written},
  };
  return fields;
}

Fields gcp_encryption_fields() {
  static constexpr Field fields[] = {
      {.name = "kmsKey", .kind = Kind::object, .about = "The key.", .members = gcp_key_fields},
      {.name = "kmsKeyServiceAccount", .about = "The account that uses the key.", .otherwise = "Compute Engine's"},
  };
  return fields;
}

Fields gcp_disk_fields() {
  static constexpr Field fields[] = {
      {.name = "diskType",
       .about = "The kind of disk; pd-standard for compute only.",
       .fallback = "pd-ssd",
       .allowed = "pd-ssd|pd-standard|pd-balanced|hyperdisk-balanced",
       .empty = Empty::written},
      {.name = "DiskSizeGB", .kind = Kind::integer, .about = "Its size in GB.", .fallback = "128", .empty = Empty::written},
      {.name = "encryptionKey",
       .kind = Kind::object,
       .about = "The key that encrypts it.",
       .otherwise = "the platform's",
       .members = gcp_encryption_fields},
  };
  return fields;
}

Fields gcp_image_fields() {
  static constexpr Field fields[] = {
      {.name = "name", .about = "The image's name.", .is_required = true, .empty = Empty::written},
      {.name = "project", .about = "The project that it is in.", .is_required = true, .empty = Empty::written},
  };
  return fields;
}

}  // namespace

Fields aws_pool_fields() {
  static constexpr Field fields[] = {
      {.name = "type",
       .about = "The instances' type, as in m6i.xlarge.",
       .otherwise = "the region's usual",
       .empty = Empty::written},
      {.name = "zones", .is_list = true, .about = "The availability zones that machines are spread over.", .otherwise = "all"},
      {.name = "rootVolume",
       .kind = Kind::object,
       .about = "The machines' disk.",
       .members = aws_volume_fields,
       .empty = Empty::written},
      {.name = "metadataService",
       .kind = Kind::object,
       .about = "The service that tells instances about themselves.",
       .members = aws_metadata_fields,
       .empty = Empty::written},
      {.name = "amiID", .about = "The image to boot.", .otherwise = "that of the release"},
      {.name = "iamRole", .about = "A role that is there already; not with iamProfile.", .otherwise = "one of the cluster's own"},
      {.name = "iamProfile",
       .about = "An instance profile that is there already; not with iamRole.",
       .otherwise = "one of the cluster's own"},
      {.name = "additionalSecurityGroupIDs", .is_list = true, .about = "Further security groups, as in sg-0123; 10 at most."},
  };
  return fields;
}

Fields aws_fields() {
  static constexpr Field fields[] = {
      {.name = "region", .about = "The region, as in us-east-1.", .is_required = true, .empty = Empty::written},
      {.name = "subnets",
       .is_list = true,
       .about = "Subnets that are there already.",
       .otherwise = "a network of the cluster's own"},
      {.name = "hostedZone",
       .about = "A private DNS zone that is there already, with subnets.",
       .otherwise = "one of the cluster's own"},
      {.name = "hostedZoneRole", .about = "The role that may change that zone in another account."},
      {.name = "userTags",
       .kind = Kind::map,
       .about = "Tags for everything that is made, 25 at most; Name and kubernetes.io/cluster/ are taken."},
      {.name = "propagateUserTags",
       .kind = Kind::boolean,
       .about = "Whether what the cluster itself makes gets these tags too.",
       .otherwise = "false"},
      {.name = "serviceEndpoints",
       .kind = Kind::object,
       .is_list = true,
       .about = "Services that are found elsewhere than usual.",
       .members = endpoint_fields},
      {.name = "lbType",
       .about = "The kind of load balancer for applications.",
       .otherwise = "Classic",
       .allowed = "Classic|NLB"},
      {.name = "bestEffortDeleteIgnition",
       .kind = Kind::boolean,
       .about = "Whether an installation succeeds when the bootstrap's Ignition config cannot be removed at its end.",
       .otherwise = "false"},
      {.name = "publicIpv4Pool", .about = "A pool of public addresses of the user's own."},
      machines_of_all_pools(aws_pool_fields),
      {.name = "amiID", .about = "The older form of defaultMachinePlatform.amiID.", .instead = "defaultMachinePlatform.amiID"},
      {.name = "experimentalPropagateUserTags",
       .kind = Kind::boolean,
       .about = "The older name of propagateUserTags.",
       .instead = "propagateUserTags",
       .empty = Empty::kept},
      {.name = "preserveBootstrapIgnition",
       .kind = Kind::boolean,
       .about = "The older name of bestEffortDeleteIgnition.",
       .instead = "bestEffortDeleteIgnition"},
  };
  return fields;
}

Fields gcp_pool_fields() {
  static constexpr Field fields[] = {
      {.name = "type",
       .about = "The instances' type, as in n2-standard-4.",
       .otherwise = "n2-standard-4",
       .empty = Empty::written},
      {.name = "zones", .is_list = true, .about = "The zones that machines are spread over.", .otherwise = "all of the region"},
      {.name = "osDisk",
       .kind = Kind::object,
       .about = "The machines' disk.",
       .members = gcp_disk_fields,
       .empty = Empty::written},
      {.name = "osImage",
       .kind = Kind::object,
       .about = "The image to boot.",
       .otherwise = "that of the release",
       .members = gcp_image_fields},
      {.name = "tags", .is_list = true, .about = "Network tags of the machines."},
      {.name = "secureBoot",
       .about = "Whether machines boot only what is signed.",
       .otherwise = "Disabled",
       .allowed = "Enabled|Disabled"},
      {.name = "onHostMaintenance",
       .about = "What becomes of machines when their host is maintained; Terminate with confidentialCompute.",
       .otherwise = "Migrate",
       .allowed = "Migrate|Terminate"},
      {.name = "confidentialCompute",
       .about = "Whether the host cannot read the machines' memory.",
       .otherwise = "Disabled",
       .allowed = "Enabled|Disabled"},
      {.name = "serviceAccount", .about = "The account that machines act as.", .otherwise = "one of the cluster's own"},
  };
  return fields;
}

Fields gcp_fields() {
  static constexpr Field fields[] = {
      {.name = "projectID", .about = "The project.", .is_required = true, .empty = Empty::written},
      {.name = "region", .about = "The region, as in us-east1.", .is_required = true, .empty = Empty::written},
      {.name = "network", .about = "A network that is there already.", .otherwise = "one of the cluster's own"},
      {.name = "networkProjectID", .about = "The project of that network.", .otherwise = "projectID"},
      {.name = "controlPlaneSubnet", .about = "The subnet of the control plane in that network."},
      {.name = "computeSubnet", .about = "The subnet of the other machines in that network."},
      {.name = "userLabels",
       .kind = Kind::object,
       .is_list = true,
       .about = "Labels for everything that is made, 32 at most.",
       .members = gcp_label_fields},
      {.name = "userTags",
       .kind = Kind::object,
       .is_list = true,
       .about = "Tags for everything that is made; they have to be there already.",
       .members = gcp_tag_fields},
      {.name = "userProvisionedDNS",
       .about = "Whether the user makes the DNS records.",
       .otherwise = "Disabled",
       .allowed = "Enabled|Disabled"},
      machines_of_all_pools(gcp_pool_fields),
  };
  return fields;
}

}  // namespace slipway::config
