// The responders and requests as a namespace's status shows them, and the check of their rows.

extension NamespaceStatus {
    /// A handler that answers requests.
    public struct Responder: Entry, ProcessEntry {
        /// The name of the requests that the responder answers.
        public var name: String { named.text }
        package let named: Name
        /// The responder's key.
        public var key: String { keyed.text }
        let keyed: Name
        package let process: HolderProcess
        /// The responder's position, from 1, in the order in which the responders to its name are asked.
        package let order: Int
        /// Whether the responder lies under the stack.
        public let isBase: Bool
        /// Whether the responder has left the stack, and only finishes the requests that it has begun.
        package let isLeaving: Bool
        /// The time at which it was registered.
        public let since: Int64
        /// The number of requests that it has and that are not answered.
        public let requests: Int
    }

    /// A request whose answer a process waits for.
    public struct Request: Entry, ProcessEntry {
        /// The name of the request.
        public var name: String { named.text }
        package let named: Name
        package let process: HolderProcess
        /// The id of the process whose responder has the request; `nil` if no responder is left, or if it is answered.
        public let responder: Int32?
        /// The time at which the request was made.
        public let since: Int64
    }
}

extension Snapshot {
    /// The status of responders and requests.
    func responderStatus(
        _ holders: Holders
    ) throws(SpaceError) -> (responders: [NamespaceStatus.Responder], requests: [NamespaceStatus.Request]) {
        let (stacks, asked) = try respondersAndRequests()
        var load: [UInt64: Int] = [:]
        var requests: [NamespaceStatus.Request] = []
        for request in asked {
            let addressee = request.isPending ? stacks[Name(request.name)]?.addressee(of: request) : nil
            if let addressee { load[addressee.ticket, default: 0] += 1 }
            requests.append(
                NamespaceStatus.Request(
                    named: Name(request.name),
                    process: holders.process(of: .session(request.session), pid: request.pid),
                    responder: addressee?.pid,
                    since: request.since
                )
            )
        }
        var responders: [NamespaceStatus.Responder] = []
        for name in stacks.keys.sorted() {
            for (index, row) in (stacks[name]?.rows ?? []).enumerated() {
                responders.append(
                    NamespaceStatus.Responder(
                        named: name,
                        keyed: Name(row.key),
                        process: holders.process(of: .session(row.session), pid: row.pid),
                        order: index + 1,
                        isBase: row.isBase,
                        isLeaving: row.isRetired,
                        since: row.since,
                        requests: load[row.ticket] ?? 0
                    )
                )
            }
        }
        return (responders, requests)
    }

    /// The responders and requests whose rows decode.
    private func respondersAndRequests() throws(SpaceError) -> ([Name: ResponderStack], [RequestRow]) {
        var rows: [Name: [ResponderRow]] = [:]
        var requests: [RequestRow] = []
        for (name, hold) in try allPlaces() {
            if let row = ResponderRow(hold) { rows[Name(name), default: []].append(row) }
            if let request = RequestRow(hold) { requests.append(request) }
        }
        return (rows.mapValues { ResponderStack($0) }, requests)
    }

    /// The damage in the rows of responders and requests, and in the arguments of requests.
    ///
    /// It names rows that don't decode or stand in a wrong place, requests without arguments, and arguments without a
    /// request.
    func damageInResponders(_ counters: Counters) throws(SpaceError) -> [String] {
        var damage: [String] = []
        var works: Set<UInt64> = []
        var tickets: Set<UInt64> = []
        for (name, hold) in try allPlaces() where hold.kind == .responder || hold.kind == .request {
            let subject = "\(hold.kind.phrase), hold \(hold.ticket),"
            guard (hold.kind == .request) == (name == RequestRow.queueName) else {
                damage.append("\(subject) stands under the name \(name.quotedForPeople)")
                continue
            }
            if hold.kind == .responder {
                if ResponderRow(hold) == nil { damage.append("\(subject) does not decode") }
                continue
            }
            tickets.insert(hold.ticket)
            guard let request = RequestRow(hold) else {
                damage.append("\(subject) does not decode")
                continue
            }
            if !works.insert(request.work).inserted { damage.append("\(subject) is asked twice") }
            if request.at > .none, request.below > request.at { damage.append("\(subject) could be asked upwards") }
            for position in [request.at, request.below] + request.reached where position.ticket >= counters.nextNumber {
                damage.append("\(subject) was put to a responder that there never was")
            }
        }
        let bodies = try requestBodies()
        for ticket in tickets.subtracting(bodies.keys).sorted() { damage.append("request \(ticket) asks nothing") }
        for (ticket, isWhole) in bodies.sorted(by: { $0.key < $1.key }) {
            if !tickets.contains(ticket) {
                damage.append("something is asked for request \(ticket), which is not there")
            }
            if !isWhole { damage.append("what request \(ticket) asks, or is answered, does not decode") }
        }
        return damage
    }

    /// The tickets of requests that have arguments or replies, and whether these decode.
    private func requestBodies() throws(SpaceError) -> [UInt64: Bool] {
        var bodies: [UInt64: Bool] = [:]
        var rows = try requestBodies.scan(prefix: UInt64(0).bigEndianBytes)
        while let (key, value) = try rows.nextBytes() {
            let ticket: UInt64 = key.count == 16 ? key.big(8) : 0
            bodies[ticket] = (try? Value(encodedElement: value)) != nil
        }
        return bodies
    }
}
