// Images that a machine has from the beginning: a copy of a folder that containerd made once (os/preload), by hard links.
#pragma once

#include "base/result.h"
#include "sys/context.h"
#include "sys/files.h"
#include "sys/runner.h"

#include <string>

namespace slipway::provider::local {

// Gives a machine that is off the folder `template_folder` as lib/containerd below its /var. What containerd writes in place,
// its databases, is copied; everything else it only adds or removes.
//
//   errors   conflict: its containerd has content already; unavailable: what cp says, for instance another file system
//   time     a fraction of a second: it depends on the number of files, not on their size
Result<> preload_images(const sys::Context& context, sys::Runner& runner, sys::Files& files, const std::string& template_folder,
                        const std::string& var_folder);

}  // namespace slipway::provider::local
