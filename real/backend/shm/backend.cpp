#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/shm/group.hpp"
#include "real/execute/memory.hpp"
#include "real/execute/reduce.hpp"

namespace ringside {
namespace {

/// Until a rank has come so far.
class Stage final : public Condition {
 public:
  Stage(ShmGroup& group, Rank rank, std::uint64_t stage)
      : reached_(group.header(rank).stage), stage_(stage) {}
  bool met() override { return reached_.load(std::memory_order_acquire) >= stage_; }

 private:
  std::atomic<std::uint64_t>& reached_;
  std::uint64_t stage_;
};

/// Native all_reduce, in place on `message`. Short messages are put where all can read them, and every rank
/// reduces all. Of longer ones every rank reduces its part from all ranks' memory and writes the result
/// straight into it: n reads and n writes of each element in all, which is the least that memory has to move.
/// Sums are made in one order for all ranks, so that all have the same bits.
class ShmAllReduce {
 public:
  ShmAllReduce(std::shared_ptr<ShmGroup> group, const CollectiveCall& call, std::span<std::byte> message,
               Progress* progress)
      : group_(std::move(group)), call_(call), message_(message), progress_(progress) {
    one_shot_ = bytes() <= one_shot(group_->shares_cores()).value;
    if (!one_shot_ && group_->memory().offset_of(message) < 0) {
      shared_ = {group_->memory().take(static_cast<std::int64_t>(message.size())),
                 [memory = group_->shared()](std::byte* data) { memory->give_back(data); }};
    }
  }

  void run() {
    if (message_.empty()) {
      return;
    }
    const std::uint64_t number = group_->next_collective();
    if (one_shot_) {
      run_one_shot(number);
    } else if (shared_.bytes().empty()) {
      run_two_shot(number, message_);
    } else {
      std::memcpy(shared_.bytes().data(), message_.data(), message_.size());
      run_two_shot(number, shared_.bytes());
      std::memcpy(message_.data(), shared_.bytes().data(), message_.size());
    }
    if (progress_ != nullptr) {
      progress_->step();
    }
  }

 private:
  /// A slot is rewritten two calls later. By then all ranks have left this call.
  void run_one_shot(std::uint64_t number) {
    const Rank own = group_->rank();
    copy_in_cache(slot(own, number), message_.data(), bytes());
    reach(2 * number);
    for (Rank rank = 0; rank < group_->num_ranks(); ++rank) {
      if (rank != own) {
        wait_for(rank, 2 * number);
      }
      if (rank == 0) {
        if (own != 0) {
          copy_in_cache(message_.data(), slot(0, number), bytes());
        }
      } else {
        reduce_into(message_.data(), slot(rank, number), call_.num_elements, call_.dtype, call_.op);
      }
    }
    average(message_.data(), call_.num_elements);
  }

  std::byte* slot(Rank rank, std::uint64_t number) {
    return group_->header(rank).one_shot_slots[number % 2].data();
  }

  /// One rank alone reads and writes a part, from when all have come until it is done.
  void run_two_shot(std::uint64_t number, std::span<std::byte> message) {
    group_->header(group_->rank()).place = static_cast<std::uint64_t>(group_->memory().offset_of(message));
    reach(2 * number);
    std::vector<std::byte*>& messages = messages_;
    messages.assign(static_cast<std::size_t>(group_->num_ranks()), message.data());
    for (Rank rank = 0; rank < group_->num_ranks(); ++rank) {
      if (rank != group_->rank()) {
        wait_for(rank, 2 * number);
        messages[static_cast<std::size_t>(rank)] = group_->peer(rank).at(
            static_cast<std::int64_t>(group_->header(rank).place), static_cast<std::int64_t>(message.size()));
        RINGSIDE_CHECK(messages[static_cast<std::size_t>(rank)] != nullptr,
                       "a message lies within its owner's memory");
      }
    }
    reduce_own_part();
    reach(2 * number + 1);
    for (Rank rank = 0; rank < group_->num_ranks(); ++rank) {
      if (rank != group_->rank()) {
        wait_for(rank, 2 * number + 1);
      }
    }
  }

