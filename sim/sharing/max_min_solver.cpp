#include "sim/sharing/max_min_solver.hpp"

#include <algorithm>
#include <limits>

namespace ringside {
namespace {

/// Shares that differ by less are one level: rounding must not split constraints that are saturated at once.
constexpr double kSameShare = 1 + 1e-12;
/// A relative difference of values that is nothing but rounding.
constexpr double kRounding = 1e-9;
constexpr double kUndecided = -1;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

}  // namespace

MaxMinSolver::Id MaxMinSolver::add_constraint(double capacity) {
  constraints_.emplace_back().capacity = capacity;
  return static_cast<Id>(constraints_.size()) - 1;
}

void MaxMinSolver::define(Id id, double alone, std::span<const Id> constraints) {
  variables_.resize(std::max(variables_.size(), static_cast<std::size_t>(id) + 1));
  Variable& defined = variable(id);
  defined.many = false;
  defined.alone = alone;
  defined.bottleneck = kNone;
  defined.uses.clear();
  for (const Id used : constraints) {
    const auto same = std::ranges::find(defined.uses, used, &Use::constraint);
    if (same != defined.uses.end()) {
      ++same->weight;
    } else {
      defined.uses.push_back({.constraint = used});
    }
  }
}

void MaxMinSolver::define_many(Id id, double alone, std::span<const Weight> weights) {
  variables_.resize(std::max(variables_.size(), static_cast<std::size_t>(id) + 1));
  Variable& defined = variable(id);
  defined.many = !weights.empty();
  defined.alone = alone;
  defined.bottleneck = kNone;
  defined.uses.clear();
  for (const Weight& weight : weights) {
    defined.uses.push_back({.constraint = weight.constraint, .weight = weight.weight});
  }
}

void MaxMinSolver::enter(Id id) {
  std::vector<Use>& uses = variable(id).uses;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    std::vector<User>& users = constraint(uses[i].constraint).users;
    uses[i].position = static_cast<std::int32_t>(users.size());
    users.push_back({.variable = id, .use = static_cast<std::int32_t>(i)});
  }
  entered_.push_back(id);
}

/// When a variable leaves a constraint that binds nobody, all others keep their values.
void MaxMinSolver::leave(Id id) {
  for (const Use& use : variable(id).uses) {
    Constraint& left = constraint(use.constraint);
    const User moved = left.users.back();
    left.users[static_cast<std::size_t>(use.position)] = moved;
    variable(moved.variable).uses[static_cast<std::size_t>(moved.use)].position = use.position;
    left.users.pop_back();
    if (left.binding) {
      touch(use.constraint);
    }
  }
}

void MaxMinSolver::solve() {
  decided_.clear();
  examined_.clear();
  // Constraints touched so far have lost a variable and were binding: who was held back by them may grow now.
  const std::size_t num_relieved = touched_.size();
  for (std::size_t i = 0; i < num_relieved; ++i) {
    for (const User& user : constraint(touched_[i]).users) {
      if (variable(user.variable).bottleneck == touched_[i]) {
        open(user.variable);
      }
    }
  }
  for (const Id id : entered_) {
    if (!variable(id).many && is_alone(variable(id))) {
      variable(id).value = variable(id).alone;
      decided_.push_back(id);
    } else {
      open(id);
    }
  }
  entered_.clear();

  // Values for the open variables while all others keep theirs; then those others that are not at their fair
  // share any more are opened, too, until there are none: as a rule a small part of the variables that share
  // constraints, directly or through others.
  std::size_t num_open = 0;
  while (num_open < open_.size()) {
    num_open = open_.size();
    fill();
    const std::size_t num_filled = touched_.size();
    for (std::size_t i = 0; i < num_filled; ++i) {
      open_unfair(touched_[i]);
    }
  }

  for (const Id id : open_) {
    variable(id).open = false;
    decided_.push_back(id);
  }
  for (const Id id : touched_) {
    constraint(id).touched = false;
    constraint(id).binding = is_bottleneck(id);
  }
  open_.clear();
  std::swap(examined_, touched_);
}

std::int32_t MaxMinSolver::num_variables(Id id) const {
  return static_cast<std::int32_t>(constraints_[static_cast<std::size_t>(id)].users.size());
}

std::int32_t MaxMinSolver::total_weight(Id id) const {
  std::int32_t weight = 0;
  for (const User& user : constraints_[static_cast<std::size_t>(id)].users) {
    weight += use_of(user).weight;
  }
  return weight;
}

double MaxMinSolver::memory(double constraints, double variables) {
  constexpr double kUses = 4;
  return constraints * sizeof(Constraint) +
         variables * (sizeof(Variable) + kUses * (sizeof(Use) + sizeof(User)));
}

const MaxMinSolver::Use& MaxMinSolver::use_of(const User& user) const {
  return variables_[static_cast<std::size_t>(user.variable)].uses[static_cast<std::size_t>(user.use)];
}

