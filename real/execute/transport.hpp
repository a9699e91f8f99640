#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/units.hpp"
#include "real/execute/memory.hpp"

/// How ranks exchange bytes: what the executor and the probes run on.
namespace ringside {

/// For messages about timeouts: "60 s".
inline std::string text_of(std::chrono::milliseconds time) {
  return format(Seconds{std::chrono::duration<double>(time).count()});
}

/// A rank is gone, or did not answer in time.
class PeerLost : public Error {
 public:
  enum class How { gone, late };

  PeerLost(Rank peer, How how, const std::string& message)
      : Error(ErrorKind::peer_lost, message), peer_(peer), how_(how) {}
  Rank peer() const { return peer_; }
  /// late: it was waited for in vain and may live. A rank that gives up leaves: it is gone.
  How how() const { return how_; }

 private:
  Rank peer_;
  How how_;
};

/// One message, prepared once and sent any number of times: start(), wait(), start(), wait(), …
class Transfer {
 public:
  virtual ~Transfer() = default;
  virtual void start() = 0;
  /// Returns when a send's memory may be changed, or a receive's memory holds the data. Throws PeerLost when
  /// the peer is gone or the transport's timeout is over.
  virtual void wait() = 0;
};

/// What becomes of a message that is reduced while it arrives: target = target op message.
struct Reduction {
  std::span<std::byte> target;
  DataType dtype = DataType::float32;
  ReduceOp op = ReduceOp::sum;

  std::int64_t num_elements() const { return static_cast<std::int64_t>(target.size() / size_of(dtype)); }
};

/// How one rank reaches the others. Between two ranks, messages of one direction match in the order in which
/// they are started. A message moves when both sides have started it. Not thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Rank rank() const = 0;
  virtual int num_ranks() const = 0;
  /// The memory is borrowed and not empty; it must outlive the transfer.
  virtual std::unique_ptr<Transfer> make_send(Rank target, std::span<const std::byte> memory) = 0;
  virtual std::unique_ptr<Transfer> make_receive(Rank source, std::span<std::byte> memory) = 0;

  /// A receive that reduces instead of copying, in one pass over memory; null where this transport only
  /// copies. The target is changed by wait() and at no other time.
  virtual std::unique_ptr<Transfer> make_reducing_receive(Rank /*source*/, const Reduction& /*reduction*/) {
    return nullptr;
  }
  /// Whether a send of this memory is over as soon as it is started: it may be changed then, and wait() never
  /// waits for the other side.
  virtual bool leaves_at_once(std::span<const std::byte> /*memory*/) const { return false; }
  /// Memory, zero at first, from and into which messages travel best. Throws std::bad_alloc.
  virtual OwnMemory allocate(std::int64_t bytes) { return OwnMemory(bytes); }
};

}  // namespace ringside
