#include "provider/libvirt/connection.h"

#include "provider/libvirt/connection_state.h"

namespace slipway::provider::libvirt {

namespace {

// Seconds between two keepalive messages, and the number of messages without an answer after which the connection ends. A host
// that is busy with the start of many machines may need more than the half minute that is usual.
constexpr int keepalive_interval = 10;
constexpr unsigned keepalive_count = 6;

std::string_view why_closed(int reason) {
  switch (reason) {
    case VIR_CONNECT_CLOSE_REASON_EOF: return "the daemon closed it";
    case VIR_CONNECT_CLOSE_REASON_KEEPALIVE: return "the daemon did not answer";
    case VIR_CONNECT_CLOSE_REASON_CLIENT: return "this program closed it";
    default: return "an error of the connection";
  }
}

void on_close(virConnectPtr, int reason, void* opaque) {
  Mailbox& mailbox = **static_cast<std::shared_ptr<Mailbox>*>(opaque);
  {
    std::lock_guard lock(mailbox.mutex);
    mailbox.why_closed = why_closed(reason);
  }
  mailbox.changed.notify_all();
}

// What users can do if a connection fails.
std::string hint(const std::string& uri, Code code) {
  const bool is_local = is_on_this_computer(uri);
  if (code == Code::denied && is_local) return "run as root, or add your user to the group libvirt";
  if (code == Code::unavailable && is_local) return "install and start libvirtd: apt-get install libvirt-daemon-system";
  return fmt::format("check with: virsh -c {} version", uri);
}

}  // namespace

// The path of a URI for another computer follows its host.
bool is_on_this_computer(std::string_view uri) { return uri.find(":///") != std::string_view::npos; }

Connection::State::~State() {
  if (!connection) return;
  libvirt.virConnectUnregisterCloseCallback(connection, &on_close);
  libvirt.virConnectClose(connection);
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& uri) {
  const Library& libvirt = *TRY(load_library());
  auto state = std::make_unique<State>(libvirt, uri, TRY(EventLoop::run(libvirt)));
  state->connection = libvirt.virConnectOpen(uri.c_str());
  if (!state->connection) {
    const Error why = state->failed("connecting to " + uri);
    return error(why.code(), "{} ({})", why.message(), hint(uri, why.code()));
  }
  // The drivers inside of this process have neither of these.
  auto mailbox = std::make_unique<std::shared_ptr<Mailbox>>(state->mailbox);
  const auto free_mailbox = [](void* opaque) { delete static_cast<std::shared_ptr<Mailbox>*>(opaque); };
  if (libvirt.virConnectRegisterCloseCallback(state->connection, &on_close, mailbox.get(), free_mailbox) == 0) mailbox.release();
  libvirt.virConnectSetKeepAlive(state->connection, keepalive_interval, keepalive_count);
  return std::unique_ptr<Connection>(new Connection(std::move(state)));
}

Connection::Connection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Connection::~Connection() = default;

const std::string& Connection::uri() const { return state_->uri; }

bool Connection::is_open() const {
  std::lock_guard lock(state_->mailbox->mutex);
  return state_->mailbox->why_closed.empty();
}

Result<HostFacts> Connection::host_facts() {
  const Library& libvirt = state_->libvirt;
  virNodeInfo node{};
  if (libvirt.virNodeGetInfo(state_->connection, &node) < 0) return state_->failed("reading the facts of the host");
  HostFacts facts{.processors = static_cast<int>(node.cpus)};
  // Memory of caches is free for machines. virNodeGetFreeMemory does not count it, but the test driver has nothing else.
  const auto read = [&](virNodeMemoryStatsPtr values, int* count) {
    return libvirt.virNodeGetMemoryStats(state_->connection, VIR_NODE_MEMORY_STATS_ALL_CELLS, values, count, 0) == 0;
  };
  int count = 0;
  if (!read(nullptr, &count)) {
    facts.free_memory = libvirt.virNodeGetFreeMemory(state_->connection);
    if (facts.free_memory == 0) return state_->failed("reading the free memory of the host");
    return facts;
  }
  std::vector<virNodeMemoryStats> values(static_cast<std::size_t>(count));
  if (!read(values.data(), &count)) return state_->failed("reading the free memory of the host");
  for (const virNodeMemoryStats& value : values) {
    const std::string_view field = value.field;
    const bool is_free =
        field == VIR_NODE_MEMORY_STATS_FREE || field == VIR_NODE_MEMORY_STATS_BUFFERS || field == VIR_NODE_MEMORY_STATS_CACHED;
    if (is_free) facts.free_memory += value.value * 1024;
  }
  return facts;
}

Result<bool> Connection::offers(const std::string& type) {
  const Library& libvirt = state_->libvirt;
  char* xml = libvirt.virConnectGetDomainCapabilities(state_->connection, nullptr, "x86_64", nullptr, type.c_str(), 0);
  if (!xml) {
    const Error why = state_->failed(fmt::format("asking the host for virtualization of type {}", type));
    if (why.code() == Code::invalid) return false;
    return why;
  }
  std::free(xml);
  return true;
}

std::string name_in(std::string_view xml) {
  constexpr std::string_view tag = "<name>";
  const std::size_t begin = xml.find(tag);
  if (begin == std::string_view::npos) return "without a name";
  xml.remove_prefix(begin + tag.size());
  return std::string(xml.substr(0, xml.find('<')));
}

}  // namespace slipway::provider::libvirt
