#include "provider/libvirt/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>

namespace slipway::provider::libvirt {

namespace {

constexpr const char* library_name = "libvirt.so.0";

Result<Library> load() {
  void* handle = ::dlopen(library_name, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return error(Code::unavailable, "libvirt cannot be loaded: {} (install libvirt0)", ::dlerror());
  Library library;
  std::string missing;
  const auto take = [&](const char* name, auto& function) {
    void* found = ::dlsym(handle, name);
    if (!found) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
  };
#define SLIPWAY_LIBVIRT_TAKE(name) take(#name, library.name);
  SLIPWAY_LIBVIRT_FUNCTIONS(SLIPWAY_LIBVIRT_TAKE)
#undef SLIPWAY_LIBVIRT_TAKE
  if (!missing.empty()) {
    return error(Code::unavailable, "{}: function {} is missing (install a newer libvirt0)", library_name, missing);
  }
  if (library.virInitialize() < 0) return to_error("initializing libvirt", last_failure(library));
  // Without a function of ours, libvirt prints each error.
  library.virSetErrorFunc(nullptr, [](void*, virErrorPtr) {});
  // Connections use the loop that is registered when they are opened.
  if (library.virEventRegisterDefaultImpl() < 0) return to_error("preparing libvirt", last_failure(library));
  return library;
}

// The loop of libvirt is one for the process. Never destroyed: a thread of a connection that is not closed may use it until the
// program ends.
struct Loop {
  std::mutex mutex;
  int users = 0;
  int timer = -1;
  std::thread thread;
};

Loop& the_loop() {
  static Loop& loop = *new Loop;
  return loop;
}

}  // namespace

Result<const Library*> load_library() {
  static const Result<Library> loaded = load();
  if (!loaded.ok()) return loaded.error();
  return &loaded.value();
}

Failure last_failure(const Library& library) {
  const virErrorPtr last = library.virGetLastError();
  if (!last) return {.code = VIR_ERR_INTERNAL_ERROR, .text = "unknown error"};
  Failure failure{.code = last->code, .text = last->message ? last->message : "unknown error"};
  if (last->code == VIR_ERR_SYSTEM_ERROR) failure.error_number = last->int1;
  // Errors about XML go on with the document.
  failure.text.erase(std::min(failure.text.find('\n'), failure.text.size()));
  return failure;
}

Code code_of(const Failure& failure) {
  switch (failure.code) {
    case VIR_ERR_NO_DOMAIN:
    case VIR_ERR_NO_NETWORK:
    case VIR_ERR_NO_STORAGE_POOL:
    case VIR_ERR_NO_STORAGE_VOL: return Code::not_found;
    case VIR_ERR_DOM_EXIST:
    case VIR_ERR_NETWORK_EXIST:
    case VIR_ERR_STORAGE_VOL_EXIST:
    case VIR_ERR_STORAGE_POOL_BUILT:
    case VIR_ERR_RESOURCE_BUSY:
    // The state of the object does not permit the operation: it is active, or used by another operation.
    case VIR_ERR_OPERATION_INVALID: return Code::conflict;
    case VIR_ERR_AUTH_FAILED:
    case VIR_ERR_AUTH_CANCELLED:
    case VIR_ERR_AUTH_UNAVAILABLE:
    case VIR_ERR_OPERATION_DENIED:
    case VIR_ERR_ACCESS_DENIED: return Code::denied;
    case VIR_ERR_XML_ERROR:
    case VIR_ERR_XML_DETAIL:
    case VIR_ERR_XML_INVALID_SCHEMA:
    case VIR_ERR_CONFIG_UNSUPPORTED:
    case VIR_ERR_ARGUMENT_UNSUPPORTED:
    case VIR_ERR_OPERATION_UNSUPPORTED:
    case VIR_ERR_NO_SUPPORT:
    case VIR_ERR_NO_CONNECT:  // no driver for the URI
    case VIR_ERR_INVALID_ARG: return Code::invalid;
    case VIR_ERR_SYSTEM_ERROR: break;
    default: return Code::unavailable;
  }
  switch (failure.error_number) {
    case EACCES:
    case EPERM: return Code::denied;
    case EEXIST:
    case ENOTEMPTY:
    case EBUSY: return Code::conflict;
    default: return Code::unavailable;
  }
}

Error to_error(std::string_view doing, const Failure& failure) { return Error(code_of(failure), failure.text).context(doing); }

Result<EventLoop> EventLoop::run(const Library& library) {
  Loop& loop = the_loop();
  std::lock_guard lock(loop.mutex);
  if (loop.users == 0) {
    // A timer that never fires. When it is removed, the loop calls the second function, after it has freed everything else.
    const auto is_over = std::make_shared<std::atomic<bool>>(false);
    loop.timer = library.virEventAddTimeout(
        -1, [](int, void*) {}, new std::shared_ptr(is_over),
        [](void* flag) {
          const std::unique_ptr<std::shared_ptr<std::atomic<bool>>> own(static_cast<std::shared_ptr<std::atomic<bool>>*>(flag));
          **own = true;
        });
    if (loop.timer < 0) return to_error("starting the event loop of libvirt", last_failure(library));
    try {
      loop.thread = std::thread([&library, is_over] {
        while (!*is_over && library.virEventRunDefaultImpl() >= 0) {
        }
      });
    } catch (const std::system_error& failure) {
      library.virEventRemoveTimeout(loop.timer);
      return error(Code::unavailable, "starting a thread: {}", failure.what());
    }
  }
  ++loop.users;
  return EventLoop(library);
}

EventLoop::~EventLoop() {
  if (!library_) return;
  Loop& loop = the_loop();
  std::lock_guard lock(loop.mutex);
  if (--loop.users > 0) return;
  library_->virEventRemoveTimeout(loop.timer);
  loop.thread.join();
}

}  // namespace slipway::provider::libvirt
