// What commands that read a release share: the argument IMAGE|DIR and the options for registries.
#pragma once

#include "cli/command.h"
#include "release/image_source.h"
#include "release/reference.h"
#include "release/registry_client.h"

#include <memory>
#include <vector>

namespace slipway::cli {

// The positional and the options, as rows of the table of commands.
Option release_positional();
std::vector<Option> registry_option_rows();

// errors: those of reading the file of --registry-config; invalid: with all problems in it
Result<release::RegistryOptions> registry_options(const Environment& environment, const Arguments& arguments);

struct ReleaseSource {
  std::unique_ptr<release::ImageSource> images;
  release::Reference reference;
};

// How registries are accessed.
struct RegistryAccess {
  std::vector<release::Mirror> mirrors{};
  int attempts_by_digest = 4;  // fewer where the content is optional
};

// A folder is an image layout with an image named "release"; anything else is an image reference. The result uses files and http
// of the environment. errors: invalid: neither a layout nor an image reference; those of OciLayout::open
Result<ReleaseSource> open_release(const Environment& environment, const Arguments& arguments, const std::string& name,
                                   const RegistryAccess& asking = {});

// The same for the positional.
Result<ReleaseSource> open_release(const Environment& environment, const Arguments& arguments);

}  // namespace slipway::cli
