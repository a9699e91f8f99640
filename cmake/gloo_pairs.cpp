// Whether a class of ours can derive from this Gloo's TCP pairs: headers and library agree.

#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/pair.h>
#include <malloc.h>

namespace tcp = gloo::transport::tcp;

struct Pair : tcp::Pair {
  using tcp::Pair::Pair;
  static bool fits(tcp::Pair& of_library) {
    auto& pair = static_cast<Pair&>(of_library);
    int listens = 0;
    socklen_t size = sizeof(listens);
    // Memory is given out in steps of 16 bytes, less 8 that are used as well.
    return pair.state_ == LISTENING &&
           getsockopt(pair.fd_, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens == 1 &&
           pair.timeout_ == std::chrono::milliseconds(4321) && pair.rank_ == 1 && !pair.is_client_ &&
           pair.tx_.empty() && pair.ex_ == nullptr && malloc_usable_size(&pair) >= sizeof(tcp::Pair) &&
           malloc_usable_size(&pair) <= sizeof(tcp::Pair) + 15;
  }
  // What real/backend/gloo/guarded_device.cpp does.
  void take(int connection) {
    device_->unregisterDescriptor(fd_, this);
    state_ = INITIALIZING;
    fd_ = connection;
    handleConnected();
  }
};

int main() {
  auto take = &Pair::take;
  const auto device = std::make_shared<tcp::Device>(tcp::CreateDeviceAttr(tcp::attr("127.0.0.1")));
  const auto context = std::make_shared<tcp::Context>(device, 0, 2);
  context->setTimeout(std::chrono::milliseconds(4321));
  return take != nullptr && Pair::fits(static_cast<tcp::Pair&>(*context->createPair(1))) ? 0 : 1;
}
