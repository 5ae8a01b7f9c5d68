import SpaceSystem
import TupleCoding

/// Why a responder gave no reply, as its asker is told.
package struct ResponderFailure: Error {
    private static let longest = 4096
    package let message: String

    /// For who asked one that has ended, when there is no room to go on with what that one asked in turn.
    static let notTakenOver = ResponderFailure(
        "it has ended, and the namespace has no room to take over what it had asked"
    )

    package init(_ message: String) { self.message = message }

    package init(_ error: any Error) { message = (error as? SpaceError)?.reason ?? "\(error)" }

    /// One encoded element.
    package var encoded: [UInt8] { Value.string(String(message.prefix(Self.longest))).knownElement }
}
