// What goes wrong beneath the program, for tests/faults/campaign.py: loaded in front of the C library
// (LD_PRELOAD), it makes one call fail, late or wrong. RINGSIDE_FAULT="KIND WHO AT SEED MARK":
//   KIND  flip        one bit of what is received from another rank
//         shut        the AT-th message to another rank closes this side of the connection first
//         slow        from the AT-th receive on, each 64th takes 3 ms longer
//         full        from the AT-th write to a file on, the disk is full
//         clock       from the AT-th look on the time of day is an hour later, at twice as many earlier
//         processes   from the AT-th on, no process or thread is granted
//   WHO   parent, or the number of a rank
//   AT    which such call counts, from 1
//   SEED  chooses the bit
//   MARK  is a file that exists once the fault was made; what was done stands in it

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

/// Shorter receives are headers and barriers, not payload.
constexpr ssize_t kPayload = 4096;

struct Fault {
  std::string kind;
  bool here = false;  ///< In this process.
  long at = 1;
  std::uint64_t seed = 1;
  std::string mark;
};

std::string who_am_i() {
  char text[4096] = {};
  const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t count = static_cast<ssize_t>(::syscall(0 /* read */, file, text, sizeof(text) - 1));
  ::close(file);
  // PROGRAM\0rank\0NUMBER\0…
  const char* end = text + (count > 0 ? count : 0);
  const char* word = text + std::strlen(text) + 1;
  if (word < end && std::strcmp(word, "rank") == 0) {
    return word + 5;
  }
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return rank != nullptr ? rank : "parent";
}

Fault read_fault() {
  Fault fault;
  const char* text = std::getenv("RINGSIDE_FAULT");
  char kind[32] = {};
  char who[32] = {};
  char mark[1024] = {};
  unsigned long long seed = 1;
  if (text != nullptr &&
      std::sscanf(text, "%31s %31s %ld %llu %1023s", kind, who, &fault.at, &seed, mark) == 5) {
    fault.kind = kind;
    fault.here = who_am_i() == who;
    fault.seed = seed;
    fault.mark = mark;
  }
  return fault;
}

const Fault& fault() {
  static const Fault value = read_fault();
  return value;
}

std::atomic<long> calls{0};

/// The number of this call among those of its kind, 0 where the fault is another one.
long number_of_call(const char* kind) {
  static const bool ready = (fault(), true);
  return ready && fault().here && fault().kind == kind ? ++calls : 0;
}

void mark(const char* text) {
  const int file = ::open(fault().mark.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) {
    ::syscall(1 /* write */, file, text, std::strlen(text));
    ::close(file);
  }
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool is_network(int file) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  return ::getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
         (address.ss_family == AF_INET || address.ss_family == AF_INET6);
}

bool is_file(int file) {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
}

void after_receive(int file, void* data, ssize_t count) {
  if (count < kPayload || !fault().here || !is_network(file)) {
    return;
  }
  if (fault().kind == "flip" && number_of_call("flip") == fault().at) {
    const std::uint64_t bit = fault().seed % (static_cast<std::uint64_t>(count) * 8);
    static_cast<unsigned char*>(data)[bit / 8] ^= static_cast<unsigned char>(1U << (bit % 8));
    char text[96];
    std::snprintf(text, sizeof(text), "bit %llu of %zd bytes\n", static_cast<unsigned long long>(bit), count);
    mark(text);
  } else if (fault().kind == "slow" && number_of_call("slow") >= fault().at && calls % 64 == 0) {
    mark("slow\n");
    const timespec pause = {.tv_sec = 0, .tv_nsec = 3'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

void before_send(int file) {
  if (fault().here && fault().kind == "shut" && is_network(file) && number_of_call("shut") == fault().at) {
    ::shutdown(file, fault().seed % 2 == 0 ? SHUT_WR : SHUT_RD);
    mark("half closed\n");
  }
}

bool disk_is_full(int file) {
  if (!fault().here || fault().kind != "full" || !is_file(file) || number_of_call("full") < fault().at) {
    return false;
  }
  mark("full\n");
  errno = ENOSPC;
  return true;
}

time_t seconds_off() {
  const long number = number_of_call("clock");
  if (number == 0 || number < fault().at) {
    return 0;
  }
  mark("clock\n");
  return number < 2 * fault().at ? 3600 : -3600;
}

bool nobody_is_granted() {
  if (!fault().here || fault().kind != "processes" || number_of_call("processes") < fault().at) {
    return false;
  }
  mark("processes\n");
  return true;
}

}  // namespace

extern "C" {

ssize_t recv(int file, void* data, size_t size, int flags) {
  static const auto real = next<ssize_t (*)(int, void*, size_t, int)>("recv");
  const ssize_t count = real(file, data, size, flags);
  after_receive(file, data, count);
  return count;
}

ssize_t send(int file, const void* data, size_t size, int flags) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, int)>("send");
  before_send(file);
  return real(file, data, size, flags);
}

ssize_t write(int file, const void* data, size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return disk_is_full(file) ? -1 : real(file, data, size);
}

ssize_t writev(int file, const iovec* parts, int count) {
  static const auto real = next<ssize_t (*)(int, const iovec*, int)>("writev");
  if (disk_is_full(file)) {
    return -1;
  }
  before_send(file);
  return real(file, parts, count);
}

int clock_gettime(clockid_t clock, timespec* time) {
  static const auto real = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, time);
  if (clock == CLOCK_REALTIME && result == 0) {
    time->tv_sec += seconds_off();
  }
  return result;
}

time_t time(time_t* result) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) {
    *result = now.tv_sec;
  }
  return now.tv_sec;
}

pid_t fork() {
  static const auto real = next<pid_t (*)()>("fork");
  if (nobody_is_granted()) {
    errno = EAGAIN;
    return -1;
  }
  return real();
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) {
  static const auto real =
      next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return nobody_is_granted() ? EAGAIN : real(thread, attributes, body, argument);
}

}  // extern "C"
