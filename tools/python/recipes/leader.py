"""Of several processes one leads; when it is killed the next one does. Prints the leaders in turn."""

import multiprocessing
import os

import sharedspace


def stand(ns, name):
    with ns.election("primary", name) as term:
        ns.write("leads", name, os.getpid(), term.fencing)
        ns.take("never", timeout=None)


if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    with sharedspace.Space().namespace("leaders") as ns:
        candidates = [spawn.Process(target=stand, args=(ns, name), daemon=True) for name in ("ada", "bob", "cyd")]
        for candidate in candidates:
            candidate.start()
        names, terms = [], []
        for _ in candidates:
            _, name, pid, term = ns.take("leads", str, int, int, timeout=None)
            names.append(name)
            terms.append(term)
            next(one for one in candidates if one.pid == pid).kill()
        print(*sorted(names), terms == sorted(terms))
