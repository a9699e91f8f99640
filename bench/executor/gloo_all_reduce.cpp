// Gloo as its own users call it, and the limit of the transport under it. One rank per process:
//   gloo_all_reduce --rank R --ranks N --store DIRECTORY [--interface NAME] --budget SECONDS --bytes B...
// Rank 0 prints a line per variant and size (peer::print):
//   ring, bcube   gloo::allreduce, in place
//   shift         every rank sends 2(N-1) chunks of S/N to its right, as a ring does
//                 bytes, all of them at once: nothing is reduced, and nothing waits for what it is to pass on
//   both_ways     the same between ranks 0 and 1 alone (with two ranks, shift is that)
//   memcpy        every rank copies the message inside its own memory
//   add           every rank adds a second vector to the message: two reads and a write of each element
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/config.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "bench/executor/timed_calls.hpp"

namespace {

using Algorithm = gloo::AllreduceOptions::Algorithm;

struct Options {
  int rank = 0;
  int num_ranks = 0;
  std::string store;
  std::string interface;
  double budget = 0.2;
  std::vector<std::size_t> bytes;
};

std::shared_ptr<gloo::Context> join(const Options& options) {
  gloo::transport::tcp::attr attributes;
  if (options.interface.empty()) {
    attributes.hostname = "127.0.0.1";
  } else {
    attributes.iface = options.interface;
  }
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(options.store);
  auto context = std::make_shared<gloo::rendezvous::Context>(options.rank, options.num_ranks);
  context->connectFullMesh(store, device);
  return context;
}

peer::Ranks ranks_of(const std::shared_ptr<gloo::Context>& context) {
  peer::Ranks ranks;
  ranks.rank = context->rank;
  ranks.num_ranks = context->size;
  ranks.barrier = [options = std::make_shared<gloo::BarrierOptions>(context)] { gloo::barrier(*options); };
  ranks.maximum = [context](std::span<double> values) {
    gloo::AllreduceOptions options(context);
    options.setOutput(values.data(), values.size());
    options.setReduceFunction([](void* result, const void* a, const void* b, std::size_t count) {
      gloo::max<double>(result, a, b, count);
    });
    gloo::allreduce(options);
  };
  return ranks;
}

/// What a ring sends to one rank and receives from one: 2(N-1) chunks of S/N bytes, but all of them at once.
class Stream {
 public:
  Stream(gloo::Context& context, int source, std::span<float> incoming, int target, std::span<float> outgoing)
      : receive_(context.createUnboundBuffer(incoming.data(), incoming.size_bytes())),
        send_(context.createUnboundBuffer(outgoing.data(), outgoing.size_bytes())),
        source_(source),
        target_(target),
        num_chunks_(static_cast<std::size_t>(context.size)) {}

  void run() {
    constexpr std::uint64_t kSlot = 0;
    const std::size_t chunk = send_->size / num_chunks_;
    const std::size_t messages = 2 * (num_chunks_ - 1);
    for (std::size_t i = 0; i < messages; ++i) {
      receive_->recv(source_, kSlot, i % num_chunks_ * chunk, chunk);
      send_->send(target_, kSlot, i % num_chunks_ * chunk, chunk);
    }
    for (std::size_t i = 0; i < messages; ++i) {
      receive_->waitRecv();
      send_->waitSend();
    }
  }

 private:
  std::unique_ptr<gloo::transport::UnboundBuffer> receive_;
  std::unique_ptr<gloo::transport::UnboundBuffer> send_;
  int source_;
  int target_;
  std::size_t num_chunks_;
};

class Peer {
 public:
  explicit Peer(Options options)
      : options_(std::move(options)), context_(join(options_)), ranks_(ranks_of(context_)) {}

  void run() {
    for (const std::size_t bytes : options_.bytes) {
      own_ = peer::contribution(ranks_.rank, bytes / sizeof(float));
      message_ = own_;
      all_reduce("ring", Algorithm::RING);
      all_reduce("bcube", Algorithm::BCUBE);
      const int n = ranks_.num_ranks;
      const int rank = ranks_.rank;
      stream("shift", (rank + n - 1) % n, (rank + 1) % n);
      if (n > 2 && rank < 2) {
        stream("both_ways", 1 - rank, 1 - rank);
      } else if (n > 2) {
        time("both_ways", {[] {}, [] {}});
      }
      time("memcpy", {[] {}, [this] { std::memcpy(message_.data(), own_.data(), bytes_of_message()); }});
      time("add", {[] {},
                   [this] {
                     std::transform(message_.begin(), message_.end(), own_.begin(), message_.begin(),
                                    std::plus<>());
                   }});
    }
  }

 private:
  void all_reduce(const std::string& variant, Algorithm algorithm) {
    gloo::AllreduceOptions options(context_);
    options.setAlgorithm(algorithm);
    options.setOutput(message_.data(), message_.size());
    options.setReduceFunction([](void* result, const void* a, const void* b, std::size_t count) {
      gloo::sum<float>(result, a, b, count);
    });
    time(variant, {[this] { message_ = own_; }, [&options] { gloo::allreduce(options); }});
    peer::require_sum(ranks_, message_);
  }

  void stream(const std::string& variant, int source, int target) {
    Stream stream(*context_, source, message_, target, own_);
    time(variant, {[] {}, [&stream] { stream.run(); }});
  }

  void time(const std::string& variant, const peer::Call& call) {
    const peer::Time time = peer::time_calls(call, options_.budget, ranks_);
    peer::print(ranks_,
                fmt::format("Gloo {}.{}.{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH),
                variant, bytes_of_message(), time);
  }

  std::size_t bytes_of_message() const { return message_.size() * sizeof(float); }

  Options options_;
  std::shared_ptr<gloo::Context> context_;
  peer::Ranks ranks_;
  std::vector<float> own_;      ///< What this rank contributes.
  std::vector<float> message_;  ///< What is reduced in place.
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Gloo's own all_reduce and its limit; see bench/executor/side_by_side");
  app.add_option("--rank", options.rank)->required();
  app.add_option("--ranks", options.num_ranks)->required();
  app.add_option("--store", options.store)->required();
  app.add_option("--interface", options.interface);
  app.add_option("--budget", options.budget);
  app.add_option("--bytes", options.bytes)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    Peer(options).run();
  } catch (const std::exception& exception) {
    fmt::print(stderr, "gloo_all_reduce: {}\n", exception.what());
    return 1;
  }
  return 0;
}
