"""Training scripts share the GPUs of a machine; a killed one's goes to the next. Prints which runs were trained."""

import multiprocessing
import os
import signal

import sharedspace


def train(ns, run):
    # A GPU is a tuple, which its user claims: it is back when the script says so, or ends, however it ends.
    with ns.claim("gpu", int, timeout=None) as gpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(gpu.tuple[1])
        if run == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        ns.write("trained", run)
        gpu.complete(keep=True)


if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    with sharedspace.Space().namespace("gpus") as ns:
        ns.write_all([("gpu", n) for n in range(2)])
        scripts = [spawn.Process(target=train, args=(ns, run)) for run in range(6)]
        for script in scripts:
            script.start()
        for script in scripts:
            script.join()
        print(sorted(run for _, run in ns.take_all("trained", int)))
        # The killed script's GPU comes back as soon as this process hears of its end.
        print("free again:", sorted(ns.take("gpu", n, timeout=60)[1] for n in range(2)))
