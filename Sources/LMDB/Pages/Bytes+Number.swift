extension [UInt8] {
    /// An unaligned integer in the machine's byte order, as LMDB stores it; the caller has checked the bounds.
    func number<I: FixedWidthInteger>(_ offset: Int, _: I.Type = I.self) -> I {
        precondition(offset >= 0 && offset + MemoryLayout<I>.size <= count)
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: I.self) }
    }
}
