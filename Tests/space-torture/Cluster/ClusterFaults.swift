import Glibc
import SeededRandom
import SpaceSystem

/// The faults of the part `cluster`: each is done, lasts for a random time, and is undone.
struct ClusterFaults {
    let servers: ClusterServers
    let ledger: ClusterLedger

    struct Fault {
        let name: String
        /// Why it can't be done here, if so.
        let refusal: String?
        let play: (inout SeededGenerator) throws -> Void
    }

    private static let noNetwork = "networks of the kernel are not permitted"
    private static let noClock = "wrong-clock.so was not built"

    func all() -> [Fault] {
        func fault(_ name: String, _ play: @escaping (inout SeededGenerator) throws -> Void) -> Fault {
            Fault(name: name, refusal: nil, play: play)
        }
        func cut(_ name: String, _ play: @escaping (ClusterNetwork, inout SeededGenerator) -> Void) -> Fault {
            Fault(name: name, refusal: servers.network == nil ? Self.noNetwork : nil) { generator in
                guard let network = servers.network else { return }
                play(network, &generator)
                network.heal()
            }
        }
        return [
            fault("calm", calm), fault("daemonKilled", daemonKilled), fault("daemonStopped", daemonStopped),
            fault("daemonStoppedBeyondLease", daemonStoppedBeyondLease), fault("leaderKilled", leaderKilled),
            fault("followerKilled", followerKilled), fault("memberStopped", memberStopped),
            fault("majorityKilled", majorityKilled), fault("machineKilled", machineKilled),
            fault("machineReplaced", machineReplaced), fault("compactedWhileAway", compactedWhileAway),
            fault("noSpace", noSpace), cut("siteCut", siteCut), cut("machineCut", machineCut),
            cut("noMajority", noMajority), cut("answersLost", answersLost), cut("requestsLost", requestsLost),
            cut("memberOneWay", memberOneWay), cut("onlyOneMember", onlyOneMember), cut("flapping", flapping),
            cut("slowMachine", slowMachine), cut("slowMembers", slowMembers),
            Fault(name: "clockSet", refusal: servers.hasClocks ? nil : Self.noClock, play: clockSet),
        ]
    }

    // MARK: Times

    private var lease: Int { Int(ClusterServers.lease.components.seconds) * 1000 }

    private func pause(_ milliseconds: ClosedRange<Int>, _ generator: inout SeededGenerator) {
        usleep(UInt32(Int.random(in: milliseconds, using: &generator) * 1000))
    }

    /// Mostly shorter than a lease, else longer.
    private func pauseAroundLease(_ generator: inout SeededGenerator) {
        pause(Bool.random(using: &generator) ? 100...lease / 2 : lease...lease + 4000, &generator)
    }

    private func machine(_ generator: inout SeededGenerator) -> Int {
        Int.random(in: 0..<servers.machines, using: &generator)
    }
    private func member(_ generator: inout SeededGenerator) -> Int {
        Int.random(in: 0..<servers.members, using: &generator)
    }

    /// Nothing but the workers is disturbed.
    private func calm(_ generator: inout SeededGenerator) throws { pause(2000...8000, &generator) }

    // MARK: Processes

    private func daemonKilled(_ generator: inout SeededGenerator) throws {
        let machine = machine(&generator)
        servers.kill(.daemon(machine))
        if Bool.random(using: &generator) { pauseAroundLease(&generator) }
        try servers.startDaemon(machine)
    }

    private func daemonStopped(_ generator: inout SeededGenerator) throws {
        let machine = machine(&generator)
        servers.send(SIGSTOP, to: .daemon(machine))
        pause(50...lease / 2, &generator)
        servers.send(SIGCONT, to: .daemon(machine))
    }

    private func daemonStoppedBeyondLease(_ generator: inout SeededGenerator) throws {
        let machine = machine(&generator)
        servers.send(SIGSTOP, to: .daemon(machine))
        pause(lease + 1000...lease + 5000, &generator)
        servers.send(SIGCONT, to: .daemon(machine))
    }

