#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Max-min fair sharing, kept up to date while variables come and go. It knows neither links nor messages.
///
/// A variable v has a rate x(v). A constraint c has a capacity C(c), and takes up w(c, v) per unit of each
/// variable
/// on it (w = 2: a flow that crosses a link twice). A solution satisfies, for every constraint,
///
///   (1)  Σ over v of w(c, v) · x(v)  ≤  C(c),                x(v) ≥ 0,
///
/// and is max-min fair: no value can grow unless one not larger shrinks. Equivalently, every variable
/// has a bottleneck, a constraint c with w(c, v) > 0 that is saturated and on which nobody is faster:
///
///   (2)  Σ over u of w(c, u) · x(u)  =  C(c)      and      x(u) ≤ x(v) for every u with w(c, u) > 0.
///
/// The solution is unique and found by progressive filling: all values grow together until a constraint is
/// saturated; its variables keep their value, their use is taken off their constraints, the others grow (D.
/// Bertsekas, R. Gallager, "Data Networks", 1992, section 6.5.2). Worked out for C(a) = 10, C(b) = 4 and x₁
/// on a, x₂ on a and b, x₃ on b:
///
///   x₁ + x₂ ≤ 10,  x₂ + x₃ ≤ 4.  Shares: 10/2 = 5 of a, 4/2 = 2 of b, saturated first: x₂ = x₃ = 2.
///   What is left of a is 10 − 2 = 8 for x₁ alone:  x₁ = 8, and a is saturated, too.
///
/// solve() decides again only what may have changed: variables that entered, those whose bottleneck has lost
/// a variable, and then, while (2) fails for a variable that kept its value, that one as well.
namespace ringside {

class MaxMinSolver {
 public:
  using Id = std::int32_t;

  /// Ids count from 0. An infinite capacity never saturates.
  Id add_constraint(double capacity);

  /// Says what the variable will use: a constraint that is named twice has weight two. Ids of variables are
  /// the caller's, small numbers that are used again. `alone`: its value while nobody shares its constraints.
  void define(Id variable, double alone, std::span<const Id> constraints);
  /// A variable that stands for many which all have its value: its weights are those of all of them. `alone`:
  /// the value of a single one that shares with nobody. No constraint is named twice.
  struct Weight {
    Id constraint = 0;
    std::int32_t weight = 1;
  };
  void define_many(Id variable, double alone, std::span<const Weight> weights);
  /// From the next solve() on the variable counts.
  void enter(Id variable);
  /// Frees what the variable used.
  void leave(Id variable);

  /// Finds the values of all variables that have entered.
  void solve();
  /// The variables that the last solve() decided, in the order in which they entered or were affected.
  std::span<const Id> decided() const { return decided_; }
  /// The constraints that the last solve() looked at.
  std::span<const Id> examined() const { return examined_; }

  double value(Id variable) const { return variables_[static_cast<std::size_t>(variable)].value; }
  /// Whether the constraint is the bottleneck of a variable that would have a larger value alone.
  bool binding(Id constraint) const { return constraints_[static_cast<std::size_t>(constraint)].binding; }
  /// How many variables are on it, and the sum of their weights.
  std::int32_t num_variables(Id constraint) const;
  std::int32_t total_weight(Id constraint) const;

  /// Bytes that so many constraints and variables need, about.
  static double memory(double constraints, double variables);

 private:
  static constexpr Id kNone = -1;

  /// w(c, v), seen from the variable.
  struct Use {
    Id constraint = 0;
    std::int32_t weight = 1;
    std::int32_t position = 0;  ///< In the constraint's list of users.
  };
  struct Variable {
    bool open = false;      ///< Its value is being decided.
    bool many = false;      ///< Stands for several, which share constraints with each other.
    Id bottleneck = kNone;  ///< None while it has been alone on all its constraints.
    double alone = 0;
    double value = 0;
    std::vector<Use> uses;
  };
  /// A variable on a constraint.
  struct User {
    Id variable = 0;
    std::int32_t use = 0;  ///< Which of the variable's.
  };
  struct Constraint {
    double capacity = 0;
    std::vector<User> users;
    bool binding = false;
    bool touched = false;  ///< It has open variables, or has lost some.
    // While values are decided:
    double slack = 0;  ///< Capacity that no decided variable uses.
    double level = 0;  ///< Value of the variables that it was saturated by; infinite = it was not.
    std::int32_t open_weight = 0;  ///< Sum of weights of open variables without a value.
    bool all_open = false;
  };
  /// What each open variable of a constraint would get; a heap of these gives the smallest first.
  struct Share {
    double share = 0;
    Id constraint = 0;

    bool operator<(const Share& other) const {
      return share > other.share || (share == other.share && constraint > other.constraint);
    }
  };

  Variable& variable(Id id) { return variables_[static_cast<std::size_t>(id)]; }
  Constraint& constraint(Id id) { return constraints_[static_cast<std::size_t>(id)]; }
  const Use& use_of(const User& user) const;
  bool is_alone(const Variable& variable) const;
  void open(Id id);
  void touch(Id id);
  void fill();
  void prepare(Id id);
  void saturate(Id id, double level);
  void decide(Variable& variable, double value);
  void open_unfair(Id id);
  bool is_bottleneck(Id id) const;
  static bool below_alone(const Variable& variable);

  std::vector<Variable> variables_;
  std::vector<Constraint> constraints_;
  std::vector<Id> entered_;  ///< Have no value yet.
  std::vector<Id> open_;
  std::vector<Id> touched_;
  std::vector<Share> shares_;
  std::vector<Id> decided_;
  std::vector<Id> examined_;
};

}  // namespace ringside
