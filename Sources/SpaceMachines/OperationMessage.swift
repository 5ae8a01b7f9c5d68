package import SpaceEngine

/// An operation that a process sends to its root's daemon, as bytes; the layer above knows what they mean.
package struct OperationMessage: Equatable, Sendable {
    /// The session of the process, by which the operation's claims and holders go.
    package let session: UInt64
    /// The process's PID, for the journal.
    package let process: Int32
    package let operation: [UInt8]

    package init(session: UInt64, process: Int32, operation: [UInt8]) {
        self.session = session
        self.process = process
        self.operation = operation
    }

    func encode(into bytes: inout [UInt8]) {
        bytes.append(little: session)
        bytes.append(little: process)
        bytes.append(contentsOf: operation)
    }

    init?(_ bytes: ArraySlice<UInt8>) {
        var reader = ByteReader(bytes)
        guard let session = reader.next(UInt64.self), let process = reader.next(Int32.self) else { return nil }
        self.init(session: session, process: process, operation: Array(reader.unread))
    }
}

/// What became of an operation that was sent.
package enum OperationAnswer: Sendable {
    /// It was executed; the bytes are its outcome, and begin with one below 8.
    case outcome([UInt8])
    /// The operation must be executed by its process: its outcome does not fit in a message. Nothing was changed.
    case notHere
    case failed(SpaceError)
}

extension OperationAnswer {
    func encode(into bytes: inout [UInt8]) {
        switch self {
        case .outcome(let outcome): bytes.append(contentsOf: outcome)
        case .notHere: bytes.append(8)
        case .failed(let error):
            bytes.append(9)
            bytes.append(field: error.code.rawValue)
            bytes.append(little: error.holder ?? 0)
            bytes.append(field: error.reason)
            bytes.append(field: error.advice ?? "")
        }
    }

    init?(_ bytes: ArraySlice<UInt8>) {
        var reader = ByteReader(bytes)
        switch reader.next(UInt8.self) {
        case 1, 2, 3, 4, 5, 6, 7: self = .outcome(Array(bytes))
        case 8 where reader.isAtEnd: self = .notHere
        case 9:
            guard let code = reader.nextText(), let holder = reader.next(Int32.self), let reason = reader.nextText(),
                let advice = reader.nextText(), reader.isAtEnd
            else { return nil }
            // A later version of the daemon may have more codes.
            let known = SpaceError.Code(rawValue: code)
            self = .failed(
                SpaceError(
                    known ?? .incompatible,
                    holder: holder == 0 ? nil : holder,
                    reason: known == nil
                        ? "\(reason) (the failure \(code.quotedForPeople) of another version)" : reason,
                    advice: advice.isEmpty ? nil : advice
                )
            )
        default: return nil
        }
    }
}

extension OperationAnswer: Equatable {
    /// Answers are equal if they say the same.
    package static func == (left: OperationAnswer, right: OperationAnswer) -> Bool {
        func bytes(_ answer: OperationAnswer) -> [UInt8] {
            var bytes: [UInt8] = []
            answer.encode(into: &bytes)
            return bytes
        }
        return bytes(left) == bytes(right)
    }
}
