/// What the Python scripts have in common that press keys on a terminal, and count what reaches a command.
package enum SignalCounter {
    /// The beginning of such a script: `counter(telling, numbers)` is the program of a command that tells each of these
    /// signals that it gets through the descriptor `telling`, a line each, and ends by SIGTERM.
    ///
    /// It tells through a pipe, and not on the terminal. First it tells that it is ready, with its PID, its parent's, and the
    /// PID that `start` has put into `rest`.
    package static let python = #"""
        import os, pty, resource, select, signal, sys, termios
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        def counter(telling, numbers, start="rest = 0"):
            program = """
        import os, signal, sys
        def tell(number, _):
            os.write(TOLD, b"%d\\n" % number)
            if number == signal.SIGTERM: os._exit(3)
        START
        # A handler runs when the interpreter goes on: pause() would sleep after a signal that came right before it.
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing)
        for number in NUMBERS: signal.signal(number, tell)
        os.write(TOLD, b"ready %d %d %d\\n" % (os.getpid(), os.getppid(), rest))
        while True: os.read(reading, 1)
        """
            for name, text in ("START", start), ("TOLD", str(telling)), ("NUMBERS", repr(numbers)):
                program = program.replace(name, text)
            return program

        """#
}
