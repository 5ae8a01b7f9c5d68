import ClusterStore
import ClusterStoreRemote
import EtcdMessages
import SwiftProtobuf

/// A ``Store`` that is an etcd, of one member or several.
final class EtcdStore: Store {
    private let members: EtcdMembers
    private let watches: EtcdWatches

    init(_ options: EtcdOptions) throws(Failure) {
        let security = try EtcdSecurity(options)
        let urls: [EtcdURL]
        do { urls = try options.urls } catch { throw Failure(Failure.usage, "\(error)") }
        var all: [EtcdMember] = []
        for url in urls {
            do {
                all.append(try EtcdMember(url, security))
            } catch {
                throw Failure(
                    Failure.noInput,
                    "--ca, --cert and --key can't be used for \(url): \(error); they are PEM files"
                )
            }
        }
        var user: EtcdToken.User?
        if let name = options.user, let path = options.passwordFile {
            // A file that can't be used is told before anything is asked.
            _ = try EtcdSecurity.password(path)
            user = EtcdToken.User(name: name, passwordFile: path)
        }
        members = EtcdMembers(all, user: user, memory: options.memory.map { MemoryFile(adopting: $0) })
        watches = EtcdWatches(members)
    }

    func read(_ range: StoreRange, limit: Int?, keysOnly: Bool) async throws(StoreError) -> StoreReading {
        if let limit, limit < 1 { throw .refused("a read of at most \(limit) keys") }
        var request = EtcdRangeRequest(range)
        request.limit = Int64(limit ?? 0)
        request.keysOnly = keysOnly
        let answer = try await members.call(EtcdMethods.range, request)
        return StoreReading(
            revision: answer.header.revision,
            rows: try answer.kvs.rows(),
            hasMore: answer.more
        )
    }

    func transact(_ transaction: StoreTransaction) async throws(StoreError) -> StoreOutcome {
        let request = EtcdTxnRequest(transaction)
        let size = try? request.serializedData().count
        guard let size, size <= EtcdMember.maximumRequest else {
            throw .refused("a transaction of \(size ?? 0) bytes; no more than \(EtcdMember.maximumRequest) are sent")
        }
        let answer = try await members.call(EtcdMethods.txn, request, isRepeatable: false)
        var readings: [[StoreRow]] = []
        for case .responseRange(let range)? in answer.responses.map(\.response) {
            do throws(StoreError) {
                readings.append(try range.kvs.rows())
            } catch {
                throw .unknown("the transaction is done, and its answer can't be used: \(error)")
            }
        }
        return StoreOutcome(held: answer.succeeded, revision: answer.header.revision, readings: readings)
    }

    func makeLease(seconds: Int) async throws(StoreError) -> StoreLease {
        guard seconds > 0 else { throw .refused("a lease of \(seconds) seconds") }
        var request = EtcdLeaseGrantRequest()
        request.ttl = Int64(seconds)
        return StoreLease(number: try await members.call(EtcdMethods.grant, request).id)
    }

    func keepAlive(_ lease: StoreLease) async throws(StoreError) -> Int {
        var request = EtcdLeaseKeepAliveRequest()
        request.id = lease.number
        // The method is a stream of requests and answers; one of each is a call.
        return Int(try await members.call(EtcdMethods.keepAlive, request).ttl)
    }

    func end(_ lease: StoreLease) async throws(StoreError) {
        var request = EtcdLeaseRevokeRequest()
        request.id = lease.number
        do {
            _ = try await members.call(EtcdMethods.revoke, request)
        } catch .refused(let reason) where reason == "etcdserver: requested lease not found" {
            // It has ended already.
        }
    }

    func watch(_ range: StoreRange, from revision: Int64) -> AsyncThrowingStream<StoreNews, any Error> {
        watches.watch(range, from: revision)
    }

    func status() async throws(StoreError) -> StoreStatus { try await members.status() }

    /// Finds out every few seconds which member leads, so that calls ask that one first; it does not return.
    func followLeader() async { await members.followLeader() }
}
