import Glibc
import SpaceSystem
import SpaceTestSupport

/// The members of etcd and the daemons of the part `cluster`: started, killed, stopped, and started again.
///
/// The process that uses it forks and waits, and has nothing of SharedSpace open. All of them end with it.
final class ClusterServers {
    /// What is not a machine's own: the time in which a machine counts as living without word from its daemon.
    static let lease = Duration.seconds(4)
    /// Small enough to be filled, and far more than the log of a run.
    private static let quota = 48 << 20

    let members = 3
    let machines = ClusterLedger.machines
    let folder: String
    /// `nil` where networks of the part's own are not permitted: all servers are on 127.0.0.1 then.
    let network: ClusterNetwork?
    /// Whether a machine can have a wrong wall clock.
    let hasClocks: Bool
    private let options: Options
    private let bin: String
    private let etcd: String
    private let ports: [(client: UInt16, peer: UInt16)]
    private var memberPIDs: [pid_t?]
    private var daemonPIDs: [pid_t?]
    /// Servers that ended by themselves.
    private(set) var ended: [String] = []

    init(_ options: Options, folder: String, network: ClusterNetwork?) throws {
        guard let etcd = options.etcd, let bin = options.bin else {
            throw UsageError(text: Options.clusterNeeds)
        }
        (self.options, self.folder, self.network, self.etcd, self.bin) = (options, folder, network, etcd, bin)
        ports = try (0..<members).map { _ in
            network == nil ? (try Self.freePort(), try Self.freePort()) : (2379, 2380)
        }
        memberPIDs = Array(repeating: nil, count: members)
        daemonPIDs = Array(repeating: nil, count: machines)
        hasClocks = options.clock.map { access($0, R_OK) == 0 } ?? false
        for machine in 0..<machines { try WrongClock.set(root(machine), ahead: 0) }
    }

    func root(_ machine: Int) -> String { "\(folder)/machine-\(machine)" }

    // MARK: Nodes of the network

    func node(member: Int) -> Int { member }
    func node(machine: Int) -> Int { members + machine }
    var memberNodes: [Int] { (0..<members).map(node(member:)) }
    var machineNodes: [Int] { (0..<machines).map(node(machine:)) }

    private func address(_ member: Int) -> String {
        network == nil ? "127.0.0.1" : ClusterNetwork.address(node(member: member))
    }
    private func clientURL(_ member: Int) -> String { "http://\(address(member)):\(ports[member].client)" }
    private func peerURL(_ member: Int) -> String { "http://\(address(member)):\(ports[member].peer)" }

    func request(_ member: Int) -> EtcdRequest {
        EtcdRequest(address: address(member), port: ports[member].client)
    }

    /// The member that leads, by the word of any that answers.
    func leader() -> Int? {
        let known = (0..<members).compactMap { member in request(member).leader().map { (member, $0) } }
        for (member, answer) in known where known.contains(where: { $0.1.leader == answer.own }) { return member }
        return nil
    }

    /// The revision of the whole store that a member knows.
    func revision() -> Int { (0..<members).compactMap { request($0).leader()?.revision }.max() ?? 0 }

    // MARK: Members of etcd

    func startMember(_ member: Int) throws {
        let initial = (0..<members).map { "etcd-\($0)=\(peerURL($0))" }.joined(separator: ",")
        memberPIDs[member] = try Process.startProgram(
            etcd,
            [
                "--name", "etcd-\(member)", "--data-dir", "\(folder)/etcd-\(member)",
                "--listen-client-urls", clientURL(member), "--advertise-client-urls", clientURL(member),
                "--listen-peer-urls", peerURL(member), "--initial-advertise-peer-urls", peerURL(member),
                "--initial-cluster", initial, "--initial-cluster-token", folder, "--initial-cluster-state", "new",
                "--quota-backend-bytes", "\(Self.quota)", "--snapshot-count", "5000", "--auto-compaction-retention",
                "0",
                "--logger", "zap", "--log-level", "warn",
            ],
            environment: ["PATH=/usr/bin:/bin", "ETCD_UNSUPPORTED_ARCH=arm64"].dropLast(Self.isARM ? 0 : 1),
            log: "\(folder)/etcd-\(member).log",
            network: network?.holder(of: node(member: member))
        )
    }

    private static var isARM: Bool {
        #if arch(arm64)
        true
        #else
        false
        #endif
    }

    // MARK: Daemons

    func startDaemon(_ machine: Int) throws {
        var environment = ["PATH=/usr/bin:/bin", "LC_ALL=C"]
        if hasClocks, let library = options.clock {
            environment += ["LD_PRELOAD=\(library)", "SPACE_WRONG_CLOCK=\(WrongClock.file(root(machine)))"]
        }
        daemonPIDs[machine] = try Process.startProgram(
            "\(bin)/space-etcd",
            [
                "join", "--root", root(machine), "--etcd", (0..<members).map(clientURL).joined(separator: ","),
                "--name", "machine-\(machine)", "--lease", "\(Self.lease.components.seconds)s",
            ],
            environment: environment,
            log: "\(folder)/daemon-\(machine).log",
            network: network?.holder(of: node(machine: machine))
        )
    }

    // MARK: Signals

    enum Server {
        case member(Int)
        case daemon(Int)
    }

    func pid(_ server: Server) -> pid_t? {
        switch server {
        case .member(let member): memberPIDs[member]
        case .daemon(let machine): daemonPIDs[machine]
        }
    }

    private func forget(_ server: Server) {
        switch server {
        case .member(let member): memberPIDs[member] = nil
        case .daemon(let machine): daemonPIDs[machine] = nil
        }
    }

    func send(_ signal: CInt, to server: Server) {
        if let pid = pid(server) { Glibc.kill(pid, signal) }
    }

    func kill(_ server: Server) {
        guard let pid = pid(server) else { return }
        Process.end(pid)
        forget(server)
    }

    func start(_ server: Server) throws {
        switch server {
        case .member(let member): try startMember(member)
        case .daemon(let machine): try startDaemon(machine)
        }
    }

    var all: [Server] { (0..<members).map(Server.member) + (0..<machines).map(Server.daemon) }

    /// Starts all that does not run, and notes what ended by itself.
    func mend() throws {
        for server in all {
            if let pid = pid(server) {
                Glibc.kill(pid, SIGCONT)
                guard Process.hasEnded(pid) else { continue }
                let end = "\(server) ended by itself: \(Process.wait(pid))"
                note(end)
                ended.append(end)
                forget(server)
            }
            try start(server)
        }
    }

    /// Ends all, the daemons before etcd.
    func end() {
        for server in all.reversed() { kill(server) }
        network?.end()
    }

    private static func freePort() throws -> UInt16 {
        let socket = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw UsageError(text: "socket: errno \(errno)") }
        defer { close(socket) }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        _ = inet_pton(AF_INET, "127.0.0.1", &place.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &place) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else { throw UsageError(text: "bind: errno \(errno)") }
        return UInt16(bigEndian: place.sin_port)
    }
}
