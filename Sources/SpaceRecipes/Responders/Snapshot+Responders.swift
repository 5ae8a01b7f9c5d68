extension TransactionTables {
    /// The arguments and replies of requests; `RequestRow` makes the keys.
    package var requestBodies: Table<[UInt8], UnsafeRawBufferPointer> { table(tables.elements) }
}

extension Snapshot {
    // MARK: Responders

    /// Throws `typeMismatch` if the name belongs to another kind of object.
    func checkIsForResponders(_ name: String) throws(SpaceError) {
        if let object = try object(name) { throw .mismatch(name, object.kind, wanted: .responder) }
        try forEachPlace(PlaceKeys(name)) { hold throws(SpaceError) in
            guard hold.kind == .responder else { throw .mismatch(name, hold.kind, wanted: .responder) }
            return false
        }
    }

    /// The responders to a name.
    package func responders(to name: String) throws(SpaceError) -> ResponderStack {
        var rows: [ResponderRow] = []
        try forEachPlace(PlaceKeys(name)) { hold throws(SpaceError) in
            guard hold.kind == .responder else { return false }
            guard let row = ResponderRow(hold) else {
                throw .damaged("a responder to \(name.quotedForPeople) does not decode")
            }
            rows.append(row)
            return true
        }
        return ResponderStack(rows)
    }

    /// The responders to all names, by name, each name's in the order in which they are asked; rows that do not decode
    /// are left out.
    func allResponders() throws(SpaceError) -> [(name: String, row: ResponderRow)] {
        var names: [Name] = []
        var rows: [Name: [ResponderRow]] = [:]
        for (name, hold) in try allPlaces() {
            guard let row = ResponderRow(hold) else { continue }
            let name = Name(name)
            if names.last != name { names.append(name) }
            rows[name, default: []].append(row)
        }
        return names.flatMap { name in ResponderStack(rows[name] ?? []).rows.map { (name.text, $0) } }
    }

    // MARK: Requests

    /// The request with a ticket, or `nil` if it was taken back.
    package func request(_ ticket: UInt64) throws(SpaceError) -> RequestRow? {
        guard let hold = try place(PlaceKeys(RequestRow.queueName), ticket) else { return nil }
        return try request(hold)
    }

    private func request(_ hold: PlaceRow) throws(SpaceError) -> RequestRow {
        guard let request = RequestRow(hold) else { throw .damaged("request \(hold.ticket) does not decode") }
        return request
    }

    /// The request that a work number belongs to: usually the request with that ticket, or else the request that has
    /// taken that work over.
    package func request(_ asking: Asking) throws(SpaceError) -> RequestRow? {
        if let request = try request(asking.ticket), request.work == asking.work { return request }
        var found: RequestRow?
        try forEachRequest { request throws(SpaceError) in if request.work == asking.work { found = request } }
        return found
    }

    /// The request that a responder has to answer, or `nil` if it is not, or no longer, with that responder.
    package func request(_ asking: Asking, of position: ResponderPosition) throws(SpaceError) -> RequestRow? {
        guard let request = try request(asking), request.isPending,
            try responders(to: request.name).addressee(of: request)?.position == position
        else { return nil }
        return request
    }

    /// All requests, in the order in which they were made.
    package func forEachRequest(_ visit: (RequestRow) throws(SpaceError) -> Void) throws(SpaceError) {
        try forEachPlace(PlaceKeys(RequestRow.queueName)) { hold throws(SpaceError) in
            try visit(try request(hold))
            return true
        }
    }

    /// The argument of a request or its reply, borrowed from the page.
    package func body(of ticket: UInt64) throws(SpaceError) -> UnsafeRawBufferPointer {
        guard let bytes = try requestBodies.get(RequestRow.bodyKey(ticket)) else {
            throw .damaged("request \(ticket) has no argument and no reply")
        }
        return bytes
    }

    /// The request within which another was made, if it is not answered yet.
    func outer(of request: RequestRow) throws(SpaceError) -> RequestRow? {
        guard request.within != 0 else { return nil }
        let outer = try self.request(Asking(ticket: request.within, work: request.within))
        return outer.flatMap { $0.isPending ? $0 : nil }
    }

    /// The requests that a responder has made with `next` in requests that it is answering.
    func requests(madeBy position: ResponderPosition) throws(SpaceError) -> [RequestRow] {
        var made: [RequestRow] = []
        try forEachRequest { request throws(SpaceError) in
            if try outer(of: request)?.at == position { made.append(request) }
        }
        return made
    }

    /// The process at work on a request: its responder's, or the innermost responder's if handlers have asked with
    /// `next`.
    private func worker(on request: RequestRow) throws(SpaceError) -> Int32? {
        guard let addressee = try responders(to: request.name).addressee(of: request) else { return nil }
        var (pid, work) = (addressee.pid, request.work)
        // An inner request is younger than its outer one, so it comes later.
        try forEachRequest { inner throws(SpaceError) in
            guard inner.within == work, inner.isPending,
                let below = try responders(to: inner.name).addressee(of: inner)
            else { return }
            (pid, work) = (below.pid, inner.work)
        }
        return pid
    }

    /// The state of a request, as a copy.
    package func standing(of request: RequestRow) throws(SpaceError) -> RequestStanding {
        switch request.state {
        case .pending:
            return try worker(on: request).map { .pending($0) } ?? .nobody(reached: request.reached)
        case .answered:
            return .answered(request.answeredBy, Array(try body(of: request.ticket)))
        case .failed:
            guard case .string(let message)? = try? Value(encodedElement: try body(of: request.ticket)) else {
                throw .damaged("request \(request.ticket) has failed and does not say why")
            }
            return .failed(request.answeredBy, message)
        }
    }
}
