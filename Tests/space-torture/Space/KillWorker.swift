import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

/// One life of a worker: opens the namespace, works, and is killed on the way, or leaves.
struct KillWorker {
    let root: String
    let ledger: KillLedger
    let place: KillLedger.Place
    let plant: Options.Plant?
    /// The namespace that only workers of this place open, so that they create it and delete it.
    let ownName: String

    static let name = "torture"
    static let template: Template = ["job", .any]

    func live(armed point: CrashPoint?, generator: inout SeededGenerator) throws {
        place.end()
        if let point {
            let count = point.isRare ? 1 : Int.random(in: 1...12, using: &generator)
            CrashPoint.arm(point, count: count)
        }
        let space = try Space(root: root, timeout: .seconds(30))
        if point?.needsOwnNamespace ?? (Int.random(in: 0..<16, using: &generator) == 0) { return try comeAndGo(space) }
        place.begin(.opening)
        let namespace = try space.existingNamespace(Self.name)
        place.end()
        let backlog = Int(ledger.nextNumber.load()) - Int(ledger.takenCount.load())
        let role = backlog > 2000 ? 2 : backlog < 50 ? 0 : Int.random(in: 0..<5, using: &generator)
        for _ in 0..<Int.random(in: 20...200, using: &generator) where ledger.stop.load() == 0 {
            switch role {
            case 0, 1: try produce(namespace, &generator)
            case 2: try take(namespace, &generator)
            case 3: try move(namespace)
            default: try claim(namespace, &generator)
            }
        }
        // The point is not one that this role reaches.
        switch point {
        case .grantSeen, .rearmed, .lookedInVain, .slotFilling, .slotCounted, .slotPublished:
            while ledger.stop.load() == 0 { try wait(namespace) }
        default: break
        }
        place.begin(.leaving)
        try namespace.leave()
        place.end()
    }

    private func comeAndGo(_ space: Space) throws(SpaceError) {
        for _ in 0..<8 where ledger.stop.load() == 0 {
            place.begin(.opening)
            let namespace = try space.namespace(ownName)
            place.end()
            try namespace.write("mine", 1)
            place.begin(.leaving)
            try namespace.leave()
            place.end()
        }
    }

    private func produce(_ namespace: Namespace, _ generator: inout SeededGenerator) throws(SpaceError) {
        let number = Int(ledger.nextNumber.add(1))
        guard number < KillLedger.capacity else { return ledger.stop.store(1) }
        // The place comes first: whenever the worker is killed, a begun write must have a worker that began it.
        place.begin(.writing, number)
        ledger.begin(number)
        if plant != .lost || number % 50 != 0 { try namespace.write("job", number) }
        ledger.acknowledge(number)
        place.end()
        ledger.noteProgress()
    }

    private func take(_ namespace: Namespace, _ generator: inout SeededGenerator) throws(SpaceError) {
        if plant == .doubled {
            guard let (_, number) = try namespace.readIfExists("job", any(Int.self)) else { return }
            // Long enough for another to come in, however few run at once.
            usleep(200)
            _ = try namespace.takeIfExists("job", number)
            return ledger.take(number)
        }
        place.begin(.taking)
        let order: MatchOrder = Bool.random(using: &generator) ? .oldestFirst : .newestFirst
        let taken = try namespace.takeIfExists(matching: Self.template, order: order)
        if let number = taken?.jobNumber { ledger.take(number) }
        place.end()
        if taken == nil { try wait(namespace) }
    }

    private func wait(_ namespace: Namespace) throws(SpaceError) {
        place.begin(.taking)
        if let number = try namespace.take(matching: Self.template, timeout: .milliseconds(20))?.jobNumber {
            ledger.take(number)
        }
        place.end()
    }

    /// Takes one tuple and writes another in its stead, both or none.
    private func move(_ namespace: Namespace) throws {
        let number = Int(ledger.nextNumber.add(1))
        guard number < KillLedger.capacity else { return ledger.stop.store(1) }
        place.begin(.moving, number)
        ledger.begin(number)
        if let taken = try namespace.move(matching: Self.template, to: { _ in ["job", number] })?.jobNumber {
            ledger.acknowledge(number)
            ledger.take(taken)
        } else {
            ledger.withdraw(number)
            // The number counts as taken, so that the backlog stays right.
            _ = ledger.takenCount.add(1)
        }
        place.end()
        ledger.noteProgress()
    }

    private func claim(_ namespace: Namespace, _ generator: inout SeededGenerator) throws(SpaceError) {
        place.begin(.claiming)
        guard let claim = try namespace.claimIfExists(matching: Self.template), let number = claim.tuple.jobNumber
        else {
            return place.end()
        }
        place.end()
        if Int.random(in: 0..<3, using: &generator) == 0 {
            place.begin(.releasing, number)
            try claim.release()
            place.end()
        } else {
            place.begin(.completing, number)
            try claim.complete()
            ledger.take(number)
            place.end()
        }
    }
}

extension Tuple {
    /// The number in `["job", number]`.
    var jobNumber: Int? {
        guard fields.count == 2, fields[0] == .string("job"), case .int(let number) = fields[1] else { return nil }
        return Int(number)
    }
}

extension CrashPoint {
    /// Points that only a process reaches that creates a namespace, or deletes one.
    var needsOwnNamespace: Bool {
        switch self {
        case .cradleMade, .controlMade, .sessionMade, .dataMade, .beforePublishing, .published, .graveGate, .markedDead,
            .buried, .beforeDeleting:
            true
        default: false
        }
    }

    /// Points that are reached once or a few times in a life.
    var isRare: Bool {
        switch self {
        case .doorTaken, .joined, .dataOpened, .firstReader, .sessionRemoved, .grantSeen, .rearmed: true
        default: needsOwnNamespace
        }
    }
}
