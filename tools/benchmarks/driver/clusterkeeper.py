"""A cluster of several machines on this one, which ends with the driver, however that ends."""

import atexit
import json
import os
import subprocess
import urllib.request

END_TIMEOUT = 60


class ClusterKeeper:
    """What tools/cluster starts: members of etcd, and roots with their daemons."""

    def __init__(self, source, *arguments):
        # In a session of its own: an interrupt of the terminal does not come to it, and the driver's end does.
        self.process = subprocess.Popen(
            [os.path.join(source, "keep-cluster"), os.path.join(source, "..", "cluster"), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )
        atexit.register(self.end)
        # The addresses of etcd's members, and the machines' roots.
        self.etcd = []
        self.roots = []
        for line in self.process.stdout:
            if line == "ready\n":
                return
            kind, _, place, _ = line.split()
            if kind == "etcd":
                self.etcd.append(place.partition("://")[2])
            else:
                self.roots.append(place)
        self.process.wait(timeout=END_TIMEOUT)
        raise RuntimeError("the cluster has not come up; the messages above say why")

    @property
    def version(self):
        """The version of etcd."""
        # Past any proxy that the environment names.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://{self.etcd[0]}/version", timeout=5) as answer:
            return json.load(answer)["etcdserver"]

    def end(self):
        if self.process.returncode is not None:
            return
        self.process.stdin.close()
        if self.process.wait(timeout=END_TIMEOUT) != 0:
            raise RuntimeError("the cluster has not ended in order; the messages above say why")
