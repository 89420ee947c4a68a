// Declares the rules, for the table in rules.cpp and the files that define the rules.
#pragma once

#include "diagnosis/bundle.h"
#include "diagnosis/finding.h"

#include <optional>

namespace slipway::diagnosis {

using Found = std::optional<Finding>;

// rules_of_machines.cpp
Found ignition_refused(const Bundle& bundle);
Found ignition_config_invalid(const Bundle& bundle);
Found machine_not_booted(const Bundle& bundle);
Found address_in_use(const Bundle& bundle);
Found dns_wrong(const Bundle& bundle);
Found config_server_unreachable(const Bundle& bundle);

// rules_of_consoles.cpp
Found machine_reports(const Bundle& bundle);

// rules_of_images.cpp
Found image_missing(const Bundle& bundle);
Found digest_mismatch(const Bundle& bundle);
Found registry_unreachable(const Bundle& bundle);

// rules_of_bootstrap.cpp
Found disk_full(const Bundle& bundle);
Found inotify_exhausted(const Bundle& bundle);
Found assets_expired(const Bundle& bundle);
Found clock_wrong(const Bundle& bundle);
Found port_taken(const Bundle& bundle);
Found os_image_build_failed(const Bundle& bundle);

// rules_of_cluster.cpp
Found manifest_refused(const Bundle& bundle);
Found operator_crashes(const Bundle& bundle);

}  // namespace slipway::diagnosis
