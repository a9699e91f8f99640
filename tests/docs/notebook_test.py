"""docs/notebook.ipynb runs from its first cell to its last, on results and on a report.html of them."""

import importlib.util
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
from report_test import results  # pylint: disable=wrong-import-position
from ringside_case import SOURCE, RingsideCase  # pylint: disable=wrong-import-position

NEEDED = {"nbclient": "python3-nbclient", "nbformat": "python3-nbformat", "ipykernel": "python3-ipykernel", "pandas": "python3-pandas",
          "matplotlib": "python3-matplotlib"}


class Notebook(RingsideCase):
    def executed(self, file):
        missing = [package for module, package in NEEDED.items() if importlib.util.find_spec(module) is None]
        if missing:
            self.skipTest(f"not installed here (Debian): {' '.join(missing)}")
        import nbclient  # pylint: disable=import-outside-toplevel
        import nbformat  # pylint: disable=import-outside-toplevel
        os.environ["RINGSIDE_RESULTS"] = str(file)
        # This interpreter, whatever kernels a user has installed under its name.
        os.environ["JUPYTER_PATH"] = os.path.join(sys.prefix, "share/jupyter")
        notebook = nbformat.read(SOURCE / "docs/notebook.ipynb", as_version=4)
        nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(self.folder)}}).execute()
        return [output for cell in notebook.cells for output in cell.get("outputs", [])]

    def test_it_runs_on_results_and_on_a_report(self):
        outputs = self.executed(self.write("results.jsonl", results()))
        self.assertIn("ringside compare x.yaml", outputs[0]["text"])
        table = next(o["data"]["text/plain"] for o in outputs if "text/html" in o.get("data", {}))
        self.assertRegex(table, r"naive\s+0.09\s+1.0")
        self.assertTrue([o for o in outputs if "image/png" in o.get("data", {})])
        report = self.run_ringside("report", self.folder / "results.jsonl")
        if report.returncode == 3:
            self.skipTest(report.stderr.strip())
        again = self.executed(self.folder / "report.html")
        self.assertEqual([o["data"]["text/plain"] for o in again if "text/html" in o.get("data", {})], [table])


if __name__ == "__main__":
    unittest.main()
