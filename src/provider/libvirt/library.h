// The functions of libvirt that slipway uses. The first connection loads the library, so that slipway runs on hosts without it.
// Their descriptions: https://libvirt.org/html/index.html. For this folder only.
#pragma once

#include "base/result.h"

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include <string>
#include <string_view>
#include <utility>

namespace slipway::provider::libvirt {

#define SLIPWAY_LIBVIRT_FUNCTIONS(each)                                                                                         \
  each(virInitialize) each(virGetLastError) each(virSetErrorFunc) each(virEventRegisterDefaultImpl) each(                       \
      virEventRunDefaultImpl) each(virEventAddTimeout) each(virEventRemoveTimeout) each(virConnectOpen) each(virConnectClose)   \
      each(virConnectSetKeepAlive) each(virConnectRegisterCloseCallback) each(virConnectUnregisterCloseCallback) each(          \
          virConnectDomainEventRegisterAny) each(virConnectDomainEventDeregisterAny) each(virConnectGetDomainCapabilities)      \
          each(virNodeGetInfo) each(virNodeGetFreeMemory) each(virNodeGetMemoryStats) each(virConnectListAllStoragePools) each( \
              virStoragePoolLookupByName) each(virStoragePoolFree) each(virStoragePoolGetName) each(virStoragePoolGetXMLDesc)   \
              each(virStoragePoolGetInfo) each(virStoragePoolIsActive) each(virStoragePoolDefineXML) each(virStoragePoolBuild)  \
                  each(virStoragePoolCreate) each(virStoragePoolSetAutostart) each(virStoragePoolRefresh)                       \
                      each(virStoragePoolDestroy) each(virStoragePoolDelete) each(virStoragePoolUndefine)                       \
                          each(virStoragePoolNumOfVolumes) each(virStoragePoolListAllVolumes) each(virStorageVolLookupByName)   \
                              each(virStorageVolFree) each(virStorageVolGetName) each(virStorageVolGetPath)                     \
                                  each(virStorageVolGetXMLDesc) each(virStorageVolCreateXML) each(virStorageVolUpload) each(    \
                                      virStorageVolDownload) each(virStorageVolDelete) each(virStreamNew) each(virStreamFree)   \
                                      each(virStreamSend) each(virStreamRecv) each(virStreamFinish) each(virStreamAbort)        \
                                          each(virConnectListAllNetworks) each(virNetworkLookupByName) each(virNetworkFree)     \
                                              each(virNetworkGetName) each(virNetworkGetXMLDesc) each(virNetworkIsActive)       \
                                                  each(virNetworkDefineXML) each(virNetworkCreate) each(virNetworkSetAutostart) \
                                                      each(virNetworkDestroy) each(virNetworkUndefine)                          \
                                                          each(virNetworkGetDHCPLeases) each(virNetworkDHCPLeaseFree)           \
                                                              each(virConnectListAllDomains) each(virDomainLookupByName)        \
                                                                  each(virDomainFree) each(virDomainGetName)                    \
                                                                      each(virDomainGetXMLDesc) each(virDomainGetState)         \
                                                                          each(virDomainIsActive) each(virDomainDefineXML)      \
                                                                              each(virDomainCreateXML) each(virDomainCreate)    \
                                                                                  each(virDomainSetAutostart)                   \
                                                                                      each(virDomainDestroy)                    \
                                                                                          each(virDomainUndefineFlags)

struct Library {
#define SLIPWAY_LIBVIRT_MEMBER(name) decltype(&::name) name = nullptr;
  SLIPWAY_LIBVIRT_FUNCTIONS(SLIPWAY_LIBVIRT_MEMBER)
#undef SLIPWAY_LIBVIRT_MEMBER
};

// The first call loads and initializes libvirt, which stays loaded until the program ends. libvirt then prints no errors.
// Threads: any. errors: unavailable: libvirt is not installed or lacks a function
Result<const Library*> load_library();

// Why a call of libvirt failed.
struct Failure {
  int code = VIR_ERR_OK;
  int error_number = 0;  // errno, if a system call of the daemon failed
  std::string text{};
};

// Of the last call of this thread. To be read before another call, also before an object is freed.
Failure last_failure(const Library& library);

// What a failure is for callers (connection.h).
Code code_of(const Failure& failure);

// "DOING: TEXT OF LIBVIRT"
Error to_error(std::string_view doing, const Failure& failure);

// Runs the event loop of libvirt in a thread of its own while at least one object exists. Each connection has one: libvirtd
// closes connections that do not answer its keepalive messages, and only the event loop answers them.
class EventLoop {
 public:
  // errors: unavailable: the thread cannot be started
  static Result<EventLoop> run(const Library& library);
  EventLoop(EventLoop&& other) noexcept : library_(std::exchange(other.library_, nullptr)) {}
  EventLoop& operator=(EventLoop&& other) noexcept { return std::swap(library_, other.library_), *this; }
  // Returns when the loop has freed everything that was left to it.
  ~EventLoop();

 private:
  explicit EventLoop(const Library& library) : library_(&library) {}

  const Library* library_;
};

}  // namespace slipway::provider::libvirt
