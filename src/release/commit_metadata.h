// What os/commit records in an OSTree commit of the machine OS: "version" of the release, "slipway.image" (the digest of the
// image).
#pragma once

#include "sys/context.h"
#include "sys/runner.h"

#include <string>
#include <string_view>

namespace slipway::release {

// The ref of the machine OS in the OSTree repository of a release.
inline constexpr std::string_view machine_os_ref = "slipway/machine-os";

// The text that a commit has under a key.
//
//   commit  a digest, or the name of a ref
//   errors  not_found: the value is no text; unavailable: no such repository, commit or key, with the message of ostree; those of
//           the runner
Result<std::string> commit_metadata(const sys::Context& context, sys::Runner& runner, const std::string& repository,
                                    const std::string& commit, const std::string& key);

}  // namespace slipway::release
