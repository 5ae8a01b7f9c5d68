import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem
import SpaceTestSupport

/// A waiter at each kind of wait for each source of news (`QueueMatrix`), in the process that lives through the round,
/// beside workers that use other queues of the namespace and are killed.
struct MatrixTrial: Trial {
    let name = "matrix"
    let ledger: TrialLedger
    private let root: String

    init(_ options: Options) throws {
        ledger = try TrialLedger(rows: 1)
        root = WorkRoot(options).path
    }

    private var played: SharedWord64 { ledger.total(2) }
    private var unheard: SharedWord64 { ledger.total(10) }

    var done: [(String, SharedWord64)] { [("played", played)] }
    var faults: [(String, SharedWord64)] { [("unheard", unheard)] }

    func beginRound() { ledger.beginRound() }

    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        let queue = namespace.queue("beside")
        for _ in 0..<200 where !life.isOver && !life.isLast {
            try queue.put(1, delay: .milliseconds(Int.random(in: 0...3, using: &generator)))
            let ttr: Duration? = Bool.random(using: &generator) ? .seconds(600) : nil
            guard let item = try queue.takeBlocking(timeout: .milliseconds(4), deadline: ttr, interruption: nil) else {
                continue
            }
            try item.complete()
        }
    }

    func attend(_ namespace: Namespace) throws {
        let number = Int(played.add(1))
        // A step that is prime to the number of cases, so that a short run sees different ones.
        let (source, wait) = QueueMatrix.cases[number * 37 % QueueMatrix.cases.count]
        let matrix = QueueMatrix(namespace, of: try Space(root: root), at: root)
        let fault = try runTask { try await matrix.play(source, wait, "\(number)") }
        if let fault { noteFault(unheard, fault) }
    }

    func judge(_ namespace: Namespace) throws {}
}
