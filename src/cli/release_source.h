// What commands that read a release have in common: the argument IMAGE|DIR and the options for registries.
#pragma once

#include "cli/command.h"
#include "release/image_source.h"
#include "release/reference.h"
#include "release/registry_client.h"

#include <memory>
#include <vector>

namespace slipway::cli {

// The positional and the options, for rows of the table of commands.
Option release_positional();
std::vector<Option> registry_option_rows();

// errors: of reading the file of --registry-config, invalid with every problem in it
Result<release::RegistryOptions> registry_options(const Environment& environment, const Arguments& arguments);

struct ReleaseSource {
  std::unique_ptr<release::ImageSource> images;
  release::Reference reference;
};

// How registries are asked.
struct RegistryAccess {
  std::vector<release::Mirror> mirrors{};
  int attempts_by_digest = 4;  // fewer where the content can be done without
};

// A folder is an image layout with an image named "release"; everything else is an image reference. Uses the environment's
// files and http as long as it lives. errors: invalid: the argument is neither; those of OciLayout::open
Result<ReleaseSource> open_release(const Environment& environment, const Arguments& arguments, const std::string& name,
                                   const RegistryAccess& asking = {});

// The same for what the positional names.
Result<ReleaseSource> open_release(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::cli
