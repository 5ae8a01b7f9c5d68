/// The reason why a responder gave no reply, as the asking process gets it.
package struct ResponderFailure: Error {
    private static let longest = 4096
    package let message: String

    /// The failure of a request whose responder has died after asking with `next`, when the disk reserve has no space
    /// for taking over the inner request.
    static let notTakenOver = ResponderFailure(
        "it has ended, and the namespace has no room to take over what it had asked"
    )

    package init(_ message: String) { self.message = message }

    package init(_ error: any Error) { message = (error as? SpaceError)?.reason ?? "\(error)" }

    /// The message, one encoded element.
    package var encoded: [UInt8] { Value.string(String(message.prefix(Self.longest))).knownElement }
}
