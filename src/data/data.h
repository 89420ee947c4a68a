// The embedded files of data/: scripts, units, manifests and templates for machines and clusters.
#pragma once

#include <span>
#include <string_view>

namespace slipway::data {

struct File {
  std::string_view path;  // relative to its folder in data/: "files/usr/local/bin/bootkube.sh"
  std::string_view content;
};

// The files of each folder in data/, sorted by path.
std::span<const File> assist();              // of the assisted installation service (data/assist/README.md)
std::span<const File> bootstrap();           // for the bootstrap machine's Ignition config (data/bootstrap/README.md)
std::span<const File> bootstrap_variants();  // additions for some platforms (data/bootstrap-variants/README.md)
std::span<const File> cluster();             // the page of `slipway timeline`
std::span<const File> command_line();        // completion scripts, an example install-config (data/command-line/README.md)
std::span<const File> image_mode();          // manifests for users to complete (data/image-mode/README.md)
std::span<const File> machine_config();      // templates of MachineConfigs (data/machine-config/README.md)
std::span<const File> os_update();           // units that end the trial of an OS (data/os-update/README.md)
std::span<const File> manifests();           // of the release: images/manifests
std::span<const File> components();          // manifests, static pods and configs for render commands
std::span<const File> page();                // the web page, compressed: web/
std::span<const File> provider();            // scripts that providers run

// The content of a file. A missing file is a bug and ends the program.
std::string_view content(std::span<const File> folder, std::string_view path);

}  // namespace slipway::data
