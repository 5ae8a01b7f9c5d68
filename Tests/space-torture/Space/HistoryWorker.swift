import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

/// One process of a history: a few dozen calls on a few templates and cells, each noted before and after.
struct HistoryWorker {
    static let templates = 4
    static let cells = 2
    static let calls = 60

    let log: HistoryLog
    let process: Int
    let plant: Options.Plant?

    private static let names = ["a", "b", "c", "d"]

    func run(
        _ namespace: Namespace,
        _ generator: inout SeededGenerator
    ) throws(SpaceError) {
        var held: [Int: HeldClaim] = [:]
        // The value that a stale reader remembers.
        var remembered: [Int: Int?] = [:]
        for step in 0..<Self.calls {
            let object = Int.random(in: 0..<Self.templates, using: &generator)
            let number = process * 1000 + step
            let key = Self.names[object]
            let template: Template = [key, .any]
            switch Int.random(in: 0..<14, using: &generator) {
            case 0...3:
                let call = log.begin(process, .write, object: object, number)
                if plant != .lost || step % 10 != 0 { try namespace.write(key, number) }
                log.end(process, call, nil)
            case 4, 5:
                let call = log.begin(process, .read, object: object)
                let found = try namespace.readIfExists(matching: template)?.numberOfField(1)
                log.end(process, call, found)
            case 6, 7:
                let call = log.begin(process, .take, object: object)
                if plant == .doubled {
                    let found = try namespace.readIfExists(matching: template)?.numberOfField(1)
                    if let found { _ = try namespace.takeIfExists(key, found) }
                    log.end(process, call, found)
                } else {
                    let found = try namespace.takeIfExists(matching: template)?.numberOfField(1)
                    log.end(process, call, found)
                }
            case 8, 9:
                if let claim = held.removeValue(forKey: object) {
                    let completes = Bool.random(using: &generator)
                    let call = log.begin(process, completes ? .complete : .release, object: object)
                    if completes { try namespace.complete(claim) } else { _ = try namespace.release(claim) }
                    log.end(process, call, nil)
                } else {
                    let call = log.begin(process, .claim, object: object)
                    let claim = try namespace.claimIfExists(matching: template)?.detach()
                    held[object] = claim
                    log.end(process, call, claim?.tuple.numberOfField(1))
                }
            case 10, 11:
                let cell = object % Self.cells
                let call = log.begin(process, .get, object: cell)
                if plant == .stale, let content = remembered[cell] {
                    log.end(process, call, content)
                } else {
                    let content: Int? = try namespace.get(Self.names[cell])
                    remembered[cell] = content
                    log.end(process, call, content)
                }
            case 12:
                let cell = object % Self.cells
                let call = log.begin(process, .set, object: cell, number)
                try namespace.set(Self.names[cell], number)
                log.end(process, call, nil)
            default:
                let cell = object % Self.cells
                guard let old: Int = try namespace.get(Self.names[cell]) else { continue }
                let call = log.begin(process, .compareAndSet, object: cell, number, expecting: old)
                let isSet = try namespace.set(Self.names[cell], number, ifEquals: old)
                log.end(process, call, isSet ? 1 : 0)
            }
        }
    }

    /// Reads everything once, as a process that comes when all is over.
    func lookAtEverything(_ namespace: Namespace) throws(SpaceError) {
        for object in 0..<Self.templates {
            while true {
                let call = log.begin(process, .take, object: object)
                let number = try namespace.takeIfExists(matching: [Self.names[object], .any])?.numberOfField(1)
                log.end(process, call, number)
                if number == nil { break }
            }
        }
        for cell in 0..<Self.cells {
            let call = log.begin(process, .get, object: cell)
            let content: Int? = try namespace.get(Self.names[cell])
            log.end(process, call, content)
        }
    }
}

extension Tuple {
    func numberOfField(_ index: Int) -> Int? {
        guard fields.indices.contains(index), case .int(let number) = fields[index] else { return nil }
        return number
    }
}
