import SpaceEngine

/// What a process and the daemon of its root say to each other, over the daemon's socket.
///
/// Each message is its length (4 bytes, without these), a kind (1 byte) and its fields, little-endian; a text or some
/// bytes at the end have no length of their own. A process sends one request and waits for its answer, except for
/// `release`, which has none. Nothing that is received is trusted: a message that does not decode ends the connection.
package enum DaemonRequest: Equatable, Sendable {
    /// The first request of a connection. With the life 0 of a process that is about to make a namespace, the answer is
    /// `taken` if the machines share one of its name, and `unavailable` while the daemon does not know that. Answers: `welcome`,
    /// `gone`, `taken`, `unavailable`.
    case hello(life: UInt64, name: String)
    /// Asks for the pen, for a process whose replica goes up to an entry. Answers: `pen`, `joining`, `gone`, `unavailable`.
    case pen(behind: UInt64)
    /// Asks for the entries behind one. Answers: `entries`, `unavailable`.
    case entries(behind: UInt64)
    /// Appends an entry behind one, with the pen as it was when the transaction began. With a member's number other than
    /// 0, only if that member's key does not exist. Answers: `done`, `refused`, `unknown`, `unavailable`.
    case append(behind: UInt64, pen: Int64, absentMember: UInt32, entry: [UInt8])
    /// Gives the pen back: the transaction has changed nothing. No answer.
    case release
    /// Asks how far the log goes now. Answers: `head`, `unavailable`.
    case head
    /// Says that a process of this root is about to own the namespace. Answers: `done`, `gone`, `unavailable`.
    case own
    /// Makes the namespace one of all machines (`life` is ignored in its `hello`). Answers: `done`, `taken`, `refused`,
    /// `unavailable`, `unknown`.
    case replicate
    /// Deletes the namespace on all machines. Answers: `done`, `gone`, `unavailable`.
    case delete
    /// Asks what the daemon knows, as JSON: of its machines and of all replicas, or of the one that the connection's
    /// `hello` named (`life` is ignored in it). Answers: `report`.
    case report
    /// Waits until this machine takes part in the namespace; the process must not hold the gate, which the daemon needs
    /// for that. Answers: `done`, `gone`, `unavailable`.
    case arrive
    /// Executes an operation, together with those of other processes. It is not executed if the connection ends before
    /// that. Answers: `result`, `joining`, `gone`, `unavailable`.
    case operate(OperationMessage)

    /// The protocol's version, sent with `hello`.
    package static let version: UInt32 = 3
    /// The most bytes of a message.
    package static let mostBytes = 16 << 20
}

/// An answer of the daemon.
package enum DaemonAnswer: Equatable, Sendable {
    /// The daemon is this member, or 0 while it is none; the namespace is not known to be gone.
    case welcome(member: UInt32)
    /// This machine has the pen, whose last change was this; the log goes up to the entry `head`.
    case pen(Int64, head: UInt64)
    /// The entries behind the one that was asked for, in order and without holes, as far as they fit.
    case entries([[UInt8]])
    case done
    /// The entry is not in the log, and never will be; or the request can't be granted, and why.
    case refused(String)
    /// The entry may be in the log, or may come.
    case unknown(String)
    /// The daemon can't reach the others, and nothing was done.
    case unavailable(String)
    /// The namespace no longer exists, or is another one now.
    case gone
    case head(UInt64)
    case report(String)
    /// This machine does not take part yet, or no longer does, and is about to; nothing was done.
    case joining(String)
    case result(OperationAnswer)
    /// The machines share another namespace of this name.
    case taken
}

// MARK: Bytes

extension DaemonRequest {
    package var encoded: [UInt8] {
        switch self {
        case .hello(let life, let name):
            message(1) {
                $0.append(little: Self.version)
                $0.append(little: life)
                $0.append(contentsOf: name.utf8)
            }
        case .pen(let entry): message(2) { $0.append(little: entry) }
        case .entries(let entry): message(3) { $0.append(little: entry) }
        case .append(let entry, let pen, let member, let bytes):
            message(4) {
                $0.append(little: entry)
                $0.append(little: pen)
                $0.append(little: member)
                $0.append(contentsOf: bytes)
            }
        case .release: message(5) { _ in }
        case .head: message(6) { _ in }
        case .own: message(7) { _ in }
        case .replicate: message(8) { _ in }
        case .delete: message(9) { _ in }
        case .report: message(10) { _ in }
        case .arrive: message(11) { _ in }
        case .operate(let operation): message(12) { operation.encode(into: &$0) }
        }
    }

