import ClusterStore
import Testing

/// Every implementation of ``Store`` tells its watches all changes, in order and without gaps, or an error.
extension StoreConformanceTests {
    @Test(arguments: StoreKind.present)
    func tellsThePastAndTheFuture(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let first = try await bench.put("a", "1")
        let second = try await bench.put("a", "2")
        var news = bench.store.watch(bench.all, from: first).makeAsyncIterator()
        #expect(try await bench.changes(&news)?.revision == first)
        #expect(try await bench.changes(&news)?.revision == second)
        let third = try await bench.put("b")
        let change = try #require(try await bench.changes(&news))
        #expect(change.revision == third && bench.names(change.changes) == ["b"])
    }

    @Test(arguments: StoreKind.present)
    func aWatchBeginsWithItsRevision(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        try await bench.put("a")
        let second = try await bench.put("b")
        let third = try await bench.put("c")
        var news = bench.store.watch(bench.all, from: second).makeAsyncIterator()
        #expect(try await bench.changes(&news)?.revision == second)
        #expect(try await bench.changes(&news)?.revision == third)
    }

    @Test(arguments: StoreKind.present)
    func aWatchFromALaterRevisionWaitsForIt(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let first = try await bench.put("a")
        var news = bench.store.watch(bench.all, from: first + 2).makeAsyncIterator()
        try await bench.put("b")
        let third = try await bench.put("c")
        let change = try #require(try await bench.changes(&news))
        #expect(change.revision == third && bench.names(change.changes) == ["c"])
    }

    @Test(arguments: StoreKind.present)
    func tellsOneRevisionsChangesTogetherAndInOrder(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let start = try await bench.put("n/old1")
        try await bench.put("n/old2")
        let before = try await bench.put("n/other")
        let outcome = try await bench.store.transact(
            StoreTransaction(then: [
                .put(bench.key("n/z"), [1], .none), .delete(.prefix(bench.key("n/old"))),
                .put(bench.key("m"), [], .none), .put(bench.key("n/a"), [2], .none),
            ])
        )
        var news = bench.store.watch(.prefix(bench.key("n/")), from: before + 1).makeAsyncIterator()
        let change = try #require(try await bench.changes(&news))
        #expect(change.revision == outcome.revision && outcome.revision > start)
        #expect(bench.names(change.changes) == ["n/z", "-n/old1", "-n/old2", "n/a"])
    }

    @Test(arguments: StoreKind.present)
    func tellsManyLargeChangesWithoutGaps(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        var start: Int64 = 0
        // More than fits into one of etcd's answers, with one revision of 1.2 MB that must not be told in parts.
        for round in 0..<12 {
            let outcome = try await bench.store.transact(
                StoreTransaction(
                    then: (0..<3).map { part in
                        .put(bench.key("\(part)"), [UInt8](repeating: UInt8(round), count: 400_000), .none)
                    }
                )
            )
            if round == 0 { start = outcome.revision }
        }
        var news = bench.store.watch(bench.all, from: start).makeAsyncIterator()
        for round in 0..<12 {
            let change = try #require(try await bench.changes(&news))
            #expect(bench.names(change.changes) == ["0", "1", "2"])
            for case .put(let row) in change.changes {
                #expect(row.modified == change.revision && row.value.count == 400_000 && row.value[0] == UInt8(round))
            }
        }
    }

    @Test(arguments: StoreKind.present)
    func tellsThatARevisionIsCompactedAway(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let first = try await bench.put("a")
        let gone = try await bench.store.transact(StoreTransaction(then: [.delete(bench.all)])).revision
        let last = try await bench.put("b")
        try bench.compact(through: gone)
        for revision in [first, gone] {
            var news = bench.store.watch(bench.all, from: revision).makeAsyncIterator()
            await #expect(throws: StoreError.compacted(gone + 1)) { try await bench.changes(&news) }
        }
        var news = bench.store.watch(bench.all, from: gone + 1).makeAsyncIterator()
        #expect(try await bench.changes(&news)?.revision == last)
        #expect(try await bench.contents() == ["b="])
    }

    @Test(arguments: StoreKind.present)
    func aWatchThatIsStoppedDisturbsNoOther(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let start = try await bench.put("a")
        var kept = bench.store.watch(bench.all, from: start).makeAsyncIterator()
        do {
            var dropped = bench.store.watch(bench.all, from: start).makeAsyncIterator()
            #expect(try await bench.changes(&dropped)?.revision == start)
        }
        let stopped = Task { [stream = bench.store.watch(bench.all, from: start + 1)] in
            for try await news in stream { if case .changes = news { return true } }
            return false
        }
        stopped.cancel()
        #expect(try await stopped.value == false)
        #expect(try await bench.changes(&kept)?.revision == start)
        let second = try await bench.put("b")
        #expect(try await bench.changes(&kept)?.revision == second)
    }

    @Test(arguments: StoreKind.present)
    func aHundredWatchesEachSeeTheirKey(kind: StoreKind) async throws {
        let bench = try StoreBench(kind)
        let start = try await bench.put("start")
        let streams = (0..<100).map { bench.store.watch(.key(bench.key("\($0)")), from: start) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, stream) in streams.enumerated() {
                group.addTask {
                    var news = stream.makeAsyncIterator()
                    let change = try #require(try await bench.changes(&news))
                    #expect(bench.names(change.changes) == ["\(number)"])
                }
                group.addTask { try await bench.put("\(number)") }
            }
            try await group.waitForAll()
        }
    }
}
