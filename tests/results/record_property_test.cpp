#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "results/codec/record.hpp"

/// Whatever a record holds, its line holds it to the last bit.
namespace ringside {
namespace {

// The same cases on every run; RC_PARAMS in the environment chooses others.
const int kRecordsSeeded = ::setenv("RC_PARAMS", "seed=20260301 max_success=300", 0);

rc::Gen<double> any_time() {
  // Fractions of very different magnitude, every bit of the mantissa in use.
  return rc::gen::map(
      rc::gen::pair(rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 53), rc::gen::inRange(-80, 4)),
      [](const std::pair<std::int64_t, int>& parts) {
        return std::ldexp(static_cast<double>(parts.first), parts.second - 53);
      });
}

template <typename E>
rc::Gen<E> any_of_names() {
  std::vector<E> values;
  for (const std::string& name : names_of<E>()) {
    values.push_back(*parse_name<E>(name));
  }
  return rc::gen::elementOf(values);
}

rc::Gen<std::string> any_text() {
  return rc::gen::element<std::string>("", "plain", "quote \" backslash \\", "line\nbreak\ttab",
                                       "α β γ, 2 × 8", std::string("zero\0inside", 11), "\x7f\x01");
}

rc::Gen<double> any_number() {
  return rc::gen::map(
      rc::gen::pair(any_time(), rc::gen::arbitrary<bool>()),
      [](const std::pair<double, bool>& parts) { return parts.second ? -parts.first : parts.first; });
}

template <typename T>
std::optional<T> maybe(const rc::Gen<T>& any) {
  return *rc::gen::arbitrary<bool>() ? std::optional<T>(*any) : std::nullopt;
}

std::optional<Bytes> maybe_bytes() {
  const auto value = maybe(rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 62));
  return value ? std::optional(Bytes{*value}) : std::nullopt;
}

std::optional<Interval<double>> maybe_range() {
  return *rc::gen::arbitrary<bool>()
             ? std::optional(Interval<double>{*any_number(), *any_number(), *any_number()})
             : std::nullopt;
}

Record any_header() {
  RunHeader header;
  header.version = *any_text();
  header.command = *any_text();
  header.scenario = {*any_text(), *any_text(), *any_text()};
  if (*rc::gen::arbitrary<bool>()) {
    header.machine = MachineRecord{*any_text(), *any_text(), *rc::gen::arbitrary<bool>()};
  }
  header.host = *rc::gen::container<std::map<std::string, std::string>>(any_text(), any_text());
  header.started = *any_text();
  header.seed = *rc::gen::arbitrary<std::uint64_t>();
  return header;
}

Record any_verdict() {
  return Verdict{.ranks = *rc::gen::inRange(1, 65536),
                 .bytes = {*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 62)},
                 .baseline = *any_text(),
                 .candidate = *any_text(),
                 .predicted_speedup = maybe(any_number()),
                 .measured_speedup = maybe(any_number()),
                 .predicted_winner = maybe(any_text()),
                 .measured_winner = maybe(any_text())};
}

Record any_crossover() {
  return Crossover{.ranks = *rc::gen::inRange(1, 65536),
                   .baseline = *any_text(),
                   .candidate = *any_text(),
                   .predicted_bytes = maybe_bytes(),
                   .measured_bytes = maybe_bytes(),
                   .predicted_crossings = maybe(rc::gen::inRange(0, 9)),
                   .measured_crossings = maybe(rc::gen::inRange(0, 9)),
                   .predicted_winner = maybe(any_text()),
                   .measured_winner = maybe(any_text())};
}

Record any_accuracy() {
  return Accuracy{.algorithm = maybe(any_text()),
                  .system = maybe(any_text()),
                  .statistic = maybe(any_text()),
                  .systems = maybe(rc::gen::inRange(0, 99)),
                  .machine_class = maybe(any_text()),
                  .band = maybe(any_text()),
                  .model = maybe(any_text()),
                  .fold = maybe(any_text()),
                  .points = *rc::gen::inRange(0, 999),
                  .mape = *any_number(),
                  .factor = maybe(any_number()),
                  .median_abs_error = *any_number(),
                  .bias = *any_number(),
                  .coverage = maybe(any_number()),
                  .width = maybe(any_number()),
                  .winner_agreement = maybe(any_number())};
}

Record any_offer() {
  OfferRecord offer{.name = *any_text(), .source = *any_text(), .gpus = *rc::gen::inRange(0, 999)};
  for (const auto number :
       {&OfferRecord::per_hour, &OfferRecord::batch, &OfferRecord::bandwidth_factor_for_5_percent,
        &OfferRecord::bandwidth_factor_for_10_percent}) {
    offer.*number = maybe(any_number());
  }
  for (const auto text :
       {&OfferRecord::currency, &OfferRecord::problem, &OfferRecord::algorithm, &OfferRecord::best_way}) {
    offer.*text = maybe(any_text());
  }
  for (const auto range : {&OfferRecord::step, &OfferRecord::compute, &OfferRecord::communication,
                           &OfferRecord::exposed, &OfferRecord::waiting, &OfferRecord::efficiency,
                           &OfferRecord::samples_per_second, &OfferRecord::run, &OfferRecord::cost}) {
    offer.*range = maybe_range();
  }
  for (const auto bytes : {&OfferRecord::memory, &OfferRecord::gpu_memory, &OfferRecord::ring_from_bytes}) {
    offer.*bytes = maybe_bytes();
  }
  for (const auto whole : {&OfferRecord::gpus_stop_paying, &OfferRecord::ring_from_gpus}) {
    offer.*whole = maybe(rc::gen::inRange(1, 999));
  }
  offer.pareto = *rc::gen::arbitrary<bool>();
  offer.recommended = *rc::gen::arbitrary<bool>();
  offer.assumptions = *rc::gen::container<std::vector<std::string>>(any_text());
  offer.warnings = *rc::gen::container<std::vector<std::string>>(any_text());
  return offer;
}

