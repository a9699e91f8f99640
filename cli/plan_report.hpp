#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/plan_answers.hpp"
#include "analysis/planner.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "scenario/plan.hpp"

/// What `ringside plan` says: tables, sentences, charts and records.
namespace ringside::cli {

struct PlanReport {
  const Plan& plan;
  std::vector<Offer> offers = {};
  std::vector<OfferEstimate> estimates = {};  ///< In the order of the offers.
  Ranking ranking = {};
  std::vector<std::size_t> shown = {};      ///< Best first; only offers with an estimate.
  std::vector<Thresholds> thresholds = {};  ///< In the order of `shown`.
  std::vector<std::string> best_ways = {};  ///< Likewise: the fastest way to synchronise that was tried.
};

struct PlanOutput {
  std::vector<std::string> explained;  ///< Parts of names; empty = the best and the first offer.
  bool charts = true;
  std::filesystem::path directory;
};

/// Texts about offers: each is said once, with the offers that it is about.
class OfferNotes {
 public:
  void add(const std::vector<std::string>& texts, const std::string& offer);
  /// Nothing where no text was added.
  void print(std::string_view title) const;

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<std::string>> offers_of_;
};

/// Writes `plan.jsonl`, draws the charts and prints everything for people, or the records for --format json.
void print_plan(const PlanReport& report, Planner& planner, const PlanOutput& output,
                const CommonOptions& common, Progress& progress);

/// One row about the best offer, for sweeps.
std::vector<std::string> best_offer_header();
std::vector<std::string> best_offer_cells(const PlanReport& report);
/// What to know of the row's estimate.
void add_best_offer_warnings(const PlanReport& report, OfferNotes& notes);
/// The same as a record `offer`, whose `sweep` says at which values.
std::string best_offer_line(const PlanReport& report, const std::map<std::string, std::string>& values);

}  // namespace ringside::cli
