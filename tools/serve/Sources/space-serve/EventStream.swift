import FlyingFox
import FlyingSocks

/// The body of an answer of server-sent events: what comes through a mailbox, which closes with the last copy of this.
struct EventStream: AsyncBufferedSequence {
    typealias Element = UInt8

    /// The least time between two parts: what comes meanwhile is sent together.
    private static let pause = Duration.milliseconds(100)

    /// Closes the mailbox when the server has dropped the answer, because it was sent or the page has gone.
    fileprivate final class Hold: Sendable {
        let mailbox: Mailbox
        init(_ mailbox: Mailbox) { self.mailbox = mailbox }
        deinit { mailbox.close() }
    }

    private let hold: Hold

    init(_ mailbox: Mailbox) { hold = Hold(mailbox) }

    func makeAsyncIterator() -> Iterator { Iterator(hold: hold) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        fileprivate let hold: Hold
        private var hasBegun = false

        fileprivate init(hold: Hold) { self.hold = hold }

        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            if hasBegun { try await Task.sleep(for: EventStream.pause) }
            hasBegun = true
            return await hold.mailbox.next()
        }

        /// The server asks for buffers only.
        mutating func next() async throws -> UInt8? { nil }
    }
}
