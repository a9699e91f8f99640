#include "study/sweep.hpp"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>

#include "common/error.hpp"
#include "results/codec/reader.hpp"
#include "tests/study/workspace.hpp"

namespace ringside::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

SweepStudy sweep_uniform(Workspace& workspace, const std::vector<std::string>& sweeps) {
  return sweep(sweeps, {.scenario = workspace.scenario("a.yaml", kUniform)}, workspace.invocation(),
               workspace.observer());
}

TEST(Sweep, OneCellPerCombinationRanksAndSize) {
  Workspace workspace;
  const SweepStudy study = sweep_uniform(workspace, {"ranks=2:8:2x", "bandwidth=1GB/s,100GB/s"});
  ASSERT_THAT(study.cells, SizeIs(3 * 2 * 2));
  for (const SweepCell& cell : study.cells) {
    EXPECT_EQ(std::to_string(cell.ranks), cell.values.front());
    ASSERT_TRUE(cell.winner);
    std::vector<double> times;
    for (const Point& point : cell.points) {
      times.push_back(point.predicted->seconds.value);
    }
    std::sort(times.begin(), times.end());
    EXPECT_DOUBLE_EQ(cell.winner->margin.value_or(0), times[1] / times[0]);
  }
}

TEST(Sweep, OfEqualAlgorithmsNoneWins) {
  Workspace workspace;
  // All ranks pass on everything: as long as naive, and with as many messages one after another.
  const auto file = workspace.write("a.yaml",
                                    "name: equal\nalgorithms: [naive, tutorial_ring, native]\nranks: 4\n"
                                    "message_sizes: [8 MB]\nbackend: gloo\nmachine:\n"
                                    "  intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}\n");
  const SweepStudy study = sweep({"bandwidth=10GB/s"}, {.scenario = read_scenario(file)},
                                 workspace.invocation(), workspace.observer());
  ASSERT_THAT(study.cells, SizeIs(1));
  EXPECT_EQ(study.cells[0].winner->algorithm, "naive") << "native is not one of ours";
  EXPECT_DOUBLE_EQ(study.cells[0].winner->margin.value_or(0), 1);
  EXPECT_EQ(study.cells[0].winner->tied_with, "tutorial_ring");
}

