import Glibc
import SpaceSystem
import TupleCoding

/// The name of something that an agent holds: `file:src/**`, `port:3000-3010`, or any word, such as `gpu` or `branch:main`.
package struct HoldName: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// Files, by their paths from the worktree's folder, in every worktree; or by absolute paths outside of it.
        case files(PathPattern)
        case ports(ClosedRange<Int>)
        case word
    }

    let text: String
    let kind: Kind

    private static let file = "file:"
    private static let port = "port:"

    private init(text: String, kind: Kind) { (self.text, self.kind) = (text, kind) }

    /// Makes the name of a file, whose path is one from the worktree's folder or an absolute one.
    init(ofFile path: String) { self.init(text: Self.file + path, kind: .files(PathPattern(path, isLiteral: true))) }

    init(ofPort port: Int) { self.init(text: "\(Self.port)\(port)", kind: .ports(port...port)) }

    /// Reads a name as it is stored.
    init(stored text: String) {
        if let path = text.dropping(prefix: Self.file) {
            self.init(text: text, kind: .files(PathPattern(path)))
        } else if let ports = Self.ports(in: text) {
            self.init(text: text, kind: .ports(ports))
        } else {
            self.init(text: text, kind: .word)
        }
    }

    /// Reads a name as an agent says it.
    ///
    /// - Parameters:
    ///   - text: The name. A path is one from `folder`.
    ///   - repository: The repository of the agents.
    ///   - folder: The folder of the agent.
    /// - Throws: `AgentError` for a name that can't be held.
    init(_ text: String, in repository: Repository, from folder: String) throws(AgentError) {
        try AgentLimits.check(text, "a name to hold", most: AgentLimits.holdBytes)
        guard !text.isEmpty, !text.unicodeScalars.contains(where: \.isControl) else {
            throw AgentError("a name to hold is empty or has a control character in it")
        }
        if let path = text.dropping(prefix: Self.file) {
            self.init(stored: Self.file + (try Self.stored(path, in: repository, from: folder)))
        } else if text.dropping(prefix: Self.port) != nil {
            guard let ports = Self.ports(in: text) else {
                throw AgentError("\"\(text)\": a port is port:3000 or port:3000-3010, from 1 to 65535")
            }
            guard ports.count <= AgentLimits.ports else {
                throw AgentError("\"\(text)\" has \(ports.count) ports; \(AgentLimits.ports) are the most")
            }
            self.init(text: text, kind: .ports(ports))
        } else {
            self.init(text: text, kind: .word)
        }
    }

    /// The path of a pattern from the worktree's folder; its links are resolved up to the first wildcard.
    private static func stored(
        _ pattern: String,
        in repository: Repository,
        from folder: String
    ) throws(AgentError) -> String {
        guard !pattern.isEmpty else { throw AgentError("\"file:\" names no file: say file:src/** or file:README.md") }
        if pattern.contains("{"), pattern.contains(",") {
            throw AgentError(
                "\"file:\(pattern)\": braces are not understood; hold the patterns one by one, in one call"
            )
        }
        let names = ResolvedPath.names(in: pattern)
        let isAbsolute = pattern.utf8.first == UInt8(ascii: "/")
        let count = names.firstIndex { $0.contains("*") || $0.contains("?") } ?? names.count
        let front = names[..<count].joined(separator: "/")
        guard !names[count...].contains("..") else {
            throw AgentError("\"file:\(pattern)\" has \"..\" behind a wildcard; say the path without it")
        }
        guard let start = ResolvedPath.of(isAbsolute ? "/\(front)" : front, from: folder) else {
            throw AgentError("\"file:\(pattern)\" leads through too many symbolic links")
        }
        let rest = names[count...].joined(separator: "/")
        // If several repositories enclose it, such as a submodule and its parent, the agents' own counts.
        let home = Repository.enclosing(start).first { $0.common == repository.common } ?? repository
        let inside = home.path(of: start)
        let path = inside ?? start
        // A `*` or `?` in the name of a link's target, or of a folder above, would be read as a wildcard.
        guard !path.contains("*"), !path.contains("?") else {
            throw AgentError(
                "\"file:\(pattern)\" leads to \(path), whose * or ? would stand for others; say that path, with ? for them"
            )
        }
        if path.isEmpty { return rest.isEmpty ? "**" : rest }
        let stored = rest.isEmpty ? path : path == "/" ? "/\(rest)" : "\(path)/\(rest)"
        // Other agents hold the files of the worktree by their paths from its folder, which never match an absolute
        // path.
        if inside == nil,
            let enclosed = repository.worktrees.first(where: {
                PathPattern(stored).overlaps(PathPattern(below: $0))
            })
        {
            throw AgentError(
                "\"file:\(pattern)\" encloses files of the agents' folder, \(enclosed): "
                    + "hold those by their paths from it, such as file:**, and what is beside it by a path of its own"
            )
        }
        return stored
    }

    /// What the agent may have meant, if the name is a word that looks like a path or a port.
    ///
    /// `folder`: The folder of the worktree.
    func hint(in folder: String) -> String? {
        guard case .word = kind else { return nil }
        let word = String(text.drop { $0 == " " })
        for prefix in [Self.file, Self.port] where word.lowercased().utf8.starts(with: prefix.utf8) {
            let rest = word.dropping(prefix: String(word.prefix(prefix.count))) ?? ""
            let meant = String(rest.drop { $0 == " " })
            return "\"\(text)\" is a word; for a \(prefix.dropLast()) say \(prefix)\(meant)"
        }
        // branch:topic/x and a URL are words.
        let isPath = word.prefix { $0 != ":" }.utf8.contains(UInt8(ascii: "/"))
        guard isPath || (try? Directory.info(at: AT_FDCWD, "\(folder)/\(word)"))?.kind == .regular else { return nil }
        return "\"\(text)\" is a word; for a file say file:\(word)"
    }

    private static func ports(in text: String) -> ClosedRange<Int>? {
        guard let digits = text.dropping(prefix: port) else { return nil }
        let parts = digits.split(separator: "-", omittingEmptySubsequences: false).map { part in
            part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
        }
        guard (1...2).contains(parts.count), let first = parts[0], let last = parts[parts.count - 1], first >= 1,
            last <= 65_535, first <= last
        else { return nil }
        return first...last
    }

    /// Whether two agents can't hold both at the same time.
    ///
    /// A range of ports overlaps each port in it, although another one may be free.
    func overlaps(_ other: HoldName) -> Bool {
        switch (kind, other.kind) {
        case (.files(let left), .files(let right)): left.overlaps(right)
        case (.ports(let left), .ports(let right)): left.overlaps(right)
        case (.word, .word): text == other.text
        default: false
        }
    }
}

/// Which ports are free on this machine.
enum FreePorts {
    /// Whether no program has a TCP port, of IPv4 or IPv6, and this process may have it.
    ///
    /// A program that runs after the look may take it, but not an agent that asks first.
    static func isFree(_ port: Int) -> Bool {
        var four = sockaddr_in()
        four.sin_family = sa_family_t(AF_INET)
        four.sin_port = in_port_t(port).bigEndian
        var six = sockaddr_in6()
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = in_port_t(port).bigEndian
        return canBind(AF_INET, &four) && canBind(AF_INET6, &six)
    }

    private static func canBind<Address>(_ family: CInt, _ address: inout Address) -> Bool {
        let socket = Glibc.socket(family, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        // A machine without this family has no program that uses it.
        guard socket >= 0 else { return true }
        defer { close(socket) }
        var one: CInt = 1
        // A port whose last connection has just ended is free, unless a program listens (ip(7), tcp(7)).
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
        if family == AF_INET6 {
            setsockopt(socket, CInt(IPPROTO_IPV6), IPV6_V6ONLY, &one, socklen_t(MemoryLayout<CInt>.size))
        }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        return result == 0 || errno == EADDRNOTAVAIL
    }
}
