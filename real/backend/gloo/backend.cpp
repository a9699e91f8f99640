#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gloo/config.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/transport/tcp/device.h>
#if GLOO_USE_REDIS
#define HIREDIS_NESTED_INCLUDE
#include <gloo/rendezvous/redis_store.h>
#endif
#include <ifaddrs.h>
#include <sys/socket.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/gloo/parts.hpp"
#include "real/store/tcp_store.hpp"

namespace ringside {
namespace {

/// Names of this machine's network interfaces that have an address.
std::vector<std::string> network_interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) {
    return {};
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(first, ::freeifaddrs);
  std::vector<std::string> names;
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    const bool internet = entry->ifa_addr != nullptr &&
                          (entry->ifa_addr->sa_family == AF_INET || entry->ifa_addr->sa_family == AF_INET6);
    if (internet && std::ranges::find(names, entry->ifa_name) == names.end()) {
      names.emplace_back(entry->ifa_name);
    }
  }
  return names;
}

/// Throws Error{environment} that lists the interfaces there are when `interface` is none of them.
void require_network_interface(const std::string& interface) {
  const std::vector<std::string> known = network_interfaces();
  if (std::ranges::find(known, interface) == known.end()) {
    throw lacking("this machine has no network interface '{}' with an address; it has: {}", interface,
                  fmt::join(known, ", "));
  }
}

/// Gloo's collectives keep slots of their own through a prefix in the high bits; ours is 0.
constexpr std::uint64_t kSlot = 0;

/// What Gloo says, without the source location in front.
std::string gloo_text(const std::exception& exception) {
  const std::string text = exception.what();
  const std::size_t end = text.starts_with('[') ? text.find("] ") : std::string::npos;
  return end == std::string::npos ? text : text.substr(end + 2);
}

class GlooTransfer final : public Transfer {
 public:
  enum class Side { send, receive };

  GlooTransfer(const RankPlace& place, ::gloo::Context& context, Rank peer, Side side,
               std::span<std::byte> memory)
      : rank_(place.rank),
        peer_(peer),
        side_(side),
        timeout_(place.timeout),
        progress_(place.progress),
        // One buffer per message: Gloo promises one pending operation per buffer.
        buffer_(context.createUnboundBuffer(memory.data(), memory.size())) {}

  void start() override {
    converting_errors([this] {
      if (side_ == Side::send) {
        buffer_->send(peer_, kSlot, 0, buffer_->size);
      } else {
        buffer_->recv(peer_, kSlot, 0, buffer_->size);
      }
    });
  }

  void wait() override {
    converting_errors([this] {
      if (side_ == Side::send) {
        buffer_->waitSend(timeout_);
      } else {
        buffer_->waitRecv(timeout_);
      }
    });
    if (progress_ != nullptr) {
      progress_->step();
    }
  }

 private:
  template <typename Call>
  void converting_errors(const Call& call) {
    const auto start = std::chrono::steady_clock::now();
    try {
      call();
    } catch (const std::exception& exception) {
      if (std::chrono::steady_clock::now() - start >= timeout_) {
        throw PeerLost(peer_, PeerLost::How::late,
                       fmt::format("rank {} waited {} to {} rank {}", rank_, text_of(timeout_),
                                   side_ == Side::send ? "send to" : "receive from", peer_));
      }
      throw PeerLost(peer_, PeerLost::How::gone,
                     fmt::format("rank {} lost rank {}: {}", rank_, peer_, gloo_text(exception)));
    }
  }

  Rank rank_;
  Rank peer_;
  Side side_;
  std::chrono::milliseconds timeout_;
  Progress* progress_;
  std::unique_ptr<::gloo::transport::UnboundBuffer> buffer_;
};

class GlooTransport final : public Transport {
 public:
  GlooTransport(RankPlace place, std::shared_ptr<::gloo::Context> context)
      : place_(std::move(place)), context_(std::move(context)) {}

  Rank rank() const override { return place_.rank; }
  int num_ranks() const override { return place_.num_ranks; }
  std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) override {
    // Gloo's buffers are for both directions; a send only reads.
    auto* bytes = const_cast<std::byte*>(memory.data());
    return std::make_unique<GlooTransfer>(place_, *context_, target, GlooTransfer::Side::send,
                                          std::span(bytes, memory.size()));
  }
  std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) override {
    return std::make_unique<GlooTransfer>(place_, *context_, source, GlooTransfer::Side::receive, memory);
  }

 private:
  RankPlace place_;
  std::shared_ptr<::gloo::Context> context_;
};

std::shared_ptr<::gloo::transport::Device> make_device(const RankPlace& place) {
  ::gloo::transport::tcp::attr attributes;
  if (place.interface) {
    require_network_interface(*place.interface);
    attributes.iface = *place.interface;
  } else {
    attributes.hostname = "127.0.0.1";
  }
  try {
#if RINGSIDE_GLOO_GUARDED
    return make_guarded_device(attributes);
#else
    return ::gloo::transport::tcp::CreateDevice(attributes);
#endif
  } catch (const std::exception& exception) {
    throw lacking("Gloo cannot use {}: {}",
                  place.interface ? "network interface " + *place.interface : "the loopback address",
                  gloo_text(exception));
  }
}

