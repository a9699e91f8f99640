#include <fstream>
#include <iterator>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "scenario/machine/catalog.hpp"
#include "tests/paths.hpp"

namespace ringside {
namespace {

using testing::HasSubstr;

std::string shipped() {
  std::ifstream file(RINGSIDE_SOURCE_DIR "/configs/catalog/links.yaml");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The shipped catalogue with the first `pattern` replaced, which must be there.
std::string broken(const std::string& pattern, const std::string& replacement) {
  const std::string text = shipped();
  const std::regex found(pattern);
  EXPECT_TRUE(std::regex_search(text, found)) << pattern;
  return std::regex_replace(text, found, replacement, std::regex_constants::format_first_only);
}

void expect_refused(const std::string& yaml, const std::string& what) {
  EXPECT_THAT([&] { parse_link_catalog(yaml, "links.yaml"); },
              testing::ThrowsMessage<Error>(testing::AllOf(HasSubstr("links.yaml:"), HasSubstr(what))));
}

TEST(LinkCatalog, IsTheFileThatShips) {
  const LinkCatalog read = parse_link_catalog(shipped(), "links.yaml");
  EXPECT_EQ(read.pcie, link_catalog().pcie);
  EXPECT_EQ(read.nvlink, link_catalog().nvlink);
  EXPECT_EQ(read.networks, link_catalog().networks);
  EXPECT_EQ(read.xgmi_latency, link_catalog().xgmi_latency);
}

TEST(LinkCatalog, EveryNumberNeedsASource) {
  const std::string text = shipped();
  const std::regex sourced(R"re((\{value: [^,]+), source: "[^"]*"\})re");
  constexpr int kStride = 11;  // All of them take seconds under a sanitizer.
  int numbers = 0;
  for (std::sregex_iterator found(text.begin(), text.end(), sourced); found != std::sregex_iterator();
       ++found) {
    if (numbers++ % kStride == 0) {
      std::string changed = text;
      changed.replace(static_cast<std::size_t>(found->position()), found->str().size(), found->str(1) + "}");
      expect_refused(changed, "source: is missing");
    }
  }
  EXPECT_GT(numbers, 130);
  expect_refused(broken(R"re(source: "topo\.h, PCI_BW[^"]*")re", "source: \"\""),
                 "pcie.direct.typical.source");
}

TEST(LinkCatalog, LowTypicalAndHighStandInOrder) {
  expect_refused(broken(R"re(low: \{value: 0\.63)re", "low: {value: 0.77"), "low ≤ typical ≤ high");
  expect_refused(broken(R"re(high: \{value: 14 us)re", "high: {value: 3 us"), "low ≤ typical ≤ high");
}

TEST(LinkCatalog, ALinkIsThereOnceAndForEveryRate) {
  expect_refused(broken("generation: 4", "generation: 3"), "generation 3 twice");
  expect_refused(broken("kind: slingshot", "kind: slingshot\n    up_to: 200 Gb/s"), "the rows of slingshot");
  expect_refused(broken("kind: roce", "kind: infiniband"), "the rows of infiniband");
  expect_refused(broken("kind: roce", "kind: rose"), "did you mean 'roce'");
}

TEST(LinkCatalog, QuantitiesNeedTheirUnits) {
  expect_refused(broken("0\\.36 us", "0.36"), "0.36");
  expect_refused(broken("value: 0\\.63,", "value: 0.63 GB/s,"), "0.63 GB/s");
}

}  // namespace
}  // namespace ringside
