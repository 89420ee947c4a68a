#include "machineconfig/os_build_files.h"

#include <array>
#include <utility>

namespace slipway::machineconfig {

namespace {

constexpr sys::Mode readable = 0644;
// Those of a build (node/os_build/build.h). Another one is unavailable, so that the build is tried again.
constexpr std::array codes = {Code::invalid, Code::denied, Code::conflict, Code::internal, Code::unavailable};

Result<std::optional<Json>> read_json(sys::Files& files, const std::string& path) {
  const std::optional<std::string> text = TRY(files.read_if_exists(path));
  if (!text) return std::optional<Json>();
  return std::optional<Json>(TRY(parse_json(*text, path)));
}

template <class T>
Result<std::optional<T>> read_record(sys::Files& files, const std::string& path,
                                     Result<T> (*parse)(const Json& value, std::string_view name)) {
  const std::optional<Json> value = TRY(read_json(files, path));
  if (!value) return std::optional<T>();
  return std::optional<T>(TRY(parse(*value, path)));
}

}  // namespace

Result<std::optional<OsBuild>> read_os_build(sys::Files& files, const std::string& path) {
  return read_record(files, path, parse_os_build);
}

Result<std::optional<OsImage>> read_os_image(sys::Files& files, const std::string& path) {
  return read_record(files, path, parse_os_image);
}

Result<> write_os_image(sys::Files& files, const std::string& path, const OsImage& image) {
  return files.write(path, emit_json(to_json(image), JsonStyle::pretty), readable);
}

Result<> write_os_failure(sys::Files& files, const std::string& path, const Error& why) {
  const Json record = {{"code", to_string(why.code())}, {"message", why.message()}};
  return files.write(path, emit_json(record, JsonStyle::pretty), readable);
}

Result<std::optional<Error>> read_os_failure(sys::Files& files, const std::string& path) {
  const std::optional<Json> value = TRY(read_json(files, path));
  if (!value) return std::optional<Error>();
  const std::string name(TRY(require_string(*value, {"code"}).context(path)));
  std::string message(TRY(require_string(*value, {"message"}).context(path)));
  for (const Code code : codes) {
    if (name == to_string(code)) return std::optional<Error>(Error(code, std::move(message)));
  }
  return std::optional<Error>(Error(Code::unavailable, std::move(message)));
}

}  // namespace slipway::machineconfig
