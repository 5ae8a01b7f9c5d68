import ClusterStore
import ClusterStoreRemote
import Glibc
import SpaceSystem
import SystemPackage
import Testing

/// The time limits of space-etcd, at a member that accepts connections and never answers.
@Suite(.enabled(if: EtcdPlace.here != nil, "tools/etcd/test runs these tests"), .timeLimit(.minutes(2)))
struct SilentMemberTests {
    /// A socket that listens at a free port of 127.0.0.1; the kernel accepts connections to it.
    private final class Member {
        let url: String
        private let socket: OwnedDescriptor

        init() throws {
            let descriptor = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { throw Errno(rawValue: errno) }
            socket = OwnedDescriptor(adopting: descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isListening = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                    bind(descriptor, name, size) == 0 && listen(descriptor, 16) == 0
                        && getsockname(descriptor, name, &size) == 0
                }
            }
            guard isListening else { throw Errno(rawValue: errno) }
            url = "http://127.0.0.1:\(in_port_t(bigEndian: address.sin_port))"
        }
    }

    /// The program gives up by its own time limit: that of the wire is far longer.
    @Test func aCallEndsInTime() async throws {
        let place = try #require(EtcdPlace.here)
        let member = try Member()
        let process = try StoreProcess(place.program, ["--etcd", member.url], timeLimit: .seconds(3600))
        for _ in 0..<2 {
            let error = await #expect(throws: StoreError.self) {
                try await process.store.read(.key("a"), limit: nil, keysOnly: false)
            }
            #expect(error?.unavailableReason?.contains("no answer in time") == true, "\(String(describing: error))")
        }
        withExtendedLifetime(member) {}
    }

    /// Each process begins with a member of its own choice; a process that begins with the silent one asks the next.
    @Test func theNextMemberIsAsked() async throws {
        let place = try #require(EtcdPlace.here)
        let member = try Member()
        for _ in 0..<4 {
            let members = "\(member.url),\(place.server)"
            let process = try StoreProcess(place.program, ["--etcd", members], timeLimit: .seconds(3600))
            _ = try await process.store.read(.key("a"), limit: nil, keysOnly: false)
        }
        withExtendedLifetime(member) {}
    }
}
