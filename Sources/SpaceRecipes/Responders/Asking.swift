/// One asking of a responder: the ticket of the request's row, and the work number, which differs for each asking.
package struct Asking: Hashable, Sendable {
    package let ticket: UInt64
    package let work: UInt64

    package init(ticket: UInt64, work: UInt64) {
        self.ticket = ticket
        self.work = work
    }
}