    private func killed(_ members: [Int], _ generator: inout SeededGenerator) throws {
        for member in members { servers.kill(.member(member)) }
        pauseAroundLease(&generator)
        for member in members { try servers.startMember(member) }
    }

    private func leaderKilled(_ generator: inout SeededGenerator) throws {
        try killed([servers.leader() ?? 0], &generator)
    }

    private func followerKilled(_ generator: inout SeededGenerator) throws {
        try killed([((servers.leader() ?? 0) + 1) % servers.members], &generator)
    }

    private func memberStopped(_ generator: inout SeededGenerator) throws {
        let member = Bool.random(using: &generator) ? servers.leader() ?? 0 : member(&generator)
        servers.send(SIGSTOP, to: .member(member))
        pauseAroundLease(&generator)
        servers.send(SIGCONT, to: .member(member))
    }

    /// Two of three members, or all, as when the power fails.
    private func majorityKilled(_ generator: inout SeededGenerator) throws {
        let count = Int.random(in: 2...servers.members, using: &generator)
        try killed(Array((0..<servers.members).shuffled(using: &generator).prefix(count)), &generator)
    }

    /// Kills all processes of a machine, and lets them begin anew after a time.
    private func whileDown(_ machine: Int, _ generator: inout SeededGenerator, _ body: () throws -> Void) throws {
        ledger.isDown(machine).storeSequential(1)
        pause(0...5, &generator)
        servers.kill(.daemon(machine))
        pauseAroundLease(&generator)
        try body()
        try servers.startDaemon(machine)
        ledger.isDown(machine).storeSequential(0)
    }

    private func machineKilled(_ generator: inout SeededGenerator) throws {
        try whileDown(machine(&generator), &generator) {}
    }

    /// A machine that comes back without its files, as after a reboot: its root was in memory.
    private func machineReplaced(_ generator: inout SeededGenerator) throws {
        let machine = machine(&generator)
        try whileDown(machine, &generator) {
            let folder = try OwnedDescriptor.open(servers.folder, flags: O_RDONLY | O_DIRECTORY)
            try Directory.removeTree(at: folder.raw, "machine-\(machine)")
        }
    }

    // MARK: etcd's own troubles

    /// While a machine is away, the log gets longer than one base, and etcd forgets its history.
    private func compactedWhileAway(_ generator: inout SeededGenerator) throws {
        let machine = machine(&generator)
        let begin = servers.revision()
        let deadline = MonotonicInstant.now.advanced(by: .seconds(30))
        if let network = servers.network, Bool.random(using: &generator) {
            network.cut(between: [servers.node(machine: machine)], and: servers.memberNodes)
        } else {
            servers.kill(.daemon(machine))
        }
        // In revisions: one for each entry, and some more. A base is made every 1000 entries.
        while servers.revision() < begin + 2500, !deadline.hasPassed { usleep(200_000) }
        let revision = servers.revision()
        let isCompacted = servers.request(servers.leader() ?? 0).compact(at: revision)
        note("compacted \(isCompacted), \(revision - begin) revisions")
        servers.network?.heal()
        try servers.mend()
    }

    /// Fills etcd until it raises its alarm, and makes space again after a time.
    private func noSpace(_ generator: inout SeededGenerator) throws {
        var number = 0
        let deadline = MonotonicInstant.now.advanced(by: .seconds(60))
        var isFull = false
        while !isFull, !deadline.hasPassed {
            let taken = servers.request(servers.leader() ?? 0).putFiller(number, bytes: 900_000)
            number += 1
            isFull = taken == nil
        }
        note("etcd is full: \(isFull), after \(number) values")
        pauseAroundLease(&generator)
        let request = servers.request(servers.leader() ?? 0)
        _ = request.deleteFillers()
        _ = request.compact(at: servers.revision())
        for member in 0..<servers.members { _ = servers.request(member).defragment() }
        let end = MonotonicInstant.now.advanced(by: .seconds(30))
        while !end.hasPassed {
            guard let alarms = request.alarms() else { usleep(100_000); continue }
            if alarms.isEmpty { break }
            for member in alarms { _ = request.disarm(member) }
        }
    }

    // MARK: Networks

