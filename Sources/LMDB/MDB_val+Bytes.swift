import CLMDB

extension MDB_val {
    /// LMDB's view of bytes, which it only reads.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    /// The bytes that LMDB pointed to, which the guarded call has compared with the map.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer {
        guard let start = mv_data else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: start, count: Int(mv_size))
    }
}
