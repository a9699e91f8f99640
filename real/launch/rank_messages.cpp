#include "real/launch/rank_messages.hpp"

#include <exception>
#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "real/execute/transport.hpp"
#include "real/launch/message.hpp"

namespace ringside {

/// Each as `[name, value]`.
template <>
struct Codec<std::pair<std::string, std::string>> : PlainCodec {
  static void write(JsonWriter& to, const std::pair<std::string, std::string>& setting) {
    Codec<std::vector<std::string>>::write(to, {setting.first, setting.second});
  }
  static std::pair<std::string, std::string> read(const JsonPlace& from, Minimum /*minimum*/) {
    const auto parts = Codec<std::vector<std::string>>::read(from, {});
    if (parts.size() != 2) {
      from.reject("must hold a name and a value");
    }
    return {parts[0], parts[1]};
  }
};

FieldTable<GpuOptions> table_of(const GpuOptions* /*any*/) {
  return fields(required<&GpuOptions::ranks_per_gpu, &GpuOptions::settings>());
}

FieldTable<RankPlace> table_of(const RankPlace* /*any*/) {
  return fields(required("ranks", &RankPlace::num_ranks), required<&RankPlace::backend>(),
                inlined(&RankPlace::gpu),
                required<&RankPlace::timeout, &RankPlace::rendezvous, &RankPlace::group>(),
                optional<&RankPlace::interface>());
}

FieldTable<JoinJob> table_of(const JoinJob* /*any*/) {
  return tagged("join", inlined(&JoinJob::place),
                required<&JoinJob::tune_machine, &JoinJob::share_out_cores>());
}

FieldTable<TaskJob> table_of(const TaskJob* /*any*/) {
  return tagged("task", required<&TaskJob::kind, &TaskJob::request>());
}

FieldTable<Answer> table_of(const Answer* /*any*/) {
  return fields(required("answer", &Answer::kind),
                optional<&Answer::result, &Answer::text, &Answer::error, &Answer::lost_peer, &Answer::late,
                         &Answer::paused>());
}

Answer answer_of_current_exception() {
  Answer answer = {.kind = AnswerKind::failed};
  try {
    throw;
  } catch (const PeerLost& error) {
    answer.text = error.what();
    answer.error = error.kind();
    answer.lost_peer = error.peer();
    answer.late = error.how() == PeerLost::How::late;
  } catch (const Error& error) {
    answer.text = error.what();
    answer.error = error.kind();
  } catch (const std::bad_alloc&) {
    answer.text = "not enough memory";
    answer.error = ErrorKind::failed;
  } catch (const std::system_error& error) {
    answer.text = error.what();
    if (error.code() == std::errc::resource_unavailable_try_again) {
      answer.text = "the system grants no more threads or processes";
      answer.error = ErrorKind::environment;
    }
  } catch (const std::exception& exception) {
    answer.text = exception.what();
  } catch (...) {
    answer.text = "what it threw is no std::exception";
  }
  return answer;
}

std::string to_line(const Job& job) {
  return written_message([&](JsonWriter& json) {
           std::visit([&](const auto& value) { write_tagged(json, "job", value); }, job);
         }) +
         '\n';
}

std::string to_line(const Answer& answer) { return message_of(answer) + '\n'; }

Job job_from_line(std::string_view line) {
  Job job;
  read_message(line, [&](const JsonPlace& place) {
    const JsonPlace tag = place.required_member("job");
    const std::optional<Job> read = Tagged<Job>::read(place, Codec<std::string>::read(tag, {}));
    if (!read) {
      tag.reject_value("must be a job");
    }
    job = *read;
  });
  return job;
}

Answer answer_from_line(std::string_view line) { return value_of<Answer>(line); }

}  // namespace ringside
