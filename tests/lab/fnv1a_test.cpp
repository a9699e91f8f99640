#include "lab/evaluation/fnv1a.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace ringside {
namespace {

std::string hash_of(const std::string& first, const std::string& second) {
  Fnv1a hash;
  hash.add(first);
  hash.add(second);
  return hash.digits();
}

TEST(Fnv1a, GivesThePublishedValues) {
  EXPECT_EQ(Fnv1a().digits(), "cbf29ce484222325");
  Fnv1a words;
  words.add(std::uint64_t{0x7261626f6f66});  // "foobar" and two zeros.
  Fnv1a text;
  text.add(std::string("foobar"));
  text.add(std::string());
  EXPECT_EQ(words.digits(), "74c8e7eb4f245c28");
  EXPECT_EQ(text.digits(), words.digits());
}

TEST(Fnv1a, TellsTextsApartThatAreOneWhenJoined) {
  EXPECT_NE(hash_of("ab", "c"), hash_of("a", "bc"));
  EXPECT_NE(hash_of("abc", ""), hash_of("", "abc"));
}

TEST(Fnv1a, TellsNumbersApart) {
  Fnv1a one;
  one.add(1.0);
  Fnv1a next;
  next.add(1.0000000000000002);
  EXPECT_NE(one.digits(), next.digits());
}

}  // namespace
}  // namespace ringside
