import ClusterStore
import ClusterStoreRemote
import Glibc
import Testing

/// Transactions on an etcd of several members; `tools/etcd/test` then looks which of them was asked.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct LeaderTests {
    private static let members = getenv("SPACE_ETCD_MEMBERS").map { String(cString: $0) }

    /// A process that has asked all members for their state knows the leader.
    ///
    /// Otherwise each process would ask a member that it chose by chance, and six would hardly all choose the leader.
    @Test(
        .enabled(
            if: members != nil && EtcdPlace.here != nil,
            "SPACE_ETCD_MEMBERS is not set: tools/etcd/test runs this test on an etcd of three members"
        ),
        arguments: 0..<6
    )
    func transactionsAskTheLeader(process number: Int) async throws {
        let place = try #require(EtcdPlace.here)
        let process = try StoreProcess(place.program, ["--etcd", try #require(Self.members)])
        #expect(try await process.store.status().troubles.allSatisfy { !$0.contains("no leader") })
        for round in 0..<20 {
            let put = StoreOperation.put("leader/\(number)/\(round)", [], .none)
            #expect(try await process.store.transact(StoreTransaction(then: [put])).held)
        }
    }

    /// Members of different etcds are not taken for one: each machine could ask another one.
    @Test(.enabled(if: members != nil && EtcdPlace.here != nil, "tools/etcd/test runs this test"))
    func membersOfTwoEtcdsAreRefused() async throws {
        let place = try #require(EtcdPlace.here)
        let member = try #require(Self.members?.split(separator: ",").first)
        for urls in ["\(place.server),\(member)", "\(member),\(place.server)"] {
            let process = try StoreProcess(place.program, ["--etcd", urls])
            let error = await #expect(throws: StoreError.self) {
                try await process.store.read(.key("a"), limit: nil, keysOnly: false)
            }
            guard case .refused(let reason)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(reason.contains("members of different etcds"), "\(reason)")
        }
    }
}
