import Glibc
import SharedSpace

/// Works of several machines: each root is one, and has its daemon `space join`; the root of ``Main`` is the first.
///
/// Each work makes a replicated namespace, and deletes it on all machines when it has ended.
struct Machines {
    static let patience = Duration.seconds(30)

    let name: String
    let spaces: [Space]
    /// The same namespace on each machine, up to date.
    let namespaces: [Namespace]

    /// Makes a namespace on the first machine, and opens it on each.
    init(_ first: Space, _ others: [String]) throws {
        name = "benchmark-\(getpid())-\(now())"
        spaces = [first] + (try others.map { try Space(root: $0) })
        let made = try first.namespace(name, options: NamespaceOptions(isReplicated: true))
        namespaces = [made] + (try spaces.dropFirst().map { [name] space in try Self.open(name, in: space) })
    }

    /// Opens a namespace when it has come to a machine.
    static func open(_ name: String, in space: Space) throws -> Namespace {
        let deadline = ContinuousClock.now + patience
        while true {
            do {
                let namespace = try space.existingNamespace(name)
                try namespace.synchronize()
                return namespace
            } catch {
                let isOnItsWay = error.code == .namespaceNotFound || error.code == .clusterUnavailable
                guard isOnItsWay, ContinuousClock.now < deadline else { throw error }
                usleep(10_000)
            }
        }
    }

    /// Runs a work, and deletes the namespace whether it fails or not.
    func use(_ body: (Machines) throws -> Void) throws {
        do {
            try body(self)
        } catch {
            _ = try? spaces[0].delete(name)
            throw error
        }
        _ = try spaces[0].delete(name)
    }

    static func run(_ space: Space, _ work: String, _ count: Int, _ more: [String]) throws {
        switch work {
        case "machines-write", "machines-take", "machines-take-alone":
            guard more.count >= 1, let members = Int(more[0]), members > 0 else { throw Failure("how many members?") }
            let machines = try Machines(space, Array(more.dropFirst()))
            let crowd = MachineCrowd(kind: String(work.dropFirst("machines-".count)), members: members)
            try machines.use { try crowd.run($0, milliseconds: count) }
        case "machines-member" where more.count == 3: try MachineCrowd.member(space, count, more)
        case "machines-beside" where more.count > 1:
            guard let takers = Int(more[0]), takers > 0 else { throw Failure("how many takers?") }
            try Machines(space, Array(more.dropFirst())).use {
                try BesideTakers.run($0, milliseconds: count, takers: takers)
            }
        case "machines-beside-taker" where more.count == 1: try BesideTakers.take(space, more[0])
        case "machines-pen" where more.count == 1:
            try Machines(space, more).use { try MachinePairs.handOver($0, count) }
        case "machines-notice" where more.count == 4:
            try Machines(space, Array(more[2...])).use { try MachinePairs.notice($0, count, pen: more[0], by: more[1]) }
        case "machines-noticer" where more.count == 2: try MachinePairs.beNoticed(space, count, more)
        case "machines-read": try Machines(space, more).use { try ReplicaReading.run($0, space, count) }
        default: throw Failure("no such work")
        }
    }
}
