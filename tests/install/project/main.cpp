#include <cstdio>
#include <exception>
#include <vector>

#include <ringside/communicator.hpp>
#include <ringside/launch.hpp>

// Every rank contributes rank + 1; rank 0 says what the sum is.
int main() {
  try {
    for (const ringside::Backend backend : {ringside::Backend::threads, ringside::Backend::gloo}) {
      if (const auto reason = ringside::cannot_launch(backend)) {
        std::printf("%s\n", reason->c_str());
        continue;
      }
      ringside::launch({.ranks = 3, .backend = backend}, [](ringside::Communicator& communicator) {
        std::vector<double> message = {communicator.rank() + 1.0};
        communicator.all_reduce(message, ringside::ReduceOp::sum, "ring");
        if (communicator.rank() == 0) {
          std::printf("%s: sum %g\n", std::string(ringside::name(communicator.backend())).c_str(),
                      message[0]);
        }
      });
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
