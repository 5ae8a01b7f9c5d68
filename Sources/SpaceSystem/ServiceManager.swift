import Glibc

/// What a service tells the manager that has started it (sd_notify(3)); without a manager, nothing is sent.
package enum ServiceManager {
    /// Sends a state, such as `READY=1`; a failure is ignored, because no service depends on it.
    package static func tell(_ state: String) {
        guard let value = getenv("NOTIFY_SOCKET"), value[0] == UInt8(ascii: "/") || value[0] == UInt8(ascii: "@") else {
            return
        }
        var path = Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
        // unix(7): an abstract address begins with a null byte.
        if path[0] == UInt8(ascii: "@") { path[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.count <= MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let raw = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard raw >= 0 else { return }
        defer { close(raw) }
        let size = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + path.count
        let text = Array(state.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(raw, text, text.count, Int32(MSG_NOSIGNAL), $0, socklen_t(size))
            }
        }
    }
}
