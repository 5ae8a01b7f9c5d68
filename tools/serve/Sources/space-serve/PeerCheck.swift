import Glibc

// A port of the loopback is open to all users of the machine, but a root of namespaces is its user's alone (mode 0700).
// So the other end of each connection is looked up in /proc/net/tcp (proc(5)), which tells the user of each socket. Only
// an established connection counts: a socket that its process has closed is shown as root's.

/// Which users' processes are answered.
enum PeerCheck {
    /// Whether the other end of an accepted connection belongs to this user or to root; no, if that can't be found out.
    ///
    /// - Parameters:
    ///   - connection: The accepted socket.
    ///   - port: The port of the other end; `nil` at a Unix socket.
    ///   - place: Where it was accepted.
    /// - Returns: Whether it is answered.
    static func isAllowed(_ connection: Int32, port: UInt16?, at place: ListeningPlace) -> Bool {
        let owner: uid_t?
        switch (place, port) {
        case (.unix, _):
            owner = credentials(connection)
        case (.ip4(let own), let port?):
            let (there, here) = ("0100007F:\(hex(port))", "0100007F:\(hex(own))")
            owner = uid(in: "/proc/net/tcp", local: there, remote: here)
        case (.ip6(let own), let port?):
            let loopback = "00000000000000000000000001000000"
            owner = uid(in: "/proc/net/tcp6", local: "\(loopback):\(hex(port))", remote: "\(loopback):\(hex(own))")
        default:
            owner = nil
        }
        return owner.map { $0 == geteuid() || $0 == 0 } ?? false
    }

    /// The user that has connected to a Unix socket (unix(7), SO_PEERCRED).
    private static func credentials(_ connection: Int32) -> uid_t? {
        // A `struct ucred`, which Glibc does not show to Swift: the process, the user, the group.
        var found: (pid: pid_t, uid: uid_t, gid: gid_t) = (0, 0, 0)
        var size = socklen_t(3 * MemoryLayout<uid_t>.size)
        return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &found, &size) == 0 ? found.uid : nil
    }

    /// The user of the socket with these ends; `nil` if it is not found, or not established.
    private static func uid(in path: String, local: String, remote: String) -> uid_t? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var room = 0
        defer { free(line) }
        while getline(&line, &room, file) > 0 {
            guard let line else { return nil }
            // sl local_address rem_address st tx:rx tr:tm retrnsmt uid …
            let words = String(cString: line).split(separator: " ", maxSplits: 8)
            if words.count > 7, words[1] == local, words[2] == remote, words[3] == "01" { return uid_t(words[7]) }
        }
        return nil
    }

    private static func hex(_ port: UInt16) -> String {
        let digits = String(port, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}
