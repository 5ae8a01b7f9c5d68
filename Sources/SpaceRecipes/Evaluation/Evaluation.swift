import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// Linda's `eval`: a live tuple, which a child process computes, and which is written once the child has succeeded.
///
/// Guarantees: the tuple is written only after the child has exited with status 0 and printed one tuple in JSON form.
/// If the process that waits for the child dies, the child is killed with all that it has started, so a dead evaluation
/// never writes a tuple. The child is bound to the thread that started it, so that thread waits for it. `child` is the
/// process number of the child's guardian (`Guardian`).
package final class Evaluation: Sendable {
    /// How an evaluation ended.
    package enum Ending: Sendable {
        case written(TupleID)
        /// The exit status, or 128 plus the signal's number, as a shell reports it.
        case failed(Int32)
    }

    private struct State {
        var child: Int32 = 0
        var isStopped = false
    }

    private static let operation = "evaluate a tuple"
    /// poll(2) ignores negative descriptors.
    private static let noDescriptor: CInt = -1
    private let words: [String]
    private let namespace: Namespace
    private let state = Mutex(State())

    package init(_ words: [String], in namespace: Namespace) {
        self.words = words
        self.namespace = namespace
    }

    /// Kills the child, with all that it has started; if the child has not started yet, it never starts.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            // The child is not reaped while `child` is set, so the number is still its own.
            if state.child > 0 { Guardian.end(state.child) }
        }
    }

    /// Runs the evaluation to its end, on the calling thread.
    ///
    /// `signal` returns the number of a signal that asks the caller to end, once there is one; it is passed on to the
    /// child, once.
    package func run(timeout: Duration?, signal: () -> Int32? = { nil }) throws(SpaceError) -> Ending {
        try namespace.core.naming(Self.operation) { () throws(SpaceError) in
            try namespace.core.checkUsable()
            try namespace.core.checkMayWait()
            return try evaluate(timeout: timeout, signal)
        }
    }

    private func evaluate(timeout: Duration?, _ signal: () -> Int32?) throws(SpaceError) -> Ending {
        let deadline = MonotonicInstant.deadline(after: timeout)
        let ends = try system("a pipe") { () throws(Errno) in
            try OwnedDescriptor.pipe()
        }
        let output = OwnedDescriptor(adopting: ends.reading)
        _ = fcntl(output.raw, F_SETFL, O_NONBLOCK)
        let program = try start(OwnedDescriptor(adopting: ends.writing))
        let child = program.guardian
        let news = program.news.raw
        // The descriptor stays open until the end of this function.
        defer { extendLifetime(program) }
        var printed: Result<[UInt8], SpaceError> = .success([])
        var passedOn: Int32?
        func attend() {
            guard let number = signal(), number != passedOn else { return }
            passedOn = number
            kill(child, number)
        }
        do throws(SpaceError) {
            printed = .success(
                try read(output.raw, of: child, news) { (output) throws(SpaceError) in
                    try wait(for: output, or: news, until: deadline, attend)
                }
            )
            // Processes that the child has left behind go on.
            Guardian.leave(child)
        } catch {
            printed = .failure(error)
            stop()
        }
        let status = reap(child)
        let bytes = try printed.get()
        guard status == 0 else {
            if state.withLock({ $0.isStopped }) { throw .cancelled }
            return .failed(status)
        }
        let tuple: Tuple
        do throws(TupleCodingError) {
            tuple = try Tuple(json: bytes)
        } catch {
            throw failure(.evaluationFailed, "the output of \(words[0].quotedForPeople) is no tuple: \(error)")
        }
        return .written(try namespace.write(tuple: tuple))
    }

    /// Starts the program; `output` is the pipe that it writes to.
    ///
    /// Only the child's copy of that descriptor may stay open, or the pipe would never reach its end of file.
    private func start(_ output: consuming OwnedDescriptor) throws(SpaceError) -> Guardian.Program {
        guard !words.isEmpty else { throw failure(.invalidArgument, "there is no program to run") }
        if let place = words.firstIndex(where: { $0.utf8.contains(0) }) {
            throw failure(.invalidArgument, "word \(place) has a NUL, and a program's words end there")
        }
        let input = try system("/dev/null") { () throws(Errno) in
            try OwnedDescriptor.open("/dev/null", flags: O_RDONLY)
        }
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        let started = state.withLock { state -> Result<Guardian.Program, SpaceError> in
            guard !state.isStopped else { return .failure(.cancelled) }
            guard let file = pointers[0] else { return .failure(failure(.inputOutput, "there is no memory")) }
            do throws(Errno) {
                let program = try Guardian.spawn(
                    file,
                    &pointers,
                    input: input.raw,
                    output: output.raw,
                    resetting: [SIGPIPE, SIGXFSZ]
                )
                state.child = program.guardian
                return .success(program)
            } catch {
                return .failure(failure(.evaluationFailed, "\(words[0].quotedForPeople) can't be run: \(error.told)"))
            }
        }
        return try started.get()
    }

    /// Reads the child's output until the child has ended.
    ///
    /// The child may close its output and go on. Processes that it has started may hold its output open; this does not
    /// wait for them. `wait` waits for output or the end; it gets `noDescriptor` once no more output can come.
    private func read(
        _ descriptor: CInt,
        of child: Int32,
        _ news: CInt,
        _ wait: (CInt) throws(SpaceError) -> Void
    ) throws(SpaceError) -> [UInt8] {
        var bytes: [UInt8] = []
        var isOpen = true
        while true {
            // This comes before the read: if the child has ended, all that it has printed is in the pipe.
            let hasEnded = hasEnded(child, news)
            if isOpen { isOpen = try readOn(descriptor, &bytes) }
            if hasEnded { return bytes }
            try wait(isOpen ? descriptor : Self.noDescriptor)
        }
    }

    /// Reads the output that is there, and returns whether more may come.
    private func readOn(_ descriptor: CInt, _ bytes: inout [UInt8]) throws(SpaceError) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 && errno == EAGAIN }
            bytes += chunk[..<count]
            guard bytes.count <= Limits.valueBytes else {
                throw failure(.tooLarge, "\(words[0].quotedForPeople) prints more than \(Limits.valueBytes) bytes")
            }
        }
    }

    /// Waits until there is output or the child has ended, but for one tick at most.
    ///
    /// `attend` passes on the caller's signals. It runs before every sleep, and a sleep lasts at most one tick, because
    /// a signal that comes right before a sleep does not end it. Throws `timedOut`, and `cancelled` once the evaluation
    /// was stopped.
    private func wait(
        for output: CInt,
        or end: CInt,
        until deadline: MonotonicInstant?,
        _ attend: () -> Void
    ) throws(SpaceError) {
        if state.withLock({ $0.isStopped }) { throw .cancelled }
        attend()
        var requests = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: end, events: Int16(POLLIN), revents: 0),
        ]
        let patience = min(deadline?.remaining ?? Limits.tick, Limits.tick)
        let ready = poll(&requests, nfds_t(requests.count), patience.pollMilliseconds)
        if ready > 0 { return }
        if ready < 0, errno != EINTR { throw failure(.inputOutput, "it can't be waited for: errno \(errno)") }
        if deadline?.hasPassed ?? false {
            throw failure(.timedOut, "\(words[0].quotedForPeople) did not end in time")
        }
    }

    private func hasEnded(_ child: Int32, _ news: CInt) -> Bool {
        var request = pollfd(fd: news, events: Int16(POLLIN), revents: 0)
        if poll(&request, 1, 0) > 0 { return true }
        // If the guardian was killed, a process that was forked in the meantime may hold its end of the pipe.
        var info = siginfo_t()
        // waitid(2): with WNOHANG si_pid stays 0 while the child lives.
        return waitid(P_PID, id_t(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info._sifields._kill.si_pid != 0
    }

    /// Reaps a child that has ended or was killed, and returns its status.
    private func reap(_ child: Int32) -> Int32 {
        // This first waits without reaping, so that no signal goes to a number that already belongs to another process.
        var info = siginfo_t()
        while waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
        return state.withLock { state in
            state.child = 0
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0 && errno == EINTR {}
            let number = status & 0x7F
            return number == 0 ? (status >> 8) & 0xFF : 128 + number
        }
    }

    fileprivate func failure(_ code: SpaceError.Code, _ reason: String) -> SpaceError {
        SpaceError(code, Self.operation, namespace: namespace.name, reason: reason)
    }

    /// The result of the public forms.
    package func tuple(_ ending: Ending) throws(SpaceError) -> TupleID {
        switch ending {
        case .written(let id): return id
        case .failed(let status):
            throw failure(.evaluationFailed, "\(words[0].quotedForPeople) ended with status \(status)")
        }
    }
}

extension Namespace {
    /// Runs a program, and writes the tuple that it prints in JSON form: Linda's `eval`.
    ///
    /// ```swift
    /// try await jobs.evaluate(["./render", "scene.json"])        // prints ["rendered", "scene.json", 42]
    /// ```
    ///
    /// When this process dies or the task is cancelled, the program is killed with all that it has started. If the program ends by itself, processes that it has left behind go on; the call does not wait for
    /// them. The program's standard input is empty; its standard error is that of this process.
    ///
    /// - Parameter words: The program, which is looked up in `PATH`, and its arguments.
    /// - Returns: The id of the tuple.
    /// - Throws: `evaluationFailed` if the program can't be run, ends with another status than 0, or prints no tuple;
    ///   `cancelled` if the task is cancelled; `invalidArgument` if there are no words or one has a NUL;
    ///   `tooLarge`, and the errors of every write.
    @discardableResult
    public func evaluate(_ words: [String]) async throws(SpaceError) -> TupleID {
        try await evaluateSuspending(words, timeout: nil)
    }

    /// Runs a program for a time at most, and writes the tuple that it prints in JSON form; `nil` if the time has passed first:
    /// then the program was killed with all that it has started.
    ///
    /// - Throws: The same errors as ``evaluate(_:)``.
    public func evaluate(_ words: [String], timeout: Duration) async throws(SpaceError) -> TupleID? {
        do throws(SpaceError) {
            return try await evaluateSuspending(words, timeout: timeout)
        } catch  where error.code == .timedOut {
            return nil
        }
    }

    private func evaluateSuspending(_ words: [String], timeout: Duration?) async throws(SpaceError) -> TupleID {
        let evaluation = Evaluation(words, in: self)
        // The evaluation gets a thread of its own: the child is bound to its thread, and the threads of tasks come and
        // go.
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<TupleID, SpaceError>, Never>) in
                do throws(Errno) {
                    try DetachedThread.start {
                        do throws(SpaceError) {
                            let id = try evaluation.tuple(evaluation.run(timeout: timeout))
                            continuation.resume(returning: .success(id))
                        } catch {
                            continuation.resume(returning: .failure(error))
                        }
                    }
                } catch {
                    continuation.resume(
                        returning: .failure(evaluation.failure(.inputOutput, "no thread can be started"))
                    )
                }
            }
        } onCancel: {
            evaluation.stop()
        }
        return try result.get()
    }

    /// Runs a program for a time at most, and writes the tuple that it prints in JSON form; `nil` if the time has passed
    /// first.
    ///
    /// Blocks the thread; if the thread ends, the program dies too. Otherwise it does the same as the asynchronous
    /// form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func evaluate(_ words: [String], timeout: Duration) throws(SpaceError) -> TupleID? {
        let evaluation = Evaluation(words, in: self)
        do throws(SpaceError) {
            return try evaluation.tuple(evaluation.run(timeout: timeout))
        } catch  where error.code == .timedOut {
            return nil
        }
    }
}
