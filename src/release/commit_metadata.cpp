#include "release/commit_metadata.h"

#include "base/text.h"

namespace slipway::release {

Result<std::string> commit_metadata(const sys::Context& context, sys::Runner& runner, const std::string& repository,
                                    const std::string& commit, const std::string& key) {
  const std::string printed = TRY(sys::run_checked(
      runner, context, {.argv = {"ostree", "--repo=" + repository, "show", "--print-metadata-key=" + key, commit}}));
  // Printed as a GVariant: '0.1.0'
  const std::string_view text = trim(printed);
  if (text.size() < 2 || !text.starts_with('\'') || !text.ends_with('\''))
    return error(Code::not_found, "{}: {} of {} is {}, not a text", repository, key, commit, text);
  return std::string(text.substr(1, text.size() - 2));
}

}  // namespace slipway::release
