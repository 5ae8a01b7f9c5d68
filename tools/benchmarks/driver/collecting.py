"""The numbers of a run, one for each round, and their medians."""

import statistics

from running import COUNTS, QUANTILES


class Collection:
    """Numbers under a name and a program, one for each round."""

    def __init__(self):
        self.numbers = {}

    def add(self, name, program, number):
        self.numbers.setdefault(name, {}).setdefault(program, []).append(number)

    def add_line(self, name, program, found, line):
        """Adds a line of a program's output, and the percentiles and counts beside it."""
        self.add(name, program, found[line])
        for quantile in (*QUANTILES, *COUNTS):
            if f"{line}, {quantile}" in found:
                self.add(name, (program, quantile), found[f"{line}, {quantile}"])

    def merge(self, other):
        """Adds all numbers of another collection."""
        for name, programs in other.numbers.items():
            for program, numbers in programs.items():
                self.numbers.setdefault(name, {}).setdefault(program, []).extend(numbers)

    def median(self, name, program):
        found = self.numbers.get(name, {}).get(program)
        return statistics.median(found) if found else None

    def latencies(self, name, program):
        """The percentiles and the mean by name; none for what has one number. One that a round lacks, because it did too
        few operations, is left out: it would be compared with others of more rounds."""
        if self.median(name, (program, "mean")) is None:
            return {}
        rounds = len(self.numbers[name][program])
        found = {
            quantile: self.median(name, (program, quantile))
            for quantile in QUANTILES
            if len(self.numbers[name].get((program, quantile), [])) == rounds
        }
        return {"p50": self.median(name, program), **found}
