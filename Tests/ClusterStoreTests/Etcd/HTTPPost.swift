import Glibc
import SystemPackage

/// Asks an etcd by its JSON interface for what a ``Store`` does not have.
enum HTTPPost {
    /// Sends a request to `http://ADDRESS:PORT`, with a user's token if there is one, and returns the answer with its head.
    static func send(_ server: String, _ path: String, _ body: String, token: String = "") throws -> String {
        let place = server.split(separator: ",")[0].dropFirst("http://".count).split(separator: ":")
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(place[1]).map(\.bigEndian) ?? 0
        inet_pton(AF_INET, String(place[0]), &address.sin_addr)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Errno(rawValue: errno) }
        let user = token.isEmpty ? "" : "Authorization: \(token)\r\n"
        let head =
            "POST \(path) HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\n\(user)Content-Length: \(body.utf8.count)\r\n\r\n"
        let file = FileDescriptor(rawValue: descriptor)
        try file.writeAll((head + body).utf8)
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
            if count == 0 { return String(decoding: answer, as: UTF8.self) }
            answer += buffer[..<count]
        }
    }
}
