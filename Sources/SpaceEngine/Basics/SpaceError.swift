/// An error of a space: a code for the program to act on, and a message for people.
///
/// The message says what was attempted, on what, why it failed, and what to do.
///
/// ```swift
/// do {
///     try jobs.write("resize", 42)
/// } catch where error.code == .storageFull {
///     …
/// }
/// ```
public struct SpaceError: Error, Sendable {
    /// The kind of failure; its raw value, the name of the case, is stable across versions.
    ///
    /// A later version may have more kinds, so a `switch` over them needs an `@unknown default`.
    @nonexhaustive
    public enum Code: String, Sendable, CaseIterable {
        /// A name that no namespace can have: empty, too long, `.`, `..`, or with a slash or NUL in it.
        case invalidName
        /// An argument is outside its range, or has no meaning where it was used.
        case invalidArgument
        /// A value has the wrong kind: a cell that is not an integer, text that is not JSON, a tuple that doesn't
        /// decode.
        case badData
        /// A tuple, key or value exceeds its size limit.
        case tooLarge
        /// No namespace has this name.
        case namespaceNotFound
        /// The namespace was deleted while this handle was open.
        case namespaceDeleted
        /// The call would have created a namespace without an owner.
        case noOwner
        /// The namespace can't be used from here: another format version, mode, PID namespace or C library.
        case incompatible
        /// A file of the namespace is truncated, or holds invalid bytes.
        case damaged
        /// The folder belongs to another user, is a symbolic link, or can't be written to.
        case permissionDenied
        /// The file system is full.
        case storageFull
        /// The namespace's own byte limit is reached.
        case limitReached
        /// LMDB's reader table is full.
        case readersExhausted
        /// The process or the system has no file descriptors left.
        case descriptorsExhausted
        /// The transaction changed more than one transaction can hold.
        case transactionTooLarge
        /// The process that holds a lock is stopped; ``SpaceError/holder`` names it.
        case holderStopped
        /// The caller could not take a lock in time; ``SpaceError/holder`` names the process that had it last.
        case holderBusy
        /// A process made by `fork` used the library, although its parent had already used it.
        ///
        /// Either the handle was made before `fork` and used in the child, or a child opened a namespace after its
        /// parent had opened one. Start the child by `exec` or `posix_spawn`.
        case forked
        /// The handle was used after it had left the namespace.
        case closed
        /// The waiting task was cancelled, or the waiting thread interrupted; nothing was taken.
        case cancelled
        /// The process to be enrolled has exited, or is not allowed to be an owner.
        case noSuchProcess
        /// The claim had already returned to the space.
        case claimLost
        /// The time of the request that a handler answers is over, so the wait for the next responder ends.
        ///
        /// ``SpaceError/holder`` names the process that was asked. A call with a time-out of its own returns `nil` instead.
        case timedOut
        /// The task or thread that waits already holds what it waits for (a lock, permits, leadership), so the wait
        /// would never end.
        case wouldDeadlock
        /// The program whose output was to become a tuple failed, or printed no tuple.
        case evaluationFailed
        /// The hold is lost: it was taken away, or its process's session was taken for dead.
        case holdLost
        /// Another process or handle ended the subscription; its watcher gets no more changes.
        case subscriptionEnded
        /// The responder threw; ``SpaceError/holder`` names its process.
        case responderFailed
        /// No process answers the request, or all responders have already been asked.
        case noResponder
        /// A shared object (a collection, a lock …) was used with another type than its own.
        case typeMismatch
        /// The machines that share the namespace can't agree now, or this machine's daemon can't be reached; nothing was
        /// changed.
        case clusterUnavailable
        /// The change was sent to the machines that share the namespace, and no answer came: it may have happened, or may
        /// still happen.
        case outcomeUnknown
        /// Another machine's commit came before this one, which changed nothing.
        case outrun
        /// The session's member has ended on all machines, and the session goes on under another number: the library tries
        /// again with it, and throws `clusterUnavailable` if there is none in time.
        case memberEnded
        /// The system refused a read, write or map for a reason without a code of its own.
        case inputOutput
    }

    private final class Storage: Sendable {
        let code: Code
        let operation: String
        let namespace: String?
        let holder: Int32?
        let reason: String
        let advice: String?
        let snapshotInTheWay: Int?

        init(
            code: Code,
            operation: String,
            namespace: String?,
            holder: Int32?,
            reason: String,
            advice: String?,
            snapshotInTheWay: Int?
        ) {
            self.code = code
            self.operation = operation
            self.namespace = namespace
            self.holder = holder
            self.reason = reason
            self.advice = advice
            self.snapshotInTheWay = snapshotInTheWay
        }
    }

    // One pointer wide, so that a hot call pays only one register for the error path that it does not take.
    private let storage: Storage

