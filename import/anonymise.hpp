#pragma once

#include <string>
#include <string_view>

namespace ringside {

/// The text of a log without what names people and places: hosts of the list of ranks and of NCCL's lines
/// become `host1`, …; users of home directories and of `user@host` become `user1`, …; IPv4, IPv6 and MAC
/// addresses and UUIDs of GPUs `address1`, …. The same thing gets the same name everywhere. Look through it
/// before you give it away.
std::string anonymised(std::string_view text);

}  // namespace ringside
