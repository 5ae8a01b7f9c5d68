"""A job that cron starts too often: one runs at a time, and at most two in an hour. Prints what each start did."""

import sharedspace


def start(ns):
    try:
        with ns.lock("nightly", timeout=0):
            if not ns.rate_limit("nightly starts", 2, per=3600).acquire(timeout=0):
                return "ran twice in this hour"
            return "done"
    except TimeoutError:
        return "runs already"


if __name__ == "__main__":
    with sharedspace.Space().namespace("cron", persistent=True) as ns:
        print(*(start(ns) for _ in range(3)), sep=", ")
    sharedspace.Space().delete("cron")
