// What the files that implement Connection share.
#pragma once

#include "provider/libvirt/connection.h"
#include "provider/libvirt/library.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string_view>
#include <utility>

namespace slipway::provider::libvirt {

// Frees an object of libvirt.
template <auto free>
struct Freed {
  const Library* library = nullptr;

  template <class Object>
  void operator()(Object* object) const {
    (library->*free)(object);
  }
};

using PoolHandle = std::unique_ptr<virStoragePool, Freed<&Library::virStoragePoolFree>>;
using VolumeHandle = std::unique_ptr<virStorageVol, Freed<&Library::virStorageVolFree>>;
using NetworkHandle = std::unique_ptr<virNetwork, Freed<&Library::virNetworkFree>>;
using DomainHandle = std::unique_ptr<virDomain, Freed<&Library::virDomainFree>>;

// A text that libvirt allocated; empty if it is null.
inline std::string take_text(char* text) {
  std::string taken = text ? text : "";
  std::free(text);
  return taken;
}

// Receives what the event loop reports about one connection.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::string why_closed;  // empty: the connection is open
};

struct Connection::State {
  State(const Library& library, std::string its_uri, EventLoop its_loop)
      : libvirt(library), uri(std::move(its_uri)), loop(std::move(its_loop)) {}
  ~State();

  Error failed(std::string_view doing) const { return to_error(doing, last_failure(libvirt)); }

  // Null if the object does not exist.
  Result<PoolHandle> pool(const std::string& name) const;
  Result<NetworkHandle> network(const std::string& name) const;
  Result<DomainHandle> domain(const std::string& name) const;
  Result<VolumeHandle> volume(virStoragePoolPtr pool, const std::string& name) const;
  // errors: not_found: neither the pool nor the volume may be missing
  Result<VolumeHandle> existing_volume(const std::string& pool_name, const std::string& name) const;

  const Library& libvirt;
  const std::string uri;
  const EventLoop loop;
  virConnectPtr connection = nullptr;
  const std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();
};

// All objects that a list function of libvirt returns: list(&objects) returns their number, or -1.
template <class Handle, class List>
Result<std::vector<Handle>> list_all(const Library& libvirt, std::string_view doing, const List& list) {
  typename Handle::pointer* objects = nullptr;
  const int count = list(&objects);
  if (count < 0) return to_error(doing, last_failure(libvirt));
  std::vector<Handle> handles;
  for (int i = 0; i < count; ++i) handles.push_back(Handle(objects[i], {&libvirt}));
  std::free(objects);
  return handles;
}

// The error of creating an object. libvirt has codes for a name that is in use, but its drivers return them rarely, so the caller
// looks the name up.
template <class Handle>
Error definition_error(Error why, const Result<Handle>& existing) {
  if (why.code() != Code::unavailable || !existing.ok() || !existing.value()) return why;
  return Error(Code::conflict, why.message());
}

// The content of the first element `name` of a document, which is the name of the object in all documents of libvirt.
std::string name_in(std::string_view xml);

}  // namespace slipway::provider::libvirt
