import ClusterStore
import Glibc

/// The etcds that `tools/etcd/test` starts; elsewhere there are none.
struct EtcdPlace: Sendable {
    /// The URL of an etcd of one member.
    let server: String
    /// The URLs of an etcd of three members.
    let members: [String]
    /// The URL of an etcd that is to demand passwords.
    let serverWithUsers: String
    /// The port of an etcd that demands certificates, and the folder with those.
    let securePort: String
    let certificates: String

    static let here: EtcdPlace? = {
        func value(_ name: String) -> String? { getenv("SPACE_ETCD_\(name)").map { String(cString: $0) } }
        guard let server = value("SERVER"), let members = value("MEMBERS"), let serverWithUsers = value("WITH_USERS"),
            let securePort = value("TLS_PORT"),
            let certificates = value("TLS_FOLDER")
        else { return nil }
        return EtcdPlace(
            server: server,
            members: members.split(separator: ",").map(String.init),
            serverWithUsers: serverWithUsers,
            securePort: securePort,
            certificates: certificates
        )
    }()
}

extension StoreError {
    /// Why the store can't be reached, if that is the error.
    var unavailableReason: String? { if case .unavailable(let why) = self { why } else { nil } }

    /// Why the store has refused the request, if that is the error.
    var refusedReason: String? { if case .refused(let why) = self { why } else { nil } }
}
