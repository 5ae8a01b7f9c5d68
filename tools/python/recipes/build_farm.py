"""Builds share a host, an upgrade has it alone, and a build that is killed holds up nothing. Prints what happened."""

import multiprocessing

import sharedspace


def build(ns, name):
    with ns.lock("host/nyx", shared=True):
        ns.write("begun", name)
        ns.take("go on", name, timeout=None)
        ns.write("happened", f"build {name}")


def upgrade(ns):
    with ns.lock("host/nyx") as host:
        # Give the number to the host, which refuses a smaller one: an upgrade that was stopped does no harm later.
        ns.write("happened", f"upgrade, fencing number {host.fencing > 0}")


if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    with sharedspace.Space().namespace("farm") as ns:
        builds = {name: spawn.Process(target=build, args=(ns, name)) for name in ("ada", "bob")}
        for name, process in builds.items():
            process.start()
            ns.take("begun", name, timeout=None)
        waiting = spawn.Process(target=upgrade, args=(ns,))
        waiting.start()
        builds["bob"].kill()
        ns.write("go on", "ada")
        for _ in range(2):
            print(ns.take("happened", str, timeout=None)[1])
        for process in (*builds.values(), waiting):
            process.join()
