#!/usr/bin/env python3
"""The lints of prose, of links and of the page's library see what they are for."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_layering  # pylint: disable=wrong-import-position
import check_prose  # pylint: disable=wrong-import-position
import check_text  # pylint: disable=wrong-import-position

OPENING = "# A page\n\nWhich one? Ask:\n\n```sh\nringside list algorithms\n```\n\n"
LONG = " ".join(["word"] * 31) + "."


def words_of(text):
    return [words for _, words in check_prose.sentences_of(text)]


class Prose(unittest.TestCase):
    def faults_of_page(self, name, text):
        return list(check_prose.faults_of_page(name, text))

    def faults_of_tree(self, pages):
        with tempfile.TemporaryDirectory(prefix="ringside-test-") as folder:
            root = pathlib.Path(folder)
            for name, text in pages.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            return list(check_prose.faults_of(root))

    def test_a_sentence_ends_at_its_stop_and_at_the_end_of_its_paragraph(self):
        self.assertEqual(words_of("One two. Three 4.5 five? (Six.)\n\n- seven eight\n- nine\n  ten, e.g. eleven\n"), [2, 3, 1, 2, 4])

    def test_tables_code_headings_pictures_and_targets_are_no_words(self):
        text = "# Not this\n\n| nor | this |\n\n```sh\nnor this\n```\n<!-- nor this -->\n![nor this](x.png)\n[two words](a-b-c.md) `and one of code`.\n"
        self.assertEqual(words_of(text), [3])

    def test_thirty_words_are_few_enough_and_one_long_sentence_in_forty_is_allowed(self):
        self.assertEqual(self.faults_of_page("docs/a.md", OPENING + LONG.replace("word ", "", 1)), [])
        self.assertIn("more than 30 words", self.faults_of_page("docs/a.md", OPENING + LONG)[0])
        self.assertEqual(self.faults_of_page("docs/a.md", OPENING + "Short one. " * 40 + LONG), [])

    def test_a_page_opens_with_its_question_and_what_is_never_a_subject(self):
        self.assertIn("no question", self.faults_of_page("docs/a.md", "# A page\n\nIt answers.\n")[0])
        self.assertIn("`what` is the subject", self.faults_of_page("docs/a.md", OPENING + "What waits is slow.\n")[0])
        self.assertEqual(self.faults_of_page("docs/a.md", OPENING + "What waits?\n"), [])

    def test_pages_and_words_are_counted_over_all_of_docs(self):
        many = {f"docs/{number}.md": OPENING for number in range(check_prose.MOST_PAGES + 1)}
        self.assertEqual(self.faults_of_tree(many), ["docs/: pages: 24, and 23 are the most"])
        self.assertEqual(self.faults_of_tree({"docs/a.md": OPENING + "| x " * 20_000}), ["docs/: words: 40,011, and 35,000 are the most"])
        self.assertEqual(self.faults_of_tree({"README.md": "Short.\n\n" * 51}), ["README.md: lines: 102, and 100 are the most"])
        self.assertEqual(self.faults_of_tree({"docs/a.md": OPENING + 3 * (" ".join(["word"] * 28) + ". ")}),
                         ["docs/: words a sentence: 17.4, and 16 are the most"])
        self.assertEqual(self.faults_of_tree({"docs/glossary.md": OPENING + "| **a** | b |\n" * 46}), ["docs/glossary.md: terms: 46, and 45 are the most"])


class Layering(unittest.TestCase):
    def test_the_page_has_no_algorithms_of_ranges_but_those_that_are_written_for_it(self):
        with tempfile.TemporaryDirectory(prefix="ringside-test-") as folder:
            root = pathlib.Path(folder)
            (root / "web").mkdir()
            (root / "web/missing.hpp").write_text("#pragma once\nauto find(Range&& range);\n", encoding="utf-8")
            for module in ("sim", "real"):
                (root / module).mkdir()
                (root / module / "a.cpp").write_text("std::ranges::find(x);\nstd::ranges::subrange y;\nstd::ranges::rotate(x);\n", encoding="utf-8")
            self.assertEqual(list(check_layering.faults_of(root)),
                             ["sim/a.cpp:3: the library of the page has no std::ranges::rotate; write it in web/missing.hpp"])


class Links(unittest.TestCase):
    def faults_of(self, text, name="docs/a.md"):
        with tempfile.TemporaryDirectory(prefix="ringside-test-") as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs/b.md").write_text("# Pages\n\n## How `it` runs: well\n\n```sh\n# no heading\n```\n", encoding="utf-8")
            (root / name).write_text(text, encoding="utf-8")
            return [fault.split(": ", 1)[1] for fault in check_text.faults_of(root)]

    def test_links_lead_to_files_and_headings(self):
        self.assertEqual(self.faults_of("[x](b.md) [x](b.md#how-it-runs-well) [x](https://example.org/c.md#d)\n\n# Here\n\n[x](#here)\n"), [])
        self.assertEqual(self.faults_of("[x](c.md)"), ["link to a file that is not there: c.md"])
        self.assertEqual(self.faults_of("[x](b.md#no-heading)"), ["link to a heading that is not there: b.md#no-heading"])
        self.assertEqual(self.faults_of("[x](#nowhere)"), ["link to a heading that is not there: #nowhere"])

    def test_pages_that_comments_name_are_there_with_the_headings_that_they_quote(self):
        self.assertEqual(self.faults_of('// docs/b.md, "Pages", and others/docs/c.md\n', "x.cpp"), [])
        self.assertEqual(self.faults_of("// see docs/c.md\n", "x.cpp"), ["names a page that is not there: docs/c.md"])
        self.assertEqual(self.faults_of('// (docs/b.md ("No heading"))\n', "x.cpp"), ['names a heading that is not there: docs/b.md, "No heading"'])

    def test_comments_are_as_narrow_as_code_and_quoted_lines_as_wide_as_they_are(self):
        words = "w" * (check_text.WIDEST - 3)
        self.assertEqual(self.faults_of(f"// {words}\n//   {words}\nauto x = R\"({words})\";\n", "x.cpp"), [])
        for comment in (f"// {words}w", f"/// {words}", f"///   a {words}", f"  int x;  ///< {words}", f"  int x;  // {words}"):
            self.assertIn("110 are the most", self.faults_of(comment + "\n", "x.hpp")[0])
            self.assertEqual(self.faults_of(comment + "\n"), [])


if __name__ == "__main__":
    unittest.main()
