#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace ringside::study {

/// What a study says while it runs; each may be left as it is. Called in the thread that called the study.
struct Observer {
  /// A stage begins: `calibrating this machine`.
  std::function<void(std::string_view what)> stage = [](std::string_view) {};
  /// `fraction` of the stage is done, 0 … 1; `what` is going on now.
  std::function<void(double fraction, std::string_view what)> progress = [](double, std::string_view) {};
  /// The stage is over.
  std::function<void()> finished = [] {};
  /// The journal that grows from now on.
  std::function<void(const std::filesystem::path& file)> journal = [](const std::filesystem::path&) {};
  /// A whole sentence that a person should read.
  std::function<void(std::string_view sentence)> note = [](std::string_view) {};
};

}  // namespace ringside::study
