import CLMDB

extension MDB_val {
    /// Makes LMDB's view of some bytes; LMDB only reads them.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    /// The bytes that LMDB returned; the guarded call has checked that they lie in the map.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer {
        guard let start = mv_data else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: start, count: Int(mv_size))
    }
}
