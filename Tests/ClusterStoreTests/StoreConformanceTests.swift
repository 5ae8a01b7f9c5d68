import ClusterStore
import Testing

/// Every implementation of ``Store`` does what ``Store`` says.
///
/// One test at a time, because the tests of an etcd share it, and some compact it.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct StoreConformanceTests {
    #if ETCD
    @Test(.enabled(if: EtcdPlace.here != nil, "tools/etcd/test runs these tests on an etcd"))
    func etcdIsHere() async throws {
        let status = try await StoreBench(.etcd).store.status()
        #expect(status.version.split(separator: ".").count == 3)
    }
    #endif

    // MARK: Reading

    @Test(arguments: StoreKind.present)
    func readsAKeyWithItsRevisions(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let first = try await bench.put("a", "1")
        let second = try await bench.put("a", "2")
        let reading = try await bench.store.read(.key(bench.key("a")), limit: nil, keysOnly: false)
        #expect(
            reading.rows == [
                StoreRow(
                    key: bench.key("a"),
                    value: Array("2".utf8),
                    created: first,
                    modified: second,
                    lease: .none
                )
            ]
        )
        #expect(reading.revision >= second && second > first)
        #expect(!reading.hasMore)
        let nothing = try await bench.store.read(.key(bench.key("b")), limit: nil, keysOnly: false)
        #expect(nothing.rows.isEmpty && !nothing.hasMore)
    }

    @Test(arguments: StoreKind.present)
    func readsAPrefixInTheOrderOfBytes(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        // The last one is what a prefix's end must not leave out; "n" alone is outside of "n/".
        for name in ["n/b", "n/a", "n/é", "n/a/1", "n", "o", "n/\u{10FFFF}"] { try await bench.put(name) }
        let reading = try await bench.store.read(.prefix(bench.key("n/")), limit: nil, keysOnly: false)
        #expect(
            reading.rows.map { String($0.key.dropFirst(bench.prefix.count)) }
                == ["n/a", "n/a/1", "n/b", "n/é", "n/\u{10FFFF}"]
        )
    }

    @Test(arguments: StoreKind.present)
    func limitsARead(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        for name in ["a", "b", "c"] { try await bench.put(name, name) }
        let two = try await bench.store.read(bench.all, limit: 2, keysOnly: false)
        #expect(two.rows.map(\.key) == [bench.key("a"), bench.key("b")])
        #expect(two.hasMore)
        let three = try await bench.store.read(bench.all, limit: 3, keysOnly: true)
        #expect(three.rows.count == 3 && !three.hasMore)
        #expect(three.rows.allSatisfy { $0.value.isEmpty && $0.modified > 0 })
        await #expect(throws: StoreError.self) { try await bench.store.read(bench.all, limit: 0, keysOnly: false) }
    }

    @Test(arguments: StoreKind.present)
    func refusesAnEmptyKey(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        await #expect(throws: StoreError.refused("etcdserver: key is not provided")) {
            try await bench.store.read(.key(""), limit: nil, keysOnly: false)
        }
    }

    @Test(arguments: StoreKind.present)
    func readsAllKeys(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        try await bench.put("a")
        let reading = try await bench.store.read(.prefix(""), limit: nil, keysOnly: true)
        #expect(reading.rows.contains { $0.key == bench.key("a") })
    }

    // MARK: Transactions

    @Test(arguments: StoreKind.present)
    func runsOneSideOfATransaction(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let transaction = StoreTransaction(
            if: [.absent(.key(bench.key("a")))],
            then: [.put(bench.key("a"), [1], .none)],
            else: [.read(.key(bench.key("a"))), .put(bench.key("b"), [2], .none), .read(bench.all)]
        )
        let first = try await bench.store.transact(transaction)
        #expect(first.held && first.readings.isEmpty)
        let second = try await bench.store.transact(transaction)
        #expect(!second.held && second.revision > first.revision)
        #expect(second.readings.map { $0.map(\.value) } == [[[1]], [[1], [2]]])
    }

    @Test(arguments: StoreKind.present)
    func comparesValues(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        try await bench.put("a", "1")
        try await bench.put("empty")
        #expect(try await holds(bench, .value(bench.key("a"), Array("1".utf8))))
        #expect(try await !holds(bench, .value(bench.key("a"), Array("2".utf8))))
        #expect(try await holds(bench, .value(bench.key("empty"), [])))
        #expect(try await !holds(bench, .value(bench.key("missing"), [])))
    }

    @Test(arguments: StoreKind.present)
    func comparesRevisions(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let first = try await bench.put("a", "1")
        let second = try await bench.put("a", "2")
        #expect(try await holds(bench, .modified(bench.key("a"), second)))
        #expect(try await !holds(bench, .modified(bench.key("a"), first)))
        #expect(try await !holds(bench, .modified(bench.key("a"), 0)))
        #expect(try await holds(bench, .modified(bench.key("missing"), 0)))
        #expect(try await !holds(bench, .modified(bench.key("missing"), second)))
    }

    @Test(arguments: StoreKind.present)
    func comparesAbsence(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        try await bench.put("n/a")
        #expect(try await !holds(bench, .absent(.key(bench.key("n/a")))))
        #expect(try await holds(bench, .absent(.key(bench.key("n/")))))
        #expect(try await !holds(bench, .absent(.prefix(bench.key("n/")))))
        #expect(try await holds(bench, .absent(.prefix(bench.key("m/")))))
        _ = try await bench.store.transact(StoreTransaction(then: [.delete(.prefix(bench.key("n/")))]))
        #expect(try await holds(bench, .absent(.prefix(bench.key("n/")))))
    }

    @Test(arguments: StoreKind.present)
    func allComparesMustHold(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let revision = try await bench.put("a", "1")
        let good = StoreCompare.modified(bench.key("a"), revision)
        let bad = StoreCompare.absent(.key(bench.key("a")))
        #expect(try await bench.store.transact(StoreTransaction(if: [good, good], then: [])).held)
        #expect(try await !bench.store.transact(StoreTransaction(if: [good, bad], then: [])).held)
        #expect(try await bench.store.transact(StoreTransaction(if: [], then: [])).held)
    }

    private func holds(_ bench: StoreBench, _ compare: StoreCompare) async throws -> Bool {
        try await bench.store.transact(StoreTransaction(if: [compare], then: [])).held
    }

    @Test(arguments: StoreKind.present)
    func readsItsOwnChangesInOrder(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        try await bench.put("old")
        let outcome = try await bench.store.transact(
            StoreTransaction(then: [
                .read(.key(bench.key("a"))), .put(bench.key("a"), [1], .none), .read(.key(bench.key("a"))),
                .delete(.key(bench.key("old"))), .read(bench.all),
            ])
        )
        #expect(outcome.readings.map { $0.map(\.key) } == [[], [bench.key("a")], [bench.key("a")]])
        #expect(outcome.readings[1][0].modified == outcome.revision)
        #expect(outcome.readings[1][0].created == outcome.revision)
    }

    @Test(arguments: StoreKind.present)
    func aKeyMadeAgainIsANewOne(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        try await bench.put("a")
        _ = try await bench.store.transact(StoreTransaction(then: [.delete(.key(bench.key("a")))]))
        let revision = try await bench.put("a")
        let row = try #require(try await bench.store.read(bench.all, limit: nil, keysOnly: false).rows.first)
        #expect(row.created == revision && row.modified == revision)
    }

    @Test(arguments: StoreKind.present)
    func refusesTwoChangesOfAKey(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let put = StoreOperation.put(bench.key("a"), [1], .none)
        let duplicate = StoreError.refused("etcdserver: duplicate key given in txn request")
        await #expect(throws: duplicate) { try await bench.store.transact(StoreTransaction(then: [put, put])) }
        await #expect(throws: duplicate) {
            try await bench.store.transact(StoreTransaction(then: [put, .delete(bench.all)]))
        }
        #expect(try await bench.contents().isEmpty)
        try await bench.put("a", "1")
        #expect(try await bench.contents() == ["a=1"])
    }

    @Test(arguments: StoreKind.present)
    func refusesTooManyOperations(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        func puts(_ count: Int) -> StoreTransaction {
            StoreTransaction(then: (0..<count).map { .put(bench.key("\($0)"), [], .none) })
        }
        await #expect(throws: StoreError.refused("etcdserver: too many operations in txn request")) {
            try await bench.store.transact(puts(129))
        }
        _ = try await bench.store.transact(puts(128))
        #expect(try await bench.contents().count == 128)
    }

    // MARK: Sizes

    @Test(arguments: StoreKind.present)
    func keepsLargeAndBinaryValues(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let large = [UInt8]((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let revision = try await bench.store.transact(
            StoreTransaction(then: [.put(bench.key("large"), large, .none), .put(bench.key("empty"), [], .none)])
        ).revision
        let rows = try await bench.store.read(bench.all, limit: nil, keysOnly: false).rows
        #expect(rows.map(\.value) == [[], large])
        var news = bench.store.watch(bench.all, from: revision).makeAsyncIterator()
        let change = try #require(try await bench.changes(&news))
        #expect(change.changes == [rows[1], rows[0]].map { .put($0) } && change.revision == revision)
    }

    @Test(arguments: StoreKind.present, [2 << 20, 5 << 20, 20 << 20])
    func refusesWhatIsTooLargeAndGoesOn(kind: StoreKind, size: Int) async throws {
        let bench = try StoreBench(kind)
        do {
            _ = try await bench.store.transact(
                StoreTransaction(then: [.put(bench.key("a"), [UInt8](repeating: 7, count: size), .none)])
            )
            Issue.record("a transaction of \(size) bytes is done")
        } catch {
            guard case StoreError.refused(let reason) = error else {
                Issue.record("a transaction of \(size) bytes: \(error)")
                return
            }
            #expect(!reason.isEmpty)
        }
        try await bench.put("b", "1")
        #expect(try await bench.contents() == ["b=1"])
    }

    // MARK: Leases

    @Test(arguments: StoreKind.present)
    func aLeaseEndsWithItsKeys(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let lease = try await bench.store.makeLease(seconds: 60)
        #expect(lease != .none)
        try await bench.put("a", lease: lease)
        try await bench.put("b", lease: lease)
        let revision = try await bench.put("c")
        #expect(
            try await bench.store.read(bench.all, limit: nil, keysOnly: false).rows.map(\.lease) == [
                lease, lease, .none,
            ]
        )
        #expect(try await bench.store.keepAlive(lease) == 60)
        try await bench.store.end(lease)
        #expect(try await bench.contents() == ["c="])
        var news = bench.store.watch(bench.all, from: revision + 1).makeAsyncIterator()
        let change = try #require(try await bench.changes(&news))
        #expect(bench.names(change.changes) == ["-a", "-b"])
        #expect(try await bench.store.keepAlive(lease) == 0)
        // An ended lease is ended.
        try await bench.store.end(lease)
        await #expect(throws: StoreError.refused("etcdserver: requested lease not found")) {
            try await bench.put("d", lease: lease)
        }
    }

    @Test(arguments: StoreKind.present)
    func aKeyPutWithoutItsLeaseOutlivesIt(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let lease = try await bench.store.makeLease(seconds: 60)
        try await bench.put("a", "1", lease: lease)
        try await bench.put("a", "2")
        try await bench.store.end(lease)
        #expect(try await bench.contents() == ["a=2"])
    }

    @Test(arguments: StoreKind.present)
    func aLeaseThatIsNotKeptAliveEnds(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let lease = try await bench.store.makeLease(seconds: 2)
        let revision = try await bench.put("a", lease: lease)
        var news = bench.store.watch(bench.all, from: revision + 1).makeAsyncIterator()
        bench.letTimePass(.seconds(2))
        let change = try #require(try await bench.changes(&news))
        #expect(change.changes == [.deleted(bench.key("a"), revision: change.revision)])
        #expect(try await bench.store.keepAlive(lease) == 0)
    }

    @Test(arguments: StoreKind.present)
    func refusesALeaseWithoutTime(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        await #expect(throws: StoreError.self) { try await bench.store.makeLease(seconds: 0) }
    }

    // MARK: Concurrency

    @Test(arguments: StoreKind.present)
    func manyCallersAndWatchersSeeOneOrder(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let key = bench.key("n")
        let start = try await bench.put("n", "0")
        let callers = 16
        let rounds = 10
        let histories = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<20 {
                group.addTask { [stream = bench.store.watch(.key(key), from: start + 1)] in
                    var news = stream.makeAsyncIterator()
                    var seen: [String] = []
                    while seen.count < callers * rounds, let next = try await bench.changes(&news) {
                        for case .put(let row) in next.changes {
                            seen.append(String(decoding: row.value, as: UTF8.self))
                        }
                    }
                    return seen
                }
            }
            for _ in 0..<callers {
                group.addTask {
                    for _ in 0..<rounds { try await Self.increment(bench.store, key) }
                    return []
                }
            }
            return try await group.reduce(into: [[String]]()) { if !$1.isEmpty { $0.append($1) } }
        }
        let expected = (1...callers * rounds).map { "\($0)" }
        #expect(histories.count == 20)
        #expect(histories.allSatisfy { $0 == expected })
    }

    /// Adds one to a number, as often as it takes.
    private static func increment(_ store: any Store, _ key: String) async throws {
        while true {
            let row = try #require(try await store.read(.key(key), limit: nil, keysOnly: false).rows.first)
            let next = (Int(String(decoding: row.value, as: UTF8.self)) ?? 0) + 1
            let outcome = try await store.transact(
                StoreTransaction(
                    if: [.modified(key, row.modified)],
                    then: [.put(key, Array("\(next)".utf8), .none)]
                )
            )
            if outcome.held { return }
        }
    }
}
