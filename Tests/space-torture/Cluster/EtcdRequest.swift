import Glibc
import SharedSpace

/// Requests to a member of etcd in JSON (its gRPC gateway), for what only the torture asks: who leads, alarms,
/// compaction.
///
/// Blocking, without a thread, and bounded in time: the process that asks forks, too.
struct EtcdRequest {
    let address: String
    let port: UInt16

    /// The member's own number and the leader's; `nil` if it does not answer, or knows of no leader.
    func leader() -> (own: String, leader: String, revision: Int)? {
        guard let answer = post("/v3/maintenance/status", "{}"), let header = answer.object("header"),
            let own = header.text("member_id"), let leader = answer.text("leader"), leader != "0"
        else { return nil }
        return (own, leader, Int(header.text("revision") ?? "") ?? 0)
    }

    var isHealthy: Bool { leader() != nil }

    /// Forgets the history before a revision.
    func compact(at revision: Int) -> Bool {
        post("/v3/kv/compaction", #"{"revision":"\#(revision)","physical":true}"#) != nil
    }

    func defragment() -> Bool { post("/v3/maintenance/defragment", "{}") != nil }

    /// Puts a large value under a key of the torture's own.
    ///
    /// Returns: Whether etcd took it; `nil` if there is no space.
    func putFiller(_ number: Int, bytes: Int) -> Bool? {
        let value = String(repeating: "A", count: bytes / 3 * 4)
        guard let answer = post("/v3/kv/put", #"{"key":"\#(Self.fillerKey(number))","value":"\#(value)"}"#, any: true)
        else { return false }
        if answer.text("error")?.contains("space exceeded") == true { return nil }
        return answer.object("header") != nil
    }

    func deleteFillers() -> Bool {
        // "torture-filler" up to "torture-filles".
        post("/v3/kv/deleterange", #"{"key":"dG9ydHVyZS1maWxsZXI=","range_end":"dG9ydHVyZS1maWxsZXM="}"#) != nil
    }

    /// The members that have raised an alarm; `nil` if this one does not answer.
    func alarms() -> [String]? {
        guard let answer = post("/v3/maintenance/alarm", #"{"action":"GET"}"#) else { return nil }
        guard case .array(let alarms)? = answer["alarms"] else { return [] }
        return alarms.compactMap { alarm in
            guard case .object(let members) = alarm else { return nil }
            return Answer(members: members).text("memberID")
        }
    }

    /// Ends the alarm of a member.
    func disarm(_ member: String) -> Bool {
        post("/v3/maintenance/alarm", #"{"action":"DEACTIVATE","memberID":"\#(member)","alarm":"NOSPACE"}"#) != nil
    }

    /// "torture-filler-" and three more bytes, in base 64.
    private static func fillerKey(_ number: Int) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        return "dG9ydHVyZS1maWxsZXIt" + String([digits[number / 62 % 62], digits[number % 62]]) + "AA"
    }

    // MARK: HTTP

    private struct Answer {
        let members: Record

        subscript(key: String) -> Value? { members[key] }

        func object(_ key: String) -> Answer? {
            guard case .object(let object)? = members[key] else { return nil }
            return Answer(members: object)
        }

        func text(_ key: String) -> String? {
            guard case .string(let text)? = members[key] else { return nil }
            return text
        }
    }

    /// `any`: Whether an answer that tells of an error counts too.
    private func post(_ path: String, _ body: String, any: Bool = false) -> Answer? {
        let head = "POST \(path) HTTP/1.0\r\nHost: etcd\r\nContent-Type: application/json\r\nContent-Length: "
        guard let answer = exchange(Array("\(head)\(body.utf8.count)\r\n\r\n\(body)".utf8)) else { return nil }
        // "HTTP/1.0 200 OK": the status is at a fixed place, and the body behind an empty line.
        let isGood = answer.dropFirst(9).starts(with: "200".utf8)
        let line = Array("\r\n\r\n".utf8)
        guard any || isGood,
            let end = answer.indices.first(where: { answer[$0...].starts(with: line) }),
            case .object(let members)? = try? Value(json: Array(answer[(end + 4)...]))
        else { return nil }
        return Answer(members: members)
    }

    private func exchange(_ request: [UInt8]) -> [UInt8]? {
        let socket = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        guard socket >= 0 else { return nil }
        defer { close(socket) }
        // socket(7): these bound connect(2), too.
        var limit = timeval(tv_sec: 3, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = port.bigEndian
        guard inet_pton(AF_INET, address, &place.sin_addr) == 1 else { return nil }
        let isConnected = withUnsafePointer(to: &place) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return nil }
        var rest = request[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard count > 0 else { return nil }
            rest = rest.dropFirst(count)
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count >= 0 else { return nil }
            if count == 0 { return answer }
            answer += buffer[..<count]
        }
    }
}