Point reread(const Point& point) { return std::get<Point>(parse_record(to_line(point)).value()); }

RC_GTEST_PROP(Record, EveryPointReadsBackToTheLastBit, ()) {
  Point point;
  point.key = {.collective = *any_of_names<Collective>(),
               .algorithm = *rc::gen::element<std::string>("ring", "naive", "native"),
               .ranks = *rc::gen::inRange(1, 65536),
               .bytes = {*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 62)},
               .dtype = *any_of_names<DataType>(),
               .op = *any_of_names<ReduceOp>()};
  if (*rc::gen::arbitrary<bool>()) {
    Prediction& predicted = point.predicted.emplace();
    predicted.seconds = {*any_time()};
    if (*rc::gen::arbitrary<bool>()) {
      predicted.low = Seconds{*any_time()};
      predicted.high = Seconds{*any_time()};
    }
    predicted.fidelity = *any_of_names<Fidelity>();
    predicted.source = *rc::gen::element(CostSource::spec, CostSource::calibrated, CostSource::given,
                                         CostSource::spec_plus_known);
    if (*rc::gen::arbitrary<bool>()) {
      predicted.limits = {{.link_kind = *rc::gen::element(LinkKind::staging, LinkKind::other),
                           .link = *any_text(),
                           .node = *rc::gen::element(std::optional<int>(), std::optional<int>(3)),
                           .flows = *rc::gen::inRange(0, 64),
                           .crossings = *rc::gen::inRange(0, 64),
                           .others = *rc::gen::arbitrary<bool>()},
                          {.kind = Limit::Kind::shared_cores, .ranks = 4, .cores = *rc::gen::inRange(1, 64)},
                          {.kind = Limit::Kind::contention, .factor = *any_time()},
                          {.kind = Limit::Kind::model, .text = *any_text()}};
    }
    if (*rc::gen::arbitrary<bool>()) {
      predicted.nics = NicUse{.used = *rc::gen::inRange(0, 64), .of = *rc::gen::inRange(1, 64)};
    }
  }
  if (*rc::gen::arbitrary<bool>()) {
    Measurement& measured = point.measured.emplace();
    measured.outcome = *any_of_names<Outcome>();
    measured.backend = *any_of_names<Backend>();
    measured.note = *any_text();
    if (measured.outcome == Outcome::ok) {
      measured.seconds = {*any_time()};
      measured.low = {*any_time()};
      measured.high = {*any_time()};
      measured.min = {*any_time()};
      measured.p95 = {*any_time()};
      measured.samples = *rc::gen::container<std::vector<double>>(any_time());
      measured.iterations = static_cast<int>(measured.samples.size());
      measured.repetitions = *rc::gen::container<std::vector<double>>(any_time());
    }
  }

  const Point back = reread(point);

  RC_ASSERT(back.key == point.key);
  RC_ASSERT(back.predicted.has_value() == point.predicted.has_value());
  if (point.predicted) {
    RC_ASSERT(back.predicted->seconds == point.predicted->seconds);
    RC_ASSERT(back.predicted->low == point.predicted->low);
    RC_ASSERT(back.predicted->high == point.predicted->high);
    RC_ASSERT(back.predicted->fidelity == point.predicted->fidelity);
    RC_ASSERT(back.predicted->source == point.predicted->source);
    RC_ASSERT(back.predicted->limits == point.predicted->limits);
    RC_ASSERT(back.predicted->nics == point.predicted->nics);
  }
  RC_ASSERT(back.measured.has_value() == point.measured.has_value());
  if (point.measured) {
    RC_ASSERT(back.measured->outcome == point.measured->outcome);
    RC_ASSERT(back.measured->backend == point.measured->backend);
    RC_ASSERT(back.measured->note == point.measured->note);
    RC_ASSERT(back.measured->seconds == point.measured->seconds);
    RC_ASSERT(back.measured->low == point.measured->low);
    RC_ASSERT(back.measured->high == point.measured->high);
    RC_ASSERT(back.measured->min == point.measured->min);
    RC_ASSERT(back.measured->p95 == point.measured->p95);
    RC_ASSERT(back.measured->iterations == point.measured->iterations);
    RC_ASSERT(back.measured->samples == point.measured->samples);
    RC_ASSERT(back.measured->repetitions == point.measured->repetitions);
  }
}

RC_GTEST_PROP(Record, WritingReadingAndWritingAgainGivesTheSameLine, ()) {
  for (const Record& record : {any_header(), any_verdict(), any_crossover(), any_accuracy(), any_offer()}) {
    const std::string line = to_line(record);
    const std::optional<Record> back = parse_record(line);
    RC_ASSERT(back.has_value());
    RC_ASSERT(back->index() == record.index());
    RC_ASSERT(to_line(*back) == line);
  }
}

}  // namespace
}  // namespace ringside
