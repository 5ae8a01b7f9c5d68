"""Whether the machine kept its pace while a row was measured.

A virtual machine's processors change their pace, by up to a factor of two and for seconds. So a loop of additions runs
before and after each row. If the two differ, the row is measured again; if they differ each time, the last numbers count
and the row is marked. All calibrations, and the numbers that were set aside, are in results.json.
"""

from collecting import Collection

# How often a row is measured in a round, and by what factor a processor's pace may change meanwhile.
ATTEMPTS = 3
MOST = 1.1


def differ(before, after):
    """Whether some processor's additions took more than `MOST` times as long at one time as at the other; a processor of
    which one time is missing counts as one that changed."""
    return before.keys() != after.keys() or any(
        max(before[name], after[name]) > MOST * min(before[name], after[name]) for name in before
    )


class Steadiness:
    """The calibrations of a run."""

    def __init__(self, calibrate):
        """`calibrate` tells nanoseconds an addition by the processor's name."""
        self.calibrate = calibrate
        # Row → a list of calibrations, one for each attempt.
        self.calibrations = {}
        # Row → the numbers of the attempts that don't count.
        self.set_aside = {}

    def measure(self, rows, body):
        """Measures rows that belong together: `body` returns their numbers as a collection, for one round."""
        for attempt in range(1, ATTEMPTS + 1):
            before = self.calibrate()
            found = body()
            after = self.calibrate()
            steady = not differ(before, after)
            counts = steady or attempt == ATTEMPTS
            for row in rows:
                self.calibrations.setdefault(row, []).append(
                    {"before": before, "after": after, "steady": steady, "counts": counts}
                )
            if counts:
                return found
            for row in rows:
                self.set_aside.setdefault(row, Collection()).merge(found)
        raise AssertionError

    def entry(self, row, name=None):
        """What results.json has of a row's calibrations. `name`: that of the row's numbers, if it is another one."""
        aside = self.set_aside.get(row, Collection()).numbers.get(name or row, {})
        return {
            "calibrations": self.calibrations.get(row, []),
            "unsteady rounds": self.unsteady_rounds(row),
            "set aside": {
                program if isinstance(program, str) else ", ".join(program): numbers
                for program, numbers in aside.items()
            },
        }

    def unsteady_rounds(self, row):
        return sum(one["counts"] and not one["steady"] for one in self.calibrations.get(row, []))

    def text(self):
        """A line about all calibrations of the run."""
        all_times = [
            time for row in self.calibrations.values() for one in row for when in ("before", "after")
            for time in one[when].values()
        ]
        if not all_times:
            return "Nothing was calibrated."
        again = sum(not one["counts"] for row in self.calibrations.values() for one in row)
        return (
            f"An addition took {min(all_times):.3f} to {max(all_times):.3f} ns before and after the rows; rows were"
            f" measured again {again} times."
        )


def prove():
    """Shows that a change of pace is found, that measuring ends, and that no number is lost."""
    slow, fast = {"processor 0": 0.46, "processor 1": 0.24}, {"processor 0": 0.24, "processor 1": 0.24}
    if differ(fast, fast) or not differ(slow, fast) or not differ(fast, slow) or not differ({}, fast):
        raise RuntimeError("a change of the machine's pace is not found")
    for paces, kept, aside, unsteady in (
        ([fast, fast], [1], [], 0),
        ([slow, fast, fast, fast], [2], [1], 0),
        ([slow, fast] * ATTEMPTS, [ATTEMPTS], list(range(1, ATTEMPTS)), 1),
    ):
        paces, numbers = iter(paces), iter(range(1, ATTEMPTS + 1))
        steadiness = Steadiness(lambda: next(paces))

        def body():
            found = Collection()
            found.add("made up", "ours", next(numbers))
            return found

        found = steadiness.measure(["made up"], body)
        entry = steadiness.entry("made up")
        if (
            found.numbers["made up"]["ours"] != kept
            or entry["set aside"].get("ours", []) != aside
            or entry["unsteady rounds"] != unsteady
            or len(entry["calibrations"]) != len(kept + aside)
        ):
            raise RuntimeError("a row that the machine's pace changed is not measured again as it should")
