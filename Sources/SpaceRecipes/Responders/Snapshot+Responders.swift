import LMDB
import SpaceSystem
import TupleCoding

extension Snapshot {
    // MARK: Responders

    /// Throws: `typeMismatch` where the name is another thing's.
    func checkIsForResponders(_ name: String) throws(SpaceError) {
        if let object = try object(name) { throw mismatch(name, object.kind, wanted: .responder) }
        try forEachHold(HoldKeys(name)) { hold throws(SpaceError) in
            guard hold.kind == .responder else { throw mismatch(name, hold.kind, wanted: .responder) }
            return false
        }
    }

    /// The responders to a name.
    package func responders(to name: String) throws(SpaceError) -> ResponderStack {
        var rows: [ResponderRow] = []
        try forEachHold(HoldKeys(name)) { hold throws(SpaceError) in
            guard hold.kind == .responder else { return false }
            guard let row = ResponderRow(hold) else {
                throw damaged("a responder to \(name.quotedForPeople) does not decode")
            }
            rows.append(row)
            return true
        }
        return ResponderStack(rows)
    }

    /// All responders, by name, and of each name the one that is asked first in front; what does not decode is left out.
    func allResponders() throws(SpaceError) -> [(name: String, row: ResponderRow)] {
        var names: [Name] = []
        var rows: [Name: [ResponderRow]] = [:]
        for (name, hold) in try allHolds() {
            guard let row = ResponderRow(hold) else { continue }
            let name = Name(name)
            if names.last != name { names.append(name) }
            rows[name, default: []].append(row)
        }
        return names.flatMap { name in ResponderStack(rows[name] ?? []).rows.map { (name.text, $0) } }
    }

    // MARK: Requests

    /// A request by its ticket; `nil`: it was taken back.
    package func request(_ ticket: UInt64) throws(SpaceError) -> RequestRow? {
        guard let hold = try hold(HoldKeys(RequestRow.holdName), ticket) else { return nil }
        return try request(hold)
    }

    private func request(_ hold: HoldRow) throws(SpaceError) -> RequestRow {
        guard let request = RequestRow(hold) else { throw damaged("request \(hold.ticket) does not decode") }
        return request
    }

    /// The request that a work is for: as a rule that of its number, or else one that has taken it over.
    package func request(_ asking: Asking) throws(SpaceError) -> RequestRow? {
        if let request = try request(asking.ticket), request.work == asking.work { return request }
        var found: RequestRow?
        try forEachRequest { request throws(SpaceError) in if request.work == asking.work { found = request } }
        return found
    }

    /// The request that a responder is to answer; `nil` when it is not, or not any more.
    package func request(_ asking: Asking, of position: ResponderPosition) throws(SpaceError) -> RequestRow? {
        guard let request = try request(asking), request.isPending,
            try responders(to: request.name).addressee(of: request)?.position == position
        else { return nil }
        return request
    }

    /// All requests, in the order in which they were made.
    func forEachRequest(_ visit: (RequestRow) throws(SpaceError) -> Void) throws(SpaceError) {
        try forEachHold(HoldKeys(RequestRow.holdName)) { hold throws(SpaceError) in
            try visit(try request(hold))
            return true
        }
    }

    /// The argument of a request, or its reply: borrowed from the page.
    package func body(of ticket: UInt64) throws(SpaceError) -> UnsafeRawBufferPointer {
        let bytes = try lmdb { () throws(LMDBError) in
            try RequestRow.bodyKey(ticket).withBytes { (key) throws(LMDBError) in try access.get(tables.elements, key) }
        }
        guard let bytes else { throw damaged("request \(ticket) has no argument and no reply") }
        return bytes
    }

    /// What is copied when requests are dropped, and those within which they were made take them over.
    func movedBytes(dropping rows: [HoldRow]) throws(SpaceError) -> Int {
        var bytes = 0
        for request in rows.compactMap({ RequestRow($0) }) where request.within != 0 {
            bytes += try body(of: request.ticket).count + 1024
        }
        return bytes
    }

    /// Who is at work on a request: who has it, or who has what that one asks below.
    private func worker(on request: RequestRow) throws(SpaceError) -> Int32? {
        guard let addressee = try responders(to: request.name).addressee(of: request) else { return nil }
        var (pid, work) = (addressee.pid, request.work)
        // What is asked within a request is younger, and so comes later.
        try forEachRequest { inner throws(SpaceError) in
            guard inner.within == work, inner.isPending,
                let below = try responders(to: inner.name).addressee(of: inner)
            else { return }
            (pid, work) = (below.pid, inner.work)
        }
        return pid
    }

    /// How a request stands; a copy.
    package func standing(of request: RequestRow) throws(SpaceError) -> RequestStanding {
        switch request.state {
        case .pending:
            return try worker(on: request).map { .pending($0) } ?? .nobody(reached: request.reached)
        case .answered:
            return .answered(request.answeredBy, Array(try body(of: request.ticket)))
        case .failed:
            guard case .string(let message)? = try? Value(encodedElement: try body(of: request.ticket)) else {
                throw damaged("request \(request.ticket) has failed and does not say why")
            }
            return .failed(request.answeredBy, message)
        }
    }
}
