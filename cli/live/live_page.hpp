#pragma once

#include <string>

#include <sys/types.h>

#include "common/file_descriptor.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::cli {

/// The page of a run that goes on, served to browsers of this machine by a program of its own.
class LivePage {
 public:
  /// Says where it is. Throws Error{environment}, with what to install.
  explicit LivePage(const std::string& title);
  /// Tells the page that the run is over; an open page has some seconds to load the last results.
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

  /// Tells the page, too, what a study tells `shown`.
  study::Observer observer(const study::Observer& shown) const;

 private:
  FileDescriptor to_server_;
  pid_t server_ = -1;
};

}  // namespace ringside::cli