    /// Decodes a message without its length.
    package init?(_ bytes: [UInt8]) {
        guard let kind = bytes.first else { return nil }
        func hasCount(_ count: Int) -> Bool { bytes.count == count }
        switch kind {
        case 1:
            guard bytes.count >= 13, bytes.little(1, UInt32.self) == Self.version,
                let name = String(validating: bytes[13...], as: UTF8.self)
            else { return nil }
            self = .hello(life: bytes.little(5, UInt64.self), name: name)
        case 2 where hasCount(9): self = .pen(behind: bytes.little(1, UInt64.self))
        case 3 where hasCount(9): self = .entries(behind: bytes.little(1, UInt64.self))
        case 4:
            guard bytes.count > 21 else { return nil }
            self = .append(
                behind: bytes.little(1, UInt64.self),
                pen: bytes.little(9, Int64.self),
                absentMember: bytes.little(17, UInt32.self),
                entry: Array(bytes[21...])
            )
        case 5 where hasCount(1): self = .release
        case 6 where hasCount(1): self = .head
        case 7 where hasCount(1): self = .own
        case 8 where hasCount(1): self = .replicate
        case 9 where hasCount(1): self = .delete
        case 10 where hasCount(1): self = .report
        case 11 where hasCount(1): self = .arrive
        case 12:
            guard let operation = OperationMessage(bytes[1...]) else { return nil }
            self = .operate(operation)
        default: return nil
        }
    }
}

extension DaemonAnswer {
    package var encoded: [UInt8] {
        func text(_ kind: UInt8, _ text: String) -> [UInt8] { message(kind) { $0.append(contentsOf: text.utf8) } }
        return switch self {
        case .welcome(let member): message(1) { $0.append(little: member) }
        case .pen(let revision, let head):
            message(2) {
                $0.append(little: revision)
                $0.append(little: head)
            }
        case .entries(let entries):
            message(3) {
                for entry in entries {
                    $0.append(little: UInt32(entry.count))
                    $0.append(contentsOf: entry)
                }
            }
        case .done: message(4) { _ in }
        case .refused(let why): text(5, why)
        case .unknown(let why): text(6, why)
        case .unavailable(let why): text(7, why)
        case .gone: message(8) { _ in }
        case .head(let entry): message(9) { $0.append(little: entry) }
        case .report(let json): text(10, json)
        case .joining(let why): text(11, why)
        case .result(let result): message(12) { result.encode(into: &$0) }
        case .taken: message(13) { _ in }
        }
    }

    /// Decodes a message without its length.
    package init?(_ bytes: [UInt8]) {
        guard let kind = bytes.first else { return nil }
        func text() -> String? { String(validating: bytes[1...], as: UTF8.self) }
        switch kind {
        case 1 where bytes.count == 5: self = .welcome(member: bytes.little(1, UInt32.self))
        case 2 where bytes.count == 17: self = .pen(bytes.little(1, Int64.self), head: bytes.little(9, UInt64.self))
        case 3:
            var entries: [[UInt8]] = []
            var position = 1
            while position < bytes.count {
                guard bytes.count - position >= 4 else { return nil }
                let count = Int(bytes.little(position, UInt32.self))
                position += 4
                guard count <= bytes.count - position else { return nil }
                entries.append(Array(bytes[position..<position + count]))
                position += count
            }
            self = .entries(entries)
        case 4 where bytes.count == 1: self = .done
        case 5: guard let why = text() else { return nil }; self = .refused(why)
        case 6: guard let why = text() else { return nil }; self = .unknown(why)
        case 7: guard let why = text() else { return nil }; self = .unavailable(why)
        case 8 where bytes.count == 1: self = .gone
        case 9 where bytes.count == 9: self = .head(bytes.little(1, UInt64.self))
        case 10: guard let json = text() else { return nil }; self = .report(json)
        case 11: guard let why = text() else { return nil }; self = .joining(why)
        case 12: guard let result = OperationAnswer(bytes[1...]) else { return nil }; self = .result(result)
        case 13 where bytes.count == 1: self = .taken
        default: return nil
        }
    }
}

/// A message with its length.
private func message(_ kind: UInt8, _ fill: (inout [UInt8]) -> Void) -> [UInt8] {
    var bytes: [UInt8] = [0, 0, 0, 0, kind]
    fill(&bytes)
    let count = UInt32(bytes.count - 4)
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: count >> (8 * UInt32(index))) }
    return bytes
}
