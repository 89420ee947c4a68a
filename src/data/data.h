// The files of data/ as the program carries them: scripts, units, manifests and templates that end up on machines and in
// clusters.
#pragma once

#include <span>
#include <string_view>

namespace slipway::data {

struct File {
  std::string_view path;  // below its folder of data/: "files/usr/local/bin/bootkube.sh"
  std::string_view content;
};

// Each folder of data/, sorted by path.
std::span<const File> bootstrap();           // what the bootstrap machine's Ignition config has (data/bootstrap/README.md)
std::span<const File> bootstrap_variants();  // more of it for some platforms (data/bootstrap-variants/README.md)
std::span<const File> cluster();             // the page of `slipway timeline`
std::span<const File> command_line();        // what `slipway` prints of itself (data/command-line/README.md)
std::span<const File> machine_config();      // templates of MachineConfigs (data/machine-config/README.md)
std::span<const File> manifests();           // of the release: images/manifests
std::span<const File> components();          // manifests, static pods and configs that render commands fill in
std::span<const File> provider();            // scripts that providers run

// The content of a file that has to be there; a path that is not is a bug and ends the program.
std::string_view content(std::span<const File> folder, std::string_view path);

}  // namespace slipway::data