bool MaxMinSolver::is_alone(const Variable& variable) const {
  return std::ranges::all_of(variable.uses, [this](const Use& use) {
    return constraints_[static_cast<std::size_t>(use.constraint)].users.size() == 1;
  });
}

void MaxMinSolver::open(Id id) {
  Variable& opened = variable(id);
  if (!opened.open) {
    opened.open = true;
    open_.push_back(id);
    for (const Use& use : opened.uses) {
      touch(use.constraint);
    }
  }
}

void MaxMinSolver::touch(Id id) {
  if (!constraint(id).touched) {
    constraint(id).touched = true;
    touched_.push_back(id);
  }
}

/// Progressive filling: saturates constraint after constraint, the one with the smallest share first. A share
/// only grows while others are saturated, so an old note comes too early at worst, and is noted again.
void MaxMinSolver::fill() {
  for (const Id id : open_) {
    variable(id).value = kUndecided;
  }
  shares_.clear();
  for (const Id id : touched_) {
    prepare(id);
  }
  std::make_heap(shares_.begin(), shares_.end());
  double level = 0;
  while (!shares_.empty()) {
    std::pop_heap(shares_.begin(), shares_.end());
    const Share smallest = shares_.back();
    shares_.pop_back();
    const Constraint& next = constraint(smallest.constraint);
    if (next.open_weight == 0) {
      continue;
    }
    const double share = next.slack / next.open_weight;
    if (share > smallest.share * kSameShare) {
      shares_.push_back({.share = share, .constraint = smallest.constraint});
      std::push_heap(shares_.begin(), shares_.end());
      continue;
    }
    if (share > level * kSameShare) {
      level = share;
    }
    saturate(smallest.constraint, level);
  }
}

/// What the constraint has for open variables.
void MaxMinSolver::prepare(Id id) {
  Constraint& prepared = constraint(id);
  prepared.slack = prepared.capacity;
  prepared.open_weight = 0;
  prepared.level = kInfinite;
  prepared.all_open = true;
  for (const User& user : prepared.users) {
    const std::int32_t weight = use_of(user).weight;
    if (variable(user.variable).open) {
      prepared.open_weight += weight;
      continue;
    }
    prepared.all_open = false;
    if (prepared.capacity < kInfinite) {
      prepared.slack -= weight * variable(user.variable).value;
    }
  }
  prepared.slack = std::max(0.0, prepared.slack);
  if (prepared.open_weight > 0) {
    shares_.push_back({.share = prepared.slack / prepared.open_weight, .constraint = id});
  }
}

/// Decides the variables of a constraint that is saturated when every undecided one has the value `level`.
void MaxMinSolver::saturate(Id id, double level) {
  Constraint& saturated = constraint(id);
  saturated.level = level;
  for (const User& user : saturated.users) {
    Variable& on_it = variable(user.variable);
    if (on_it.open && on_it.value == kUndecided) {
      on_it.bottleneck = id;
      decide(on_it, level);
    }
  }
}

void MaxMinSolver::decide(Variable& variable, double value) {
  variable.value = value;
  for (const Use& use : variable.uses) {
    Constraint& used = constraint(use.constraint);
    used.open_weight -= use.weight;
    if (used.capacity < kInfinite) {
      used.slack = std::max(0.0, used.slack - use.weight * value);
    }
  }
}

/// Opens this constraint's variables that kept their values and fail (2): their bottleneck must be full with
/// nobody faster on it, and they must not be faster than the open ones that this constraint holds back.
void MaxMinSolver::open_unfair(Id id) {
  const Constraint& filled = constraint(id);
  if (filled.all_open) {
    return;
  }
  double fastest = 0;
  for (const User& user : filled.users) {
    if (variable(user.variable).open) {
      fastest = std::max(fastest, variable(user.variable).value);
    }
  }
  const bool saturated = filled.slack <= filled.capacity * kRounding;
  for (const User& user : filled.users) {
    const Variable& kept = variable(user.variable);
    if (!kept.open) {
      const bool too_fast = kept.value > filled.level * (1 + kRounding);
      const bool too_slow = kept.bottleneck == id && (!saturated || fastest > kept.value * (1 + kRounding));
      if (too_fast || (too_slow && below_alone(kept))) {
        open(user.variable);
      }
    }
  }
}

bool MaxMinSolver::below_alone(const Variable& variable) {
  return variable.value < variable.alone * (1 - kRounding);
}

bool MaxMinSolver::is_bottleneck(Id id) const {
  const std::vector<User>& users = constraints_[static_cast<std::size_t>(id)].users;
  return std::ranges::any_of(users, [this, id](const User& user) {
    const Variable& on_it = variables_[static_cast<std::size_t>(user.variable)];
    return on_it.bottleneck == id && below_alone(on_it);
  });
}

}  // namespace ringside
