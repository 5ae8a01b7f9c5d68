"""Does jobs until it is killed: each is completed, noted and counted in one step."""

import sharedspace

jobs = sharedspace.Space().namespace("jobs")
for job in jobs.claims("job", int):
    with jobs.transaction() as t:
        t.complete(job)
        t.write("done", job.tuple[1], "python")
        t.add("count")
