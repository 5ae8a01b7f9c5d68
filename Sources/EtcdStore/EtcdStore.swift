package import ClusterStore
import EtcdMessages
import SwiftProtobuf

/// A ``Store`` that is an etcd, of one member or several.
///
/// Its connections are there as long as the process.
package final class EtcdStore: Store {
    private let members: EtcdMembers
    private let watches: EtcdWatches

    /// Begins to connect, and waits for nothing.
    ///
    /// - Parameter options: The members, `https://HOST:PORT` or `http://HOST:PORT`, and files in PEM.
    /// - Throws: `refused` if the options, or the files that they name, can't work. Files are read here, and that of the
    ///   password again when etcd does not accept it.
    package init(_ options: StoreOptions) throws(StoreError) {
        do throws(EtcdFailure) {
            members = EtcdMembers(try Self.members(options), user: try Self.user(options))
        } catch {
            throw .refused(error.message)
        }
        watches = EtcdWatches(members)
        let members = members
        ConnectionLoop.start { await members.followLeader() }
    }

    private static func members(_ options: StoreOptions) throws(EtcdFailure) -> [EtcdMember] {
        let urls = try EtcdURL.list(options.members)
        if options.authorities != nil || options.certificate != nil, let plain = urls.first(where: { !$0.isSecure }) {
            throw EtcdFailure("--ca, --cert and --key are for https, and \(plain) is http: name members by https")
        }
        let security = try EtcdSecurity(options)
        var members: [EtcdMember] = []
        for url in urls {
            do { members.append(try EtcdMember(url, security)) } catch {
                throw EtcdFailure("--ca, --cert and --key can't be used for \(url): \(error); they are PEM files")
            }
        }
        return members
    }

    private static func user(_ options: StoreOptions) throws(EtcdFailure) -> EtcdToken.User? {
        guard let name = options.user, let path = options.passwordFile else { return nil }
        // A file that can't be used is told before anything is asked.
        _ = try EtcdSecurity.password(path)
        return EtcdToken.User(name: name, passwordFile: path)
    }

    package func read(_ range: StoreRange, limit: Int?, keysOnly: Bool) async throws(StoreError) -> StoreReading {
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

    package func transact(_ transaction: StoreTransaction) async throws(StoreError) -> StoreOutcome {
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

    package func makeLease(seconds: Int) async throws(StoreError) -> StoreLease {
        guard seconds > 0 else { throw .refused("a lease of \(seconds) seconds") }
        var request = EtcdLeaseGrantRequest()
        request.ttl = Int64(seconds)
        return StoreLease(number: try await members.call(EtcdMethods.grant, request).id)
    }

    package func keepAlive(_ lease: StoreLease) async throws(StoreError) -> Int {
        var request = EtcdLeaseKeepAliveRequest()
        request.id = lease.number
        // The method is a stream of requests and answers; one of each is a call.
        return Int(try await members.call(EtcdMethods.keepAlive, request).ttl)
    }

    package func end(_ lease: StoreLease) async throws(StoreError) {
        var request = EtcdLeaseRevokeRequest()
        request.id = lease.number
        do {
            _ = try await members.call(EtcdMethods.revoke, request)
        } catch .refused(let reason) where reason == "etcdserver: requested lease not found" {
            // It has ended already.
        }
    }

    package func watch(_ range: StoreRange, from revision: Int64) -> AsyncThrowingStream<StoreNews, any Error> {
        watches.watch(range, from: revision)
    }

    package func status() async throws(StoreError) -> StoreStatus { try await members.status() }
}
