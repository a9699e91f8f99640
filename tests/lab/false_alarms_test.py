"""How often `ringside check` is wrong about published machines."""

import unittest

from ringside_case import SOURCE, RingsideCase


class FalseAlarms(RingsideCase):
    def test_published_false_alarms_are_what_the_command_says(self):
        result = self.run_lab("false-alarms", SOURCE / "configs/evaluation", "--format", "json", deadline=500)
        self.assertEqual(result.returncode, 0, result.stderr)
        systems = [r for r in self.records(result.stdout) if r["record"] == "checked_system" and r["healthy"]]
        sources = {}
        for system in systems:
            sources.setdefault(system["group"], []).append(system["alarm"])
        share = sum(sum(alarms) / len(alarms) for alarms in sources.values()) / len(sources)
        self.assertLessEqual(share, 0.07)
        causes = {r["cause"]: r for r in self.records(result.stdout) if r["record"] == "injected_cause"}
        for cause in ("peer_to_peer_off", "one_nic", "shared_nic"):
            self.assertGreaterEqual(causes[cause]["alarmed"], 0.9 * causes[cause]["machines"], cause)
            self.assertGreaterEqual(causes[cause]["among_first_two"], 0.8 * causes[cause]["alarmed"], cause)


if __name__ == "__main__":
    unittest.main()
