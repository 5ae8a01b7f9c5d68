import LMDB
import SpaceSystem
import TupleCoding

// What those see who look at a namespace: its responders and requests, and what is wrong with them.

extension NamespaceStatus {
    /// Somebody who answers requests.
    public struct Responder: Sendable, Hashable {
        /// What it answers to.
        public var name: String { named.text }
        package let named: Name
        /// Its key.
        public var key: String { keyed.text }
        let keyed: Name
        /// The process; `nil` when its session has gone, and it is about to leave.
        public let pid: Int32?
        /// In which order those to one name are asked, from 1.
        public let order: Int
        /// Whether it lies under the stack.
        public let isBase: Bool
        /// Whether it has left the stack, and still answers what it has begun.
        public let isLeaving: Bool
        /// Since when.
        public let since: Int64
        /// How many requests it has that are not answered.
        public let requests: Int
    }

    /// A request that somebody waits for the answer to.
    public struct Request: Sendable, Hashable {
        /// What is asked.
        public var name: String { named.text }
        package let named: Name
        /// Who asks; `nil` when its session has gone, and the request is about to go.
        public let pid: Int32?
        /// Whom it is with; `nil`: nobody is left, or it is answered.
        public let responder: Int32?
        /// Since when.
        public let since: Int64
    }
}

extension Snapshot {
    /// `pids`: Of the sessions that live.
    func responderStatus(
        _ pids: [UInt64: Int32]
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
                    pid: pids[request.session],
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
                        pid: pids[row.session],
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

    /// What decodes of both.
    private func respondersAndRequests() throws(SpaceError) -> ([Name: ResponderStack], [RequestRow]) {
        var rows: [Name: [ResponderRow]] = [:]
        var requests: [RequestRow] = []
        for (name, hold) in try allHolds() {
            if let row = ResponderRow(hold) { rows[Name(name), default: []].append(row) }
            if let request = RequestRow(hold) { requests.append(request) }
        }
        return (rows.mapValues { ResponderStack($0) }, requests)
    }

    /// What is wrong: rows that don't decode or stand where they can't, requests without what they ask, and the reverse.
    func damageInResponders(_ counters: Counters) throws(SpaceError) -> [String] {
        var damage: [String] = []
        var works: Set<UInt64> = []
        var tickets: Set<UInt64> = []
        for (name, hold) in try allHolds() where hold.kind == .responder || hold.kind == .request {
            let subject = "\(hold.kind.phrase), hold \(hold.ticket),"
            guard (hold.kind == .request) == (name == RequestRow.holdName) else {
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
            for position in [request.at, request.below] + request.reached where position.ticket >= counters.nextClaim {
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

    /// The arguments and replies, by ticket, and whether they decode.
    private func requestBodies() throws(SpaceError) -> [UInt64: Bool] {
        var bodies: [UInt64: Bool] = [:]
        try lmdb { () throws(LMDBError) in
            var cursor = try access.cursor(tables.elements)
            var entry = try RequestRow.bodyKey(0).withBytes { (key) throws(LMDBError) in
                try cursor.seek(key, .atLeast)
            }
            while let row = entry, row.key.count >= 8, row.key.big(0, UInt64.self) == 0 {
                let ticket: UInt64 = row.key.count == 16 ? row.key.big(8) : 0
                bodies[ticket] = (try? Value(encodedElement: row.value)) != nil
                entry = try cursor.next()
            }
        }
        return bodies
    }
}
