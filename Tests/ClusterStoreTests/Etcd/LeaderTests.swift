import ClusterStore
import EtcdStore
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

    /// A store that has asked all members for their state knows the leader.
    ///
    /// Otherwise each would ask a member that it chose by chance, and six would hardly all choose the leader.
    @Test(arguments: 0..<6)
    func transactionsAskTheLeader(store number: Int) async throws {
        let store = try EtcdStore(StoreOptions(members: place.members.joined(separator: ",")))
        #expect(try await store.status().troubles.allSatisfy { !$0.contains("no leader") })
        for round in 0..<20 {
            let put = StoreOperation.put("leader/\(number)/\(round)", [], .none)
            #expect(try await store.transact(StoreTransaction(then: [put])).held)
        }
    }

    /// Members of different etcds are not taken for one: each machine could ask another one.
    ///
    /// A scheme in capital letters is the same one.
    @Test func membersOfTwoEtcdsAreRefused() async throws {
        let (one, other) = (place.server.replacing("http", with: "HTTP"), place.members[0])
        for both in ["\(one),\(other)", "\(other),\(one)"] {
            let store = try EtcdStore(StoreOptions(members: both))
            for _ in 0..<2 {
                let error = await #expect(throws: StoreError.self) {
                    try await store.read(.key("a"), limit: nil, keysOnly: false)
                }
                let reason = error?.refusedReason
                #expect(reason?.contains("members of different etcds") == true, "\(String(describing: error))")
            }
        }
    }
}
