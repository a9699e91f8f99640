#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/units.hpp"
#include "ringside/elements.hpp"

namespace ringside {

class CallBoard;
class Transfer;
struct RankBackend;

/// A message on its way, from isend() or irecv(). Its elements are borrowed until wait() has returned.
class [[nodiscard]] Request {
 public:
  Request(Request&&) noexcept;
  Request& operator=(Request&&) noexcept;
  ~Request();

 private:
  friend class Communicator;
  explicit Request(std::unique_ptr<Transfer> transfer);

  std::unique_ptr<Transfer> transfer_;  ///< Null when there is nothing to wait for.
};

/// How one rank reaches the others: messages and collectives. launch() makes one per rank.
///
/// Collectives run the schedules of ringside's registry (`ringside list algorithms`), the same ones that
/// `ringside predict` predicts; the algorithm named `native` is the backend's own. All ranks call the same
/// collectives in the same order, with equal element counts, types, operations, roots and algorithms. Between
/// two ranks, messages of one direction match in the order in which they are started; each must have the same
/// size on both sides. No elements (count 0) is fine everywhere and moves nothing.
///
/// What is wrong with a call (a rank that does not exist, an unknown algorithm, sizes that do not fit) throws
/// Error{bad_input} before anything is sent. So does a collective, a barrier or a message that is not what
/// another rank has called at the same point, with both ranks and both calls: at the rank that calls later.
/// Two things end only at the deadline: a message without elements where the other side has some, and ranks
/// more than 256 collectives or 16 messages apart. Every wait has the deadline that launch() was given; a
/// rank that is gone or does not come in time throws Error{peer_lost} with its number, and the communicator
/// is of no more use then.
///
/// Where ranks have GPUs (backend nccl), messages may be in a GPU's memory: Elements::on_gpu() borrows it
/// until the call has returned, or for a Request until wait() has. It must be memory of this rank's GPU, as
/// cudaMalloc() or GpuArray gives it. A call returns when its result is there, for any stream; what still
/// writes the message must have finished before, or be waited for: wait_for_stream(). Messages in host memory
/// are copied to the GPU and back. Calls take the rank's GPU, as cudaSetDevice() does. Messages that are
/// under way together are done together: wait() of one returns when all are done that were started before,
/// and a message that one side starts before a collective, the other side must start before it.
///
/// Does nothing to the machine: unlike `ringside measure`, it binds no thread to cores, prevents no idle
/// states, changes no priority or scheduling policy, and sends messages whole instead of in segments.
///
/// Not thread-safe: one thread at a time.
class Communicator {
 public:
  /// Made by launch(). The board is shared by all ranks and must outlive this.
  Communicator(RankBackend backend, CallBoard& board);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  Rank rank() const;  ///< Number of this caller: 0 … ranks() − 1.
  int ranks() const;
  Backend backend() const;

  // ---- Messages between two ranks -------------------------------------------------------------------------

  /// Returns when `message` may be changed, which is not before `target` has started to receive it: there is
  /// no buffer in between, so two ranks that both send first wait for each other until the deadline.
  void send(ConstElements message, Rank target);
  /// Returns when `message` holds what `source` has sent.
  void recv(Elements message, Rank source);

  /// The same, without waiting: wait() does. Requests may be waited for in any order.
  Request isend(ConstElements message, Rank target);
  Request irecv(Elements message, Rank source);
  /// A request that has been waited for is done; waiting once more does nothing.
  void wait(Request& request);

  /// Leaves no rank before all have come.
  void barrier();

  // ---- Collectives ----------------------------------------------------------------------------------------

  /// `message` becomes the root's at every rank.
  void broadcast(Elements message, Rank root, std::string_view algorithm = "binomial_tree");

  /// At the root `message` becomes the reduction; elsewhere it is used up. avg is the sum divided
  /// by the number of ranks (integers lose the fraction); sums and products of integers wrap around.
  void reduce(Elements message, Rank root, ReduceOp op = ReduceOp::sum,
              std::string_view algorithm = "binomial_tree");

  /// At every rank, `message` becomes the reduction of all ranks' messages, the same bits everywhere.
  void all_reduce(Elements message, ReduceOp op = ReduceOp::sum, std::string_view algorithm = "ring");

  /// `all` at the root becomes all `own` in rank order: ranks() · own.count() elements; unused elsewhere.
  void gather(ConstElements own, Elements all, Rank root, std::string_view algorithm = "binomial_tree");

  /// `all` at every rank becomes the ranks' `own`, in order of rank: ranks() · own.count() elements.
  void all_gather(ConstElements own, Elements all, std::string_view algorithm = "ring");

  /// Cuts the reduction of all ranks' `all` into ranks() equal parts and leaves part r in `own` at rank r:
  /// all.count() = ranks() · own.count().
  void reduce_scatter(ConstElements all, Elements own, ReduceOp op = ReduceOp::sum,
                      std::string_view algorithm = "ring");

  // ---- Ranks on GPUs --------------------------------------------------------------------------------------

  /// CUDA's number of this rank's GPU; none where ranks have none.
  std::optional<int> gpu() const;

  /// All calls from now on wait, on the GPU, for what is on `cuda_stream` (a cudaStream_t of this rank's GPU;
  /// null = the default stream) so far. Returns at once. Throws Error{bad_input} where ranks have no GPUs, as
  /// does allocate_on_gpu().
  void wait_for_stream(void* cuda_stream);

  /// Memory of this rank's GPU, zero at first, until nobody holds it; GpuArray does so. Throws
  /// Error{environment} when there is too little.
  std::shared_ptr<std::byte> allocate_on_gpu(Bytes size);

  /// Between memories of the host and the GPU; equally many elements of one type. Returns when it is done.
  void copy(ConstElements source, Elements target);

  // ---- What it did ----------------------------------------------------------------------------------------

  /// Bytes that this rank has sent so far, without `native` and barriers.
  std::int64_t bytes_sent() const;

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

}  // namespace ringside
