import ClusterStore
import GRPCNIOTransportHTTP2Posix
import Glibc
import SpaceSystem
import SystemPackage

/// How connections by https are secured: the member's certificate is always verified, by the system's authorities or by
/// those of a file, and also that it is for the member's host.
struct EtcdSecurity: Sendable {
    let transport: HTTP2ClientTransport.Posix.TransportSecurity

    init(_ options: StoreOptions) throws(EtcdFailure) {
        let ca = try options.authorities.map { path throws(EtcdFailure) in try Self.bytes(path, "--ca") }
        let cert = try options.certificate.map { path throws(EtcdFailure) in try Self.bytes(path, "--cert") }
        let key = try options.key.map { path throws(EtcdFailure) in try Self.bytes(path, "--key") }
        transport = .tls { tls in
            if let ca { tls.trustRoots = .certificates([.bytes(ca, format: .pem)]) }
            if let cert, let key {
                tls.certificateChain = [.bytes(cert, format: .pem)]
                tls.privateKey = .bytes(key, format: .pem)
            }
        }
    }

    /// A password is a file's first line.
    static func password(_ path: String) throws(EtcdFailure) -> String {
        let bytes = try bytes(path, "--password-file")
        var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty, let password = String(validating: line, as: UTF8.self) else {
            throw EtcdFailure("--password-file \(path): its first line is no password")
        }
        return password
    }

    /// A file's bytes.
    ///
    /// That of the password is read again each time that it is refused; a pipe would be empty then.
    static func bytes(_ path: String, _ option: String) throws(EtcdFailure) -> [UInt8] {
        let largest = 1 << 20
        func failure(_ why: String) -> EtcdFailure { EtcdFailure("\(option) \(path): \(why)") }
        do throws(Errno) {
            // open(2): with O_NONBLOCK, a FIFO is opened without waiting for a writer.
            let file = try OwnedDescriptor.open(path, flags: O_RDONLY | O_NONBLOCK)
            if try FileInfo.of(file.raw).kind == .regular { return try FileBytes.read(file.raw, limit: largest) }
        } catch {
            if error == .fileTooLarge { throw failure("the file is larger than 1 MiB: another one is meant") }
            throw failure(error.description)
        }
        throw failure("it is no regular file; put what it gives into one")
    }
}
