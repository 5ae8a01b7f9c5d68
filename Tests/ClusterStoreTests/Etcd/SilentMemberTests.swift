import ClusterStore
import EtcdStore
import Testing

/// Calls have time limits, also at a member that accepts connections and never answers.
@Suite(.enabled(if: EtcdPlace.here != nil, "tools/etcd/test runs these tests"), .timeLimit(.minutes(2)))
struct SilentMemberTests {
    @Test func aCallEndsInTime() async throws {
        let member = try Relay()
        let store = try EtcdStore(StoreOptions(members: member.url))
        for _ in 0..<2 {
            let error = await #expect(throws: StoreError.self) {
                try await store.read(.key("a"), limit: nil, keysOnly: false)
            }
            #expect(error?.unavailableReason?.contains("no answer in time") == true, "\(String(describing: error))")
        }
        withExtendedLifetime(member) {}
    }

    /// Each store begins with a member of its own choice; one that begins with the silent one asks the next.
    @Test func theNextMemberIsAsked() async throws {
        let place = try #require(EtcdPlace.here)
        let member = try Relay()
        for _ in 0..<4 {
            let store = try EtcdStore(StoreOptions(members: "\(member.url),\(place.server)"))
            _ = try await store.read(.key("a"), limit: nil, keysOnly: false)
        }
        withExtendedLifetime(member) {}
    }

    /// A member that was silent at first is asked which etcd it is of, before it is asked for anything else.
    @Test func aMemberOfAnotherEtcdIsAskedNothing() async throws {
        let place = try #require(EtcdPlace.here)
        let (first, other) = (try Relay(), try Relay())
        try first.open(to: place.server)
        let store = try EtcdStore(StoreOptions(members: "\(first.url),\(other.url)"))
        let put = StoreTransaction(then: [.put("a", [1], .none)])
        _ = try await store.transact(put)
        first.shut()
        try other.open(to: place.members[0])
        var refusal: String?
        for _ in 0..<10 where refusal == nil {
            do throws(StoreError) {
                _ = try await store.transact(put)
                Issue.record("the other etcd has done a transaction")
            } catch { refusal = error.refusedReason }
        }
        #expect(refusal?.contains("members of different etcds") == true)
        withExtendedLifetime((first, other)) {}
    }
}
