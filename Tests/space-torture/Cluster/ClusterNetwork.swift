import Glibc

/// A network for the members of etcd and the machines of the part `cluster`, each with a kernel's network of its own, so
/// that each way between two of them can be cut.
///
/// All hang on a bridge in the part's own network. A way is cut by a hardware address that no node has: packets are sent,
/// and vanish, as in a broken network. The networks go with the processes that hold them.
final class ClusterNetwork {
    private let holders: [pid_t]
    private let log: String
    private var cuts: Set<[Int]> = []
    private var slow: Set<Int> = []
    /// Whether links can be made late and lossy; otherwise a slow link is one of few bytes a second.
    private(set) var hasDelays = true

    var count: Int { holders.count }

    /// Makes the nodes' networks; the calling process gets one of its own, too, with the bridge.
    init(nodes: Int, log: String) throws {
        if let refusal = KernelCall.unshare(KernelCall.newNetwork) {
            throw Rounds.Skipped(reason: "networks are not permitted: \(refusal)")
        }
        self.log = log
        holders = try (0..<nodes).map { _ in try Self.startHolder() }
        var isMade = Process.runScript(
            """
            set -e
            ip link set lo up
            ip link add br0 address \(Self.hardware(250)) type bridge
            ip addr add \(Self.address(250))/24 dev br0
            ip link set br0 up
            """,
            log: log
        )
        for (node, holder) in holders.enumerated() where isMade {
            isMade = Process.runScript(
                """
                set -e
                ip link add v\(node) type veth peer name eth0 address \(Self.hardware(node)) netns \(holder)
                ip link set v\(node) master br0 up
                """,
                log: log
            )
            let neighbours = (0..<nodes).filter { $0 != node }.map { Self.neighbour($0, Self.hardware($0)) }
            isMade =
                isMade
                && inside(
                    node,
                    """
                    set -e
                    ip link set lo up
                    ip addr add \(Self.address(node))/24 dev eth0
                    ip link set eth0 up
                    \(neighbours.joined(separator: "\n"))
                    """
                )
        }
        guard isMade else {
            end()
            throw Rounds.Skipped(reason: "networks can't be made by ip(8)")
        }
        // The kernel need not have it.
        hasDelays = inside(0, "tc qdisc add dev eth0 root netem delay 1ms && tc qdisc del dev eth0 root")
    }

    func end() { holders.forEach(Process.end) }

    /// The process whose network is a node's.
    func holder(of node: Int) -> pid_t { holders[node] }

    static func address(_ node: Int) -> String { "10.173.0.\(node + 1)" }

    // MARK: Faults

    /// Cuts the ways from nodes to others, one way each.
    func cut(from sources: some Sequence<Int>, to targets: some Sequence<Int>) {
        for source in sources {
            for target in targets where source != target {
                // No node has this address.
                if cuts.insert([source, target]).inserted {
                    _ = inside(source, Self.neighbour(target, Self.hardware(200)))
                }
            }
        }
    }

    /// Cuts nodes off from others, both ways.
    func cut(between some: [Int], and others: [Int]) {
        cut(from: some, to: others)
        cut(from: others, to: some)
    }

    /// Makes all that a node sends slow.
    func slow(_ node: Int) {
        let rule = hasDelays ? "netem delay 80ms 60ms loss 2%" : "tbf rate 200kbit burst 4kb limit 100kb"
        if inside(node, "tc qdisc replace dev eth0 root \(rule)") { slow.insert(node) }
    }

    /// Makes everything whole.
    func heal() {
        for way in cuts { _ = inside(way[0], Self.neighbour(way[1], Self.hardware(way[1]))) }
        for node in slow { _ = inside(node, "tc qdisc del dev eth0 root") }
        cuts = []
        slow = []
    }

    // MARK: The kernel

    private static func hardware(_ node: Int) -> String {
        "02:00:00:00:00:" + (node + 1 < 16 ? "0" : "") + String(node + 1, radix: 16)
    }

    private static func neighbour(_ node: Int, _ hardware: String) -> String {
        "ip neigh replace \(address(node)) lladdr \(hardware) dev eth0 nud permanent"
    }

    private func inside(_ node: Int, _ script: String) -> Bool {
        Process.runScript(script, log: log, network: holders[node])
    }

    private static func startHolder() throws -> pid_t {
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { throw UsageError(text: "pipe: errno \(errno)") }
        let child = try Process.start {
            guard KernelCall.unshare(KernelCall.newNetwork) == nil else { return 1 }
            var byte: UInt8 = 1
            write(ends[1], &byte, 1)
            close(ends[0])
            close(ends[1])
            while true { pause() }
        }
        close(ends[1])
        defer { close(ends[0]) }
        var byte: UInt8 = 0
        guard read(ends[0], &byte, 1) == 1 else {
            Process.end(child)
            throw Rounds.Skipped(reason: "networks are not permitted")
        }
        return child
    }
}
