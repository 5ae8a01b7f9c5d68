import ClusterStore
import ClusterStoreRemote
import Testing

/// Transactions on an etcd of several members; `tools/etcd/test` then looks which of them was asked.
@Suite(
    .serialized,
    .timeLimit(.minutes(2)),
    .enabled(if: EtcdPlace.here != nil, "tools/etcd/test runs these tests")
)
struct LeaderTests {
    private let place: EtcdPlace

    init() throws { place = try #require(EtcdPlace.here) }

    /// A process that has asked all members for their state knows the leader.
    ///
    /// Otherwise each process would ask a member that it chose by chance, and six would hardly all choose the leader.
    @Test(arguments: 0..<6)
    func transactionsAskTheLeader(process number: Int) async throws {
        let process = try StoreProcess(place.program, ["--etcd", place.members.joined(separator: ",")])
        #expect(try await process.store.status().troubles.allSatisfy { !$0.contains("no leader") })
        for round in 0..<20 {
            let put = StoreOperation.put("leader/\(number)/\(round)", [], .none)
            #expect(try await process.store.transact(StoreTransaction(then: [put])).held)
        }
    }

    /// Members of different etcds are not taken for one: each machine could ask another one.
    @Test func membersOfTwoEtcdsAreRefused() async throws {
        let (one, other) = (place.server, place.members[0])
        for both in ["\(one),\(other)", "\(other),\(one)"] {
            let memory = try MemoryFile("store")
            // That one of the two is silent later, when another process has taken the first one's place, does not matter.
            for urls in [both, one, other] {
                let process = try StoreProcess(place.program, ["--etcd", urls], memory: memory)
                let error = await #expect(throws: StoreError.self) {
                    try await process.store.read(.key("a"), limit: nil, keysOnly: false)
                }
                let reason = error?.refusedReason
                #expect(reason?.contains("members of different etcds") == true, "\(String(describing: error))")
            }
        }
    }

    /// The etcd that has answered first is the only one, also for the process that takes a killed one's place while no member
    /// of that etcd answers.
    @Test func theFirstEtcdIsKept() async throws {
        let memory = try MemoryFile("store")
        for _ in 0..<2 {
            // A scheme in capital letters is the same one.
            let url = place.server.replacing("http", with: "HTTP")
            let process = try StoreProcess(place.program, ["--etcd", url], memory: memory)
            _ = try await process.store.read(.key("a"), limit: nil, keysOnly: false)
            process.end()
        }
        // As if the first one's only member were silent.
        let process = try StoreProcess(place.program, ["--etcd", place.members[0]], memory: memory)
        let error = await #expect(throws: StoreError.self) {
            try await process.store.read(.key("a"), limit: nil, keysOnly: false)
        }
        #expect(error?.refusedReason?.contains(place.server) == true, "\(String(describing: error))")
    }
}
