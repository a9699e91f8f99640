// Rank 1 holds ones and receives rank 0's zeros; then all talk at once; then two ranks deadlock.

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "examples/support/example.hpp"

using namespace ringside;
using examples::in_turn;

namespace {

/// Blocking: send() returns when the message may be changed, recv() when it has come.
void send_zeros(Communicator& communicator) {
  const Rank rank = communicator.rank();
  std::vector<float> message(3, rank == 0 ? 0.0F : 1.0F);
  const std::vector<float> before = message;
  if (rank == 0) {
    communicator.send(message, 1);
  } else if (rank == 1) {
    communicator.recv(message, 0);
  }
  in_turn(communicator, [&] {
    fmt::print("  rank {}: {} -> {}{}\n", rank, before, message,
               rank == 1  ? "  received"
               : rank > 1 ? "  took no part"
                          : "");
  });
  examples::check(message[0] == (rank <= 1 ? 0.0F : 1.0F), "zeros did not arrive");
}

/// Not blocking: isend() and irecv() return at once, so all ranks can send first, and work while messages
/// travel. The memory of both belongs to the messages until wait() has returned.
void pass_to_the_right(Communicator& communicator) {
  const Rank rank = communicator.rank();
  const int n = communicator.ranks();
  const std::array<std::int32_t, 1> own = {rank};
  std::array<std::int32_t, 1> received = {rank};
  Request sending = communicator.isend(own, (rank + 1) % n);
  Request receiving = communicator.irecv(received, (rank + n - 1) % n);
  communicator.wait(receiving);
  communicator.wait(sending);
  in_turn(communicator, [&] { fmt::print("  rank {} received {}\n", rank, received.front()); });
  examples::check(received.front() == (rank + n - 1) % n, "the wrong rank's number arrived");
}

/// Both ranks send first. A blocking send waits until the other side receives, and neither ever does.
void deadlock(Communicator& communicator) {
  std::array<float, 1> message = {1};
  communicator.send(message, 1 - communicator.rank());
  communicator.recv(message, 1 - communicator.rank());
}

void run(const RankGroup& group) {
  if (group.ranks < 2) {
    fmt::print("One rank has nobody to send to: start at least two, with --ranks 2.\n");
    return;
  }
  fmt::print("1. Blocking: rank 0 sends zeros to rank 1, which holds ones.\n");
  launch(group, send_zeros);

  fmt::print(
      "2. Non-blocking: every rank sends its number to the right and receives from the left, at once.\n");
  launch(group, pass_to_the_right);

  fmt::print("3. Deadlock: two ranks both call send() first, with a deadline of 300 ms.\n");
  RankGroup two = group;
  two.ranks = 2;
  two.timeout = std::chrono::milliseconds(300);
  try {
    launch(two, deadlock);
  } catch (const Error& error) {
    // NCCL connects two ranks at their first message, and then finds that neither receives.
    const bool refused = two.backend == Backend::nccl && error.kind() == ErrorKind::failed;
    examples::check(refused || error.kind() == ErrorKind::peer_lost, error.what());
    fmt::print(
        "  {}\n"
        "  Neither came to its recv(). Let one rank receive first, or use isend() and irecv().\n",
        error.what());
    return;
  }
  examples::check(false, "two ranks that both send first went through");
}

}  // namespace

int main(int argc, char** argv) {
  examples::Example example("send_receive",
                            "Teaches: messages between two ranks. Blocking send and recv; isend, irecv and "
                            "wait; and how a deadlock\n"
                            "comes about and is reported.");
  return example.run(argc, argv, run);
}
