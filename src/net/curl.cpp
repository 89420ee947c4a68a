#include "net/curl.h"

#include "base/check.h"

#include <dlfcn.h>
#include <string>
#include <type_traits>

namespace slipway::net {

namespace {

constexpr const char* library_name = "libcurl.so.4";

Result<Curl> load() {
  void* library = ::dlopen(library_name, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return error(Code::unavailable, "libcurl cannot be loaded: {} (install libcurl)", ::dlerror());
  Curl curl;
  std::string missing;
  const auto take = [&](const char* name, auto& function) {
    void* found = ::dlsym(library, name);
    if (!found) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
  };
  take("curl_global_init", curl.global_init);
  take("curl_easy_init", curl.easy_init);
  take("curl_easy_cleanup", curl.easy_cleanup);
  take("curl_easy_reset", curl.easy_reset);
  take("curl_easy_setopt", curl.easy_setopt);
  take("curl_easy_getinfo", curl.easy_getinfo);
  take("curl_easy_strerror", curl.easy_strerror);
  take("curl_multi_init", curl.multi_init);
  take("curl_multi_cleanup", curl.multi_cleanup);
  take("curl_multi_add_handle", curl.multi_add_handle);
  take("curl_multi_remove_handle", curl.multi_remove_handle);
  take("curl_multi_perform", curl.multi_perform);
  take("curl_multi_info_read", curl.multi_info_read);
  take("curl_multi_poll", curl.multi_poll);
  take("curl_multi_wakeup", curl.multi_wakeup);
  take("curl_slist_append", curl.slist_append);
  take("curl_slist_free_all", curl.slist_free_all);
  if (!missing.empty()) {
    return error(Code::unavailable, "{}: function {} is missing (install a newer libcurl)", library_name, missing);
  }
  CHECK(curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
  return curl;
}

}  // namespace

Result<const Curl*> load_curl() {
  static const Result<Curl> loaded = load();
  if (!loaded.ok()) return loaded.error();
  return &loaded.value();
}

}  // namespace slipway::net