    /// Makes an error.
    ///
    /// Code that does not know what is attempted leaves out the operation and the namespace; ``named(_:_:)`` adds them
    /// where the public operation begins.
    package init(
        _ code: Code,
        _ operation: String = "",
        namespace: String? = nil,
        holder: Int32? = nil,
        reason: String,
        advice: String? = nil,
        snapshotInTheWay: Int? = nil
    ) {
        storage = Storage(
            code: code,
            operation: operation,
            namespace: namespace,
            holder: holder,
            reason: reason,
            advice: advice,
            snapshotInTheWay: snapshotInTheWay
        )
    }

    /// The kind of failure.
    public var code: Code { storage.code }

    /// What was attempted, for example `"write"`.
    public var operation: String { storage.operation }

    /// The namespace's name, or `nil` if the error is not about one.
    public var namespace: String? { storage.namespace }

    /// The PID of the process that prevents the operation, or `nil` if no process does.
    public var holder: Int32? { storage.holder }

    /// Why it failed.
    public var reason: String { storage.reason }

    /// What to do about it, or `nil` if nothing can be done.
    ///
    /// A command in it names the namespace, so that it can be copied.
    public var advice: String? {
        guard let advice = storage.advice, let namespace = storage.namespace else { return storage.advice }
        return advice.replacingWord("NS", by: namespace.asShellWord)
    }

    /// The oldest snapshot that was being read, if the operation has room once that has ended; otherwise `nil`.
    package var snapshotInTheWay: Int? { storage.snapshotInTheWay }

    /// The same error with its operation and namespace, unless it has an operation already.
    @inline(never)
    package func named(_ operation: String, _ namespace: String?) -> SpaceError {
        self.operation.isEmpty ? within(operation, namespace: namespace) : self
    }

    /// Runs `body` as one operation: an error that has no operation yet gets this one, and the namespace.
    @inline(__always)
    package static func naming<R: ~Copyable>(
        _ operation: @autoclosure () -> String,
        on namespace: @autoclosure () -> String?,
        _ body: () throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        do throws(SpaceError) { return try body() } catch { throw error.named(operation(), namespace()) }
    }

    /// The same error, with the operation and the namespace that a caller further up knows.
    package func within(_ operation: String, namespace: String?) -> SpaceError {
        with(operation: operation, namespace: namespace)
    }

    /// The same error, with the given parts replaced; `nil` leaves a part as it is.
    package func with(
        operation: String? = nil,
        namespace: String? = nil,
        reason: String? = nil,
        advice: String? = nil,
        snapshotInTheWay: Int? = nil
    ) -> SpaceError {
        SpaceError(
            code,
            operation ?? self.operation,
            namespace: namespace ?? self.namespace,
            holder: holder,
            reason: reason ?? self.reason,
            advice: advice ?? storage.advice,
            snapshotInTheWay: snapshotInTheWay ?? self.snapshotInTheWay
        )
    }
}

extension SpaceError: CustomStringConvertible {
    /// One line: what was attempted, on what, why it failed, what to do.
    public var description: String {
        var text = ""
        // Before it has come to the call that failed, an error does not say what was attempted.
        if !operation.isEmpty {
            text = "cannot \(operation)"
            if let namespace { text += " (namespace \(namespace.quotedForPeople))" }
            text += ": "
        }
        text += reason
        if let advice { text += "; \(advice)" }
        return text
    }
}

extension String {
    /// The string for use in messages: in quotes, cut to a readable length, its control characters escaped.
    package var quotedForPeople: String {
        "\"\(text { $0 == "\"" || $0 == "\\" ? "\\\($0)" : nil })\""
    }

    /// The string for use in messages without quotes, such as JSON: cut to a readable length, its control characters
    /// escaped.
    package var shortenedForPeople: String { text { _ in nil } }

    /// The first 80 characters, escaped.
    ///
    /// - Parameter escape: The text for a character that is no control character; `nil` if it needs no escape.
    /// - Returns: The text.
    private func text(escaping escape: (Unicode.Scalar) -> String?) -> String {
        let longest = 80
        var text = ""
        for scalar in unicodeScalars.prefix(longest) {
            if let escaped = escape(scalar) ?? (scalar.isControl ? scalar.escaped : nil) {
                text += escaped
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return unicodeScalars.dropFirst(longest).isEmpty ? text : text + "…"
    }

    /// The text with each occurrence of a word, as a whole word, replaced.
    fileprivate func replacingWord(_ word: String, by other: String) -> String {
        var result = ""
        for part in split(separator: " ", omittingEmptySubsequences: false) {
            let end = part.last.flatMap { ",;:".contains($0) ? String($0) : nil } ?? ""
            if !result.isEmpty { result += " " }
            result += part.dropLast(end.count) == word ? other + end : String(part)
        }
        return result
    }

    /// The text as one word of a shell's command: as it stands, or in quotes; with control characters, it is for people.
    fileprivate var asShellWord: String {
        if unicodeScalars.contains(where: \.isControl) { return quotedForPeople }
        let isPlain = utf8.allSatisfy { $0.isOfWord || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
        if isPlain, !hasPrefix("-") { return self }
        return "'\(split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#))'"
    }
}
