package import LMDB

/// A read transaction that is kept: renewing it takes neither a lock nor memory.
///
/// Unchecked Sendable: its owner is the pool's array or the one thread that took it out.
package final class Reader: @unchecked Sendable {
    package let transaction: ReadTransaction
    /// What the reader has copied out of the near end, beside its snapshot.
    let near: UnsafeMutablePointer<NearView>
    /// Whether the copy belongs to the snapshot.
    @exclusivity(unchecked) var showsNear = false
    /// The reader's place in its pool, since it was first put there.
    @exclusivity(unchecked) var place: Int?

    package init(_ transaction: consuming ReadTransaction) {
        self.transaction = transaction
        near = .allocate(capacity: 1)
        near.initialize(to: NearView())
    }

    deinit {
        near.pointee.free()
        near.deallocate()
    }

    /// Throws if a page was cut off while it was read, because its bytes were read as zeros; called after all reads.
    package func checkUndamaged() throws(SpaceError) {
        if transaction.access.isDamaged { throw SpaceError(LMDBError.damagedPage) }
    }
}
