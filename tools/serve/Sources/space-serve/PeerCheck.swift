import FlyingFox
import Glibc

// A port of the loopback is open to all users of the machine, but a root of namespaces is its user's alone (mode 0700).
// So each request's other end is looked up in /proc/net/tcp (proc(5)), which tells the user of each socket. Only an
// established connection counts: a socket that its process has closed is shown as root's.

/// Which users' processes are answered.
enum PeerCheck {
    /// Whether the other end of a connection belongs to this user or to root.
    ///
    /// The answer is no if that can't be found out. At a Unix socket the file's mode has decided it.
    static func isAllowed(_ peer: HTTPRequest.Address?, at place: ListeningPlace) -> Bool {
        let (path, address, peerPort, port): (String, String, UInt16, UInt16)
        switch (place, peer) {
        case (.unix, _):
            return true
        case (.ip4(let own), .ip4("127.0.0.1", let other)?):
            (path, address, peerPort, port) = ("/proc/net/tcp", "0100007F", other, own)
        case (.ip6(let own), .ip6("::1", let other)?):
            (path, address, peerPort, port) = ("/proc/net/tcp6", "00000000000000000000000001000000", other, own)
        default:
            return false
        }
        guard let uid = uid(in: path, local: "\(address):\(hex(peerPort))", remote: "\(address):\(hex(port))") else {
            return false
        }
        return uid == geteuid() || uid == 0
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
