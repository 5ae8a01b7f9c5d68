package import ClusterStore
import SpaceEngine

/// Reads a base and makes a replica of it.
///
/// The chunks of a base never change; a publisher that makes the next base deletes them behind its manifest. So a
/// reader that does not find a chunk begins again, with the manifest that is there then.
package struct BaseReader: Sendable {
    package let store: any Store
    package let keys: NamespaceKeys
    package let manifest: ManifestValue

    package enum Failure: Error {
        case store(StoreError)
        /// Another base has taken its place.
        case replaced
        case value(ValueError)
    }

    /// Makes the replica, on a thread that may wait.
    package func makeReplica(in root: any ReplicaRoot) throws {
        var next: UInt32 = 0
        try root.makeReplica(of: base) { try part(&next) }.close()
    }

    /// Makes a replica that is behind the log what the base is, on a thread that may wait.
    package func bringForward(_ replica: any Replica) throws {
        var next: UInt32 = 0
        try replica.goOn(from: base) { try part(&next) }
    }

    private var base: ReplicaBase {
        ReplicaBase(
            name: keys.name.text,
            header: manifest.header,
            position: manifest.position,
            isPersistent: manifest.isPersistent
        )
    }

    /// Reads the next part; `nil` behind the last.
    private func part(_ next: inout UInt32) throws -> [UInt8]? {
        guard next < manifest.chunks else { return nil }
        defer { next += 1 }
        let number = next
        return try waiting { try await chunk(number) }
    }

    private func chunk(_ number: UInt32) async throws(Failure) -> [UInt8] {
        let key = keys.chunk(manifest.number, of: manifest.publisher, number)
        let row: StoreRow?
        do { row = try await store.row(key) } catch { throw .store(error) }
        guard let row else { throw .replaced }
        do throws(ValueError) {
            let value = try ChunkValue(decoding: row.value, of: keys.life)
            guard value.number == number else { throw .damaged }
            return value.rows
        } catch { throw .value(error) }
    }
}
