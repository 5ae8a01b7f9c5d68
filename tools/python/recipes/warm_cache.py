"""A server with worker processes: they share a cache, and each page is rendered by one of them. Prints the renderings."""

import os

import sharedspace

PAGES = ["/", "/news", "/about"]


def render(ns, path):
    ns.add(f"renderings of {path}")
    return f"<h1>{path}</h1>"


def page(ns, path):
    key = f"page {path}"
    if (found := ns.get(key)) is None:
        # One worker renders; the others wait for it, and find what it has made. If it is killed, the next one renders.
        with ns.lock(key):
            if (found := ns.get(key)) is None:
                found = render(ns, path)
                ns.set(key, found, expires=60)
    return found


def serve(ns):
    for _ in range(20):
        for path in PAGES:
            assert page(ns, path) == f"<h1>{path}</h1>"


if __name__ == "__main__":
    # A process that has not used the namespace yet may fork. The workers own it.
    ns = sharedspace.Space().namespace("pages", persistent=True)
    workers = []
    for _ in range(4):
        if (worker := os.fork()) == 0:
            serve(ns)
            os._exit(0)
        workers.append(worker)
    statuses = [os.waitpid(worker, 0)[1] for worker in workers]
    print([ns.get(f"renderings of {path}") for path in PAGES], statuses)
    sharedspace.Space().delete("pages")