TEST(Sweep, AKeyThatChangesNoPredictionIsRefused) {
  Workspace workspace;
  const auto file = workspace.write("a.yaml",
                                    "name: a\nalgorithms: [ring]\nranks: 16\nmessage_sizes: [8 MB]\n"
                                    "machine:\n  nodes: 2\n  gpus_per_node: 8\n"
                                    "  intra: {kind: custom, latency: 1 us, bandwidth: 100 GB/s}\n"
                                    "  inter: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}\n");
  const auto refusal = [&](const std::vector<std::string>& keys) -> std::string {
    try {
      sweep(keys, {.scenario = read_scenario(file)}, workspace.invocation(), workspace.observer());
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({"ranks=8", "inter.bandwidth=1GB/s,2GB/s"}),
              HasSubstr("sweep inter.bandwidth: changes no prediction here"))
      << "on the first node";
  EXPECT_EQ(refusal({"inter.bandwidth=1GB/s,2GB/s"}), "");
  EXPECT_EQ(refusal({"ranks=8,16", "inter.bandwidth=1GB/s,2GB/s"}), "") << "some of them";
}

TEST(Sweep, SizesAreWholeElementsAndRanksAtLeastOne) {
  Workspace workspace;
  EXPECT_EQ(sweep_uniform(workspace, {"bytes=10B:20B:10B"}).cells.at(0).bytes, Bytes{8});
  const auto refused = [&](const std::vector<std::string>& sweeps) -> std::string {
    try {
      sweep_uniform(workspace, sweeps);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(refused({"ranks=0,2"}), HasSubstr("'0' is not a whole number from 1 to 16777216"));
  EXPECT_THAT(refused({"ranks=2,16777217"}), HasSubstr("'16777217' is not a whole number"));
  EXPECT_THAT(refused({"bytes=10B,20B"}), HasSubstr("sweep bytes=10B: is no whole number of float32"));
  EXPECT_THAT(refused({"bytes=3B:4KiB:log2"}), HasSubstr("no whole number")) << "not even one";
  EXPECT_THAT(refused({"ranks=2", "ranks=4"}), HasSubstr("sweep ranks: is swept twice"));
  EXPECT_THAT(refused({"bandwidth=1GB/s", "intra.bandwidth=2GB/s"}),
              HasSubstr("sweep intra.bandwidth: may be the same key as bandwidth; write both in full"));
  EXPECT_THAT(refused({"bytes=1MiB:1GiB:lin400", "bandwidth=1GB/s:9GB/s:lin300"}),
              HasSubstr("100000 combinations"));
}

TEST(Sweep, AMapNeedsTwoKeysWithSeveralValues) {
  Workspace workspace;
  const auto map = winner_map(sweep_uniform(workspace, {"ranks=2:8:2x"}));
  ASSERT_TRUE(map);
  EXPECT_EQ(map->rows.key, "ranks");
  EXPECT_EQ(map->columns.key, "message size");
  EXPECT_THAT(map->winners, SizeIs(3));
  EXPECT_FALSE(winner_map(sweep_uniform(workspace, {"ranks=2:8:2x", "bandwidth=1GB/s,100GB/s"})));
  EXPECT_TRUE(winner_map(sweep_uniform(workspace, {"ranks=2:8:2x", "bandwidth=1GB/s"})))
      << "one value is no axis";
}

TEST(Sweep, AnUnknownKeyIsRefusedWithTheNearestOne) {
  Workspace workspace;
  try {
    sweep_uniform(workspace, {"bandwith=1GB/s,2GB/s"});
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'bandwidth'?"));
  }
}

TEST(Sweep, AllGpusOfTheSweptNodesTakePart) {
  Workspace workspace;
  const auto file =  // All its ranks stand on the first node, which a sweep of ranks or nodes replaces.
      workspace.write("a.yaml",
                      "name: nodes\nalgorithms: [naive, ring]\nranks: 8\nmessage_sizes: [8 MB]\n"
                      "machine:\n  nodes: 2\n  gpus_per_node: 8\n"
                      "  intra: {kind: custom, latency: 1 us, bandwidth: 100 GB/s}\n"
                      "  inter: {kind: infiniband, rate: 200 Gb/s, nics: 1}\n");
  const auto ranks_of = [&](const std::vector<std::string>& sweeps) {
    std::vector<int> ranks;
    const SweepStudy study =
        sweep(sweeps, {.scenario = read_scenario(file)}, workspace.invocation(), workspace.observer());
    for (const SweepCell& cell : study.cells) {
      ranks.push_back(cell.ranks);
    }
    return ranks;
  };
  EXPECT_THAT(ranks_of({"nodes=1:8:2x"}), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(ranks_of({"ranks_per_node=2,8"}), ElementsAre(4, 16));
  EXPECT_THAT(ranks_of({"nodes=2,4", "ranks_per_node=1,8"}), ElementsAre(2, 16, 4, 32));
  EXPECT_THROW(ranks_of({"nodes=2,4", "ranks=8"}), Error) << "all ranks stand on the first node";
  EXPECT_THAT(ranks_of({"ranks=4,16"}), ElementsAre(4, 16));
  EXPECT_THROW(ranks_of({"ranks_per_node=16"}), Error);
  EXPECT_THROW(ranks_of({"nics=1,2"}), Error);
}

TEST(Sweep, OneKeyIsDrawnAsLinesAndLongTablesShowWhereTheWinnerChanges) {
  Workspace workspace;
  const SweepStudy study = sweep_uniform(workspace, {"ranks=2:64:1"});
  const auto shown = shown_cells(study);
  ASSERT_GE(shown.size(), 2U);
  EXPECT_LT(shown.size(), study.cells.size());
  EXPECT_EQ(shown.front(), &study.cells.front());
  EXPECT_EQ(shown.back(), &study.cells.back());
  const auto lines = sweep_lines(sweep_uniform(workspace, {"bandwidth=1GB/s:4GB/s:2x"}));
  ASSERT_TRUE(lines);
  EXPECT_THAT(lines->values, ElementsAre(1e9, 2e9, 4e9));
  EXPECT_THAT(lines->labels, ElementsAre("1 GB/s", "2 GB/s", "4 GB/s"));
  EXPECT_EQ(lines->lines.front().seconds.size(), 3U);
  EXPECT_FALSE(sweep_lines(sweep_uniform(workspace, {"ranks=2:8:2x", "bandwidth=1GB/s,100GB/s"})));
}

TEST(Sweep, IsWrittenPointByPointWithItsValues) {
  Workspace workspace;
  const SweepStudy study = sweep_uniform(workspace, {"ranks=2:4:2x", "bandwidth=1GB/s"});
  EXPECT_EQ(study.file, workspace.output() / "sweep_ranks_bandwidth.jsonl");
  const std::vector<std::string> lines = records(study);
  ASSERT_THAT(lines, SizeIs(2 * 2 * 2));
  EXPECT_THAT(lines.front(), testing::EndsWith(R"(,"sweep":{"ranks":"2","bandwidth":"1GB/s"}})"));
  EXPECT_THAT(lines.back(), testing::EndsWith(R"(,"sweep":{"ranks":"4","bandwidth":"1GB/s"}})"));
  const std::string text = read_text(study.file);
  EXPECT_THAT(text, testing::StartsWith(R"({"record":"run",)"));
  std::string after = text.substr(text.find('\n') + 1);
  for (const std::string& line : lines) {
    ASSERT_TRUE(after.starts_with(line + "\n"));
    after.erase(0, line.size() + 1);
  }
  EXPECT_EQ(after, "");
  EXPECT_THAT(workspace.notes(), testing::IsEmpty());
  std::string renamed(kUniform);
  renamed.replace(renamed.find("uniform"), 7, "another");
  sweep({"ranks=2:4:2x", "bandwidth=1GB/s"}, {.scenario = workspace.scenario("b.yaml", renamed)},
        workspace.invocation(), workspace.observer());
  EXPECT_THAT(workspace.notes(),
              ElementsAre(testing::StartsWith("An earlier sweep, of something else, is kept in ")));
}

TEST(Sweep, ATableOfTwelveCellsIsWhole) {
  Workspace workspace;
  const SweepStudy twelve = sweep_uniform(workspace, {"ranks=2:13:1", "bytes=8MB"});
  EXPECT_THAT(shown_cells(twelve), SizeIs(12));
  const SweepStudy more = sweep_uniform(workspace, {"ranks=2:14:1", "bytes=8MB"});
  const auto shown = shown_cells(more);
  EXPECT_LT(shown.size(), 13U);
  for (std::size_t i = 1; i + 1 < more.cells.size(); ++i) {
    const auto winner = [&](std::size_t at) { return more.cells[at].winner->algorithm; };
    const bool changes = winner(i) != winner(i - 1) || winner(i) != winner(i + 1);
    EXPECT_EQ(std::find(shown.begin(), shown.end(), &more.cells[i]) != shown.end(), changes) << i;
  }
}

TEST(Sweep, LinesAreOverTheOneKeyThatTakesSeveralNumbers) {
  Workspace workspace;
  const auto sizes = sweep_lines(sweep_uniform(workspace, {"bytes=1KiB:4KiB:2x"}));
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->key, "message size");
  EXPECT_THAT(sizes->labels, ElementsAre("1 KiB", "2 KiB", "4 KiB"));
  EXPECT_EQ(sizes->ranks, 4);
  EXPECT_EQ(sizes->bytes, std::nullopt);
  const SweepStudy study = sweep_uniform(workspace, {"ranks=2:8:2x", "bandwidth=1GB/s"});
  const auto ranks = sweep_lines(study);
  ASSERT_TRUE(ranks);
  EXPECT_EQ(ranks->key, "ranks");
  EXPECT_THAT(ranks->values, ElementsAre(2, 4, 8));
  EXPECT_EQ(ranks->ranks, 0) << "they change";
  EXPECT_EQ(ranks->bytes, Bytes{8'000'000}) << "the largest";
  ASSERT_THAT(ranks->lines, SizeIs(2));
  for (std::size_t line = 0; line < 2; ++line) {
    for (std::size_t i = 0; i < 3; ++i) {  // The second cell of each number of ranks is the larger size.
      EXPECT_EQ(ranks->lines[line].seconds[i], study.cells[2 * i + 1].points[line].predicted->seconds.value);
    }
  }
  EXPECT_FALSE(sweep_lines(sweep_uniform(workspace, {"ranks=4"})));
  const auto map = winner_map(sweep_uniform(workspace, {"ranks=2:8:2x", "bandwidth=1GB/s"}));
  ASSERT_TRUE(map);
  EXPECT_THAT(map->columns.values, ElementsAre("1 KiB", "8 MB"));
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 2; ++column) {
      EXPECT_EQ(map->winners[row][column]->seconds, study.cells[2 * row + column].winner->seconds);
    }
  }
}

TEST(Sweep, ValuesAreReadableAgain) {
  EXPECT_EQ(readable("5000000000 B/s"), "5 GB/s");
  EXPECT_EQ(readable("16"), "16");
}

}  // namespace
}  // namespace ringside::study