    /// A machine and the member beside it are cut off from all others: a minority.
    private func siteCut(_ network: ClusterNetwork, _ generator: inout SeededGenerator) {
        let site = Bool.random(using: &generator) ? servers.leader() ?? 0 : member(&generator)
        let inside = [servers.node(member: site), servers.node(machine: site)]
        let outside = (servers.memberNodes + servers.machineNodes).filter { !inside.contains($0) }
        network.cut(between: inside, and: outside)
        pauseAroundLease(&generator)
    }

    private func machineCut(_ network: ClusterNetwork, _ generator: inout SeededGenerator) {
        network.cut(between: [servers.node(machine: machine(&generator))], and: servers.memberNodes)
        pauseAroundLease(&generator)
    }

    /// No member reaches another: there is no majority, although each machine reaches each member.
    private func noMajority(_ network: ClusterNetwork, _ generator: inout SeededGenerator) {
        network.cut(between: servers.memberNodes, and: servers.memberNodes)
        pauseAroundLease(&generator)
    }

    /// One way: what a machine asks arrives, and no answer comes.
    private func answersLost(_ network: ClusterNetwork, _ generator: inout SeededGenerator) {
        network.cut(from: servers.memberNodes, to: [servers.node(machine: machine(&generator))])
        pauseAroundLease(&generator)
    }

    private func requestsLost(_ network: ClusterNetwork, _ generator: inout SeededGenerator) {
        network.cut(from: [servers.node(machine: machine(&generator))], to: servers.memberNodes)
        pauseAroundLease(&generator)
    }

    /// The leader, or another member, is heard by no other member, or hears none.
    private func memberOneWay(_ network: ClusterNetwork, _ generator: inout SeededGenerator) {
        let member = Bool.random(using: &generator) ? servers.leader() ?? 0 : member(&generator)
        if Bool.random(using: &generator) {
            network.cut(from: [servers.node(member: member)], to: servers.memberNodes)
        } else {
            network.cut(from: servers.memberNodes, to: [servers.node(member: member)])
        }
        pauseAroundLease(&generator)
    }

    /// A machine reaches one member only; in half of the cases that one reaches no other.
    private func onlyOneMember(_ network: ClusterNetwork, _ generator: inout SeededGenerator) {
        let (machine, reached) = (machine(&generator), member(&generator))
        let others = servers.memberNodes.filter { $0 != servers.node(member: reached) }
        network.cut(between: [servers.node(machine: machine)], and: others)
        if Bool.random(using: &generator) { network.cut(between: [servers.node(member: reached)], and: others) }
        pauseAroundLease(&generator)
    }

    /// A machine's link is cut and whole again and again, one way or both.
    private func flapping(_ network: ClusterNetwork, _ generator: inout SeededGenerator) {
        let node = [servers.node(machine: machine(&generator))]
        for _ in 0..<Int.random(in: 4...12, using: &generator) {
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: network.cut(from: node, to: servers.memberNodes)
            case 1: network.cut(from: servers.memberNodes, to: node)
            default: network.cut(between: node, and: servers.memberNodes)
            }
            pause(20...700, &generator)
            network.heal()
            pause(20...400, &generator)
        }
    }

    private func slowMachine(_ network: ClusterNetwork, _ generator: inout SeededGenerator) {
        network.slow(servers.node(machine: machine(&generator)))
        pause(2000...6000, &generator)
    }

    private func slowMembers(_ network: ClusterNetwork, _ generator: inout SeededGenerator) {
        let first = member(&generator)
        network.slow(servers.node(member: first))
        if Bool.random(using: &generator) { network.slow(servers.node(member: (first + 1) % servers.members)) }
        pause(2000...6000, &generator)
    }

    // MARK: Clocks

    /// The wall clock of a machine steps, for its daemon and its workers, and stays wrong.
    private func clockSet(_ generator: inout SeededGenerator) throws {
        let steps: [Int64] = [-86_400, -3600, -5, 0, 5, 3600, 86_400 * 365]
        guard let ahead = steps.randomElement(using: &generator) else { return }
        try WrongClock.set(servers.root(machine(&generator)), ahead: ahead)
        pause(500...3000, &generator)
    }
}
