#include "assets/ignition/size_report.h"

#include "assets/ignition/pointer.h"
#include "base/text.h"
#include "ignition/parse.h"

#include <algorithm>

namespace slipway::assets {

namespace {

std::size_t text_size(const ignition::Config& config) { return ignition_text(config).size(); }

// Measures each entry as the only one in `list`, which is a member of the otherwise empty `config`.
template <class Entry>
void measure(std::vector<SizedEntry>& sizes, const std::vector<Entry>& entries, std::vector<Entry>& list,
             const ignition::Config& config, std::string Entry::*name) {
  const std::size_t nothing = text_size({});
  for (const Entry& entry : entries) {
    list = {entry};
    sizes.push_back({entry.*name, text_size(config) - nothing});
  }
}

}  // namespace

std::vector<SizedEntry> sized_entries(const ignition::Config& config) {
  std::vector<SizedEntry> sizes;
  ignition::Config files, units;
  measure(sizes, config.storage.files, files.storage.files, files, &ignition::File::path);
  measure(sizes, config.systemd.units, units.systemd.units, units, &ignition::Unit::name);
  std::ranges::stable_sort(sizes, std::greater(), &SizedEntry::bytes);
  return sizes;
}

std::string size_report(const ignition::Config& config, std::size_t rows) {
  const std::size_t whole = text_size(config);
  const std::vector<SizedEntry> sizes = sized_entries(config);
  std::string text = fmt::format("{:>9}  100 %  total, {} files and {} units\n", human_size(whole), config.storage.files.size(),
                                 config.systemd.units.size());
  for (std::size_t i = 0; i < std::min(rows, sizes.size()); ++i) {
    text += fmt::format("{:>9}  {:>3} %  {}\n", human_size(sizes[i].bytes), 100 * sizes[i].bytes / whole, sizes[i].name);
  }
  return text;
}

}  // namespace slipway::assets
