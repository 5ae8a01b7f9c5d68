import LMDB
import SpaceSystem

extension Snapshot {
    /// The value of a cell as one encoded element, or `nil` if the cell is not set.
    package func cell(_ key: String) throws(SpaceError) -> UnsafeRawBufferPointer? {
        var key = key
        do throws(LMDBError) {
            return try key.withUTF8Bytes { (bytes) throws(LMDBError) in try access.get(tables.cells, bytes) }
        } catch {
            throw SpaceError(error, operation, namespace: namespace)
        }
    }
}
