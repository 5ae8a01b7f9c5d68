import Glibc

/// Where a member of etcd listens: `https://HOST:PORT` or `http://HOST:PORT`.
struct EtcdURL: Hashable, Sendable, CustomStringConvertible {
    /// What a host is for the connection: an address is not looked up, and has no name for TLS.
    enum Kind {
        case name, ipv4, ipv6
    }

    let isSecure: Bool
    /// Without the brackets of an IPv6 address.
    let host: String
    let port: Int
    let kind: Kind

    /// The port on which etcd listens for clients by default.
    private static let defaultPort = 2379

    /// Several of them, with commas, in their order.
    ///
    /// - Throws: ``EtcdFailure`` if one is no such URL, or stands there twice.
    static func list(_ text: String) throws(EtcdFailure) -> [EtcdURL] {
        var urls: [EtcdURL] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let url = try EtcdURL(String(word))
            guard !urls.contains(url) else { throw EtcdFailure("--etcd names \(url) twice: name it once") }
            urls.append(url)
        }
        return urls
    }

    /// - Throws: ``EtcdFailure`` if the text is no such URL.
    init(_ text: String) throws(EtcdFailure) {
        func bad(_ reason: String) -> EtcdFailure {
            EtcdFailure("--etcd names '\(text)', \(reason); a member is https://HOST:PORT or http://HOST:PORT")
        }
        // RFC 3986, 3.1: a scheme in capital letters is the same one.
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard scheme == "https" || scheme == "http", text.dropFirst(scheme.count).hasPrefix("://") else {
            throw bad("which is neither https nor http")
        }
        isSecure = scheme == "https"
        let rest = text.dropFirst(scheme.count + 3)
        let place = rest.hasSuffix("/") ? rest.dropLast() : rest
        guard !place.contains(where: { "/?#@ \t".contains($0) }), place.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw bad("which has more than a host and a port") }
        let name: Substring
        let digits: Substring?
        if place.hasPrefix("[") {
            guard let end = place.firstIndex(of: "]") else { throw bad("which lacks a ']'") }
            name = place[place.index(after: place.startIndex)..<end]
            let tail = place[place.index(after: end)...]
            guard tail.isEmpty || tail.hasPrefix(":") else { throw bad("which has something behind its ']'") }
            digits = tail.isEmpty ? nil : tail.dropFirst()
            guard Self.isAddress(name, AF_INET6) else { throw bad("which has no IPv6 address in its brackets") }
            kind = .ipv6
        } else {
            let parts = place.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { throw bad("which has an IPv6 address without brackets") }
            name = parts.first ?? ""
            digits = parts.count == 2 ? parts[1] : nil
            kind = Self.isAddress(name, AF_INET) ? .ipv4 : .name
        }
        guard !name.isEmpty else { throw bad("which has no host") }
        guard let digits else {
            host = String(name)
            port = Self.defaultPort
            return
        }
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
            (1...65535).contains(number)
        else { throw bad("which has no port from 1 to 65535") }
        host = String(name)
        port = number
    }

    private static func isAddress(_ text: Substring, _ family: CInt) -> Bool {
        var address = in6_addr()
        return inet_pton(family, String(text), &address) == 1
    }

    var description: String {
        "\(isSecure ? "https" : "http")://\(kind == .ipv6 ? "[\(host)]" : host):\(port)"
    }
}
