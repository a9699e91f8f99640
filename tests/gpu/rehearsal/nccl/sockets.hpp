#pragma once

#include <atomic>
#include <cstddef>
#include <string>

namespace rehearsal {

/// Listens at a name of its own, which needs no file. Negative where it fails.
int listen_at_new_address(std::string& address);
/// Negative where nobody listens there.
int connect_to(const std::string& address);
/// Whether something can be read, or was hung up, within a moment.
bool readable_soon(int socket);
/// All bytes, or false: hung up, or aborted.
bool write_all(int socket, const void* data, std::size_t bytes, const std::atomic<bool>& aborted);
bool read_all(int socket, void* data, std::size_t bytes, const std::atomic<bool>& aborted);

/// As much as can be done now: its number, 0 = nothing now, negative = hung up.
std::ptrdiff_t write_some(int socket, const void* data, std::size_t bytes);
std::ptrdiff_t read_some(int socket, void* data, std::size_t bytes);

}  // namespace rehearsal