  void reduce_own_part() {
    const auto element = static_cast<std::int64_t>(size_of(call_.dtype));
    // Parts begin with lines of the caches, so that no two ranks write to one line.
    const std::int64_t line = static_cast<std::int64_t>(kApart) / element;
    const std::int64_t lines = (call_.num_elements + line - 1) / line;
    const auto begin_of = [&](Rank rank) {
      return std::min(call_.num_elements, lines * rank / group_->num_ranks() * line);
    };
    const std::int64_t end = begin_of(group_->rank() + 1);
    const std::int64_t block = static_cast<std::int64_t>(kBlock) / element;
    for (std::int64_t begin = begin_of(group_->rank()); begin < end; begin += block) {
      reduce_block(begin * element, std::min(end - begin, block));
    }
  }

  void reduce_block(std::int64_t offset, std::int64_t count) {
    const auto own = static_cast<std::size_t>(group_->rank());
    std::byte* const result = messages_[own] + offset;
    const std::int64_t bytes = count * static_cast<std::int64_t>(size_of(call_.dtype));
    for (std::size_t rank = 0; rank < messages_.size(); ++rank) {
      if (rank != own) {
        reduce_into(result, messages_[rank] + offset, count, call_.dtype, call_.op);
      }
    }
    average(result, count);
    for (std::size_t rank = 0; rank < messages_.size(); ++rank) {
      if (rank != own) {
        copy_in_cache(messages_[rank] + offset, result, bytes);
      }
    }
  }

  std::int64_t bytes() const { return static_cast<std::int64_t>(message_.size()); }

  void average(std::byte* result, std::int64_t count) const {
    if (call_.op == ReduceOp::avg) {
      divide(result, count, call_.dtype, call_.num_ranks);
    }
  }

  void reach(std::uint64_t stage) {
    group_->header(group_->rank()).stage.store(stage, std::memory_order_release);
    group_->wake_all();
  }

  void wait_for(Rank rank, std::uint64_t stage) {
    Stage reached(*group_, rank, stage);
    group_->wait({.peer = rank, .doing = "reduce with", .bytes = bytes()}, reached);
  }

  std::shared_ptr<ShmGroup> group_;
  const CollectiveCall call_;
  std::span<std::byte> message_;
  bool one_shot_ = false;
  OwnMemory shared_;  ///< Stands for a message that others cannot see.
  std::vector<std::byte*> messages_;
  Progress* progress_;
};

std::optional<std::string> native_unsupported(const PointKey& key) {
  if (key.collective != Collective::all_reduce) {
    return fmt::format("the shm backend has no {} of its own; use an algorithm of ringside",
                       name(key.collective));
  }
  return std::nullopt;
}

RankBackend join(const RankPlace& place) {
  const auto group = std::make_shared<ShmGroup>(place);
  RankBackend backend;
  backend.backend = Backend::shm;
  ShmTransports transports = make_shm_transports(group, place.progress);
  backend.transport = std::move(transports.reading);
  backend.library_transport = std::move(transports.writing);
  backend.progress = place.progress;
  backend.cpu_site = RankSite::memory;
  backend.keeps_scheduling = true;
  backend.make_native = [group, progress = place.progress](const CollectiveCall& call,
                                                           std::span<std::byte> message) {
    const auto all_reduce = std::make_shared<ShmAllReduce>(group, call, message, progress);
    return [all_reduce] { all_reduce->run(); };
  };
  return backend;
}

}  // namespace

RegisteredBackend shm_backend() {
  return {.backend = Backend::shm,
          .native_unsupported = native_unsupported,
          .join = join,
          .describe = [] { return std::string("CPU ranks through the memory of this machine"); },
          .reduces_on_arrival = true,
          .library_transport = true};
}

}  // namespace ringside