[[noreturn]] void throw_unknown_rendezvous(const std::string& rendezvous) {
  throw bad_input("rendezvous '{}' must be file:///directory, redis://host:port or env://", rendezvous);
}

std::unique_ptr<::gloo::rendezvous::Store> make_file_store(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    throw lacking("the rendezvous directory {} cannot be made: {}", directory, error.message());
  }
  return std::make_unique<::gloo::rendezvous::FileStore>(directory);
}

std::unique_ptr<::gloo::rendezvous::Store> make_redis_store(const std::string& rendezvous,
                                                            const std::string& address) {
#if GLOO_USE_REDIS
  const std::size_t colon = address.rfind(':');
  const std::optional<int> port =
      parse_number<int>(address.substr(colon == std::string::npos ? address.size() : colon + 1));
  if (!port) {
    throw_unknown_rendezvous(rendezvous);
  }
  try {
    return std::make_unique<::gloo::rendezvous::RedisStore>(address.substr(0, colon), *port);
  } catch (const std::exception& exception) {
    throw lacking("no Redis server answers at {}: {}", address, gloo_text(exception));
  }
#else
  throw lacking("this Gloo was built without Redis; use a file:///directory rendezvous");
#endif
}

/// PyTorch's store, as Gloo wants one.
class TorchStore final : public ::gloo::rendezvous::Store {
 public:
  TorchStore(const TcpStorePlace& place, std::chrono::milliseconds timeout) : store_(place, timeout) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    store_.set(key, {data.data(), data.size()});
  }
  std::vector<char> get(const std::string& key) override {
    const std::string value = store_.get(key);
    return {value.begin(), value.end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) {
      static_cast<void>(store_.get(key));
    }
  }
  // The store has the same deadline itself.
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }

 private:
  TcpStore store_;
};

std::unique_ptr<::gloo::rendezvous::Store> make_store(const std::string& rendezvous,
                                                      std::chrono::milliseconds timeout) {
  constexpr std::string_view kFile = "file://";
  constexpr std::string_view kRedis = "redis://";
  if (rendezvous.starts_with(kFile) && rendezvous.size() > kFile.size() && rendezvous[kFile.size()] == '/') {
    return make_file_store(rendezvous.substr(kFile.size()));
  }
  if (rendezvous.starts_with(kRedis)) {
    return make_redis_store(rendezvous, rendezvous.substr(kRedis.size()));
  }
  if (rendezvous == kEnvironmentRendezvous) {
    return std::make_unique<TorchStore>(place_of_environment(), timeout);
  }
  throw_unknown_rendezvous(rendezvous);
}

/// A store whose waits end after `timeout`; Gloo's own default is half a minute, whatever was asked.
class ImpatientStore final : public ::gloo::rendezvous::Store {
 public:
  ImpatientStore(::gloo::rendezvous::Store& store, std::chrono::milliseconds timeout)
      : store_(store), timeout_(timeout) {}

  void set(const std::string& key, const std::vector<char>& data) override { store_.set(key, data); }
  std::vector<char> get(const std::string& key) override {
    wait({key});
    return store_.get(key);
  }
  void wait(const std::vector<std::string>& keys) override { store_.wait(keys, timeout_); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }

 private:
  ::gloo::rendezvous::Store& store_;
  std::chrono::milliseconds timeout_;
};

/// As `doctor` shows it: "0.5.0".
std::string version() {
  return fmt::format("{}.{}.{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH);
}

RankBackend join(const RankPlace& place) {
  std::shared_ptr<::gloo::transport::Device> device = make_device(place);
  const std::chrono::milliseconds meeting_timeout = place.meeting_timeout.value_or(place.timeout);
  const std::unique_ptr<::gloo::rendezvous::Store> store = make_store(place.rendezvous, meeting_timeout);
  ::gloo::rendezvous::PrefixStore group(place.group, *store);
  ImpatientStore impatient(group, meeting_timeout);
  auto context = std::make_shared<::gloo::rendezvous::Context>(place.rank, place.num_ranks);
  context->setTimeout(meeting_timeout);
  const auto began = std::chrono::steady_clock::now();
  try {
    context->connectFullMesh(impatient, device);
  } catch (const std::exception& exception) {
    const bool in_vain = std::chrono::steady_clock::now() - began >= meeting_timeout;
    throw Error(ErrorKind::peer_lost,
                fmt::format("rank {} did not meet the other {} ranks{} at {}: {}", place.rank,
                            place.num_ranks - 1, in_vain ? " within " + text_of(meeting_timeout) : "",
                            place.rendezvous, gloo_text(exception)));
  }
  context->setTimeout(place.timeout);
  RankBackend backend;
  backend.backend = Backend::gloo;
  backend.transport = std::make_unique<GlooTransport>(place, context);
  backend.progress = place.progress;
  backend.make_native = [context, rank = place.rank](const CollectiveCall& call,
                                                     std::span<std::byte> message) {
    return make_gloo_native(context, rank, call, message);
  };
  return backend;
}

}  // namespace

RegisteredBackend gloo_backend() {
  return {.backend = Backend::gloo,
          .native_unsupported = gloo_native_unsupported,
          .join = join,
          .describe = [] { return "CPU ranks over TCP, Gloo " + version(); },
          .library_version = version};
}

}  // namespace ringside
