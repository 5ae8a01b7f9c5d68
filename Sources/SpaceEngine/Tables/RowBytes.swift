extension UnsafeRawBufferPointer {
    /// Reads an unaligned little-endian integer.
    ///
    /// The caller has checked the bounds. Without inlining, a caller in another module would look the integer's type up
    /// at run time, for each element of a list.
    @inlinable
    package func little<I: FixedWidthInteger>(_ offset: Int, _: I.Type = I.self) -> I {
        I(littleEndian: loadUnaligned(fromByteOffset: offset, as: I.self))
    }

    /// Reads an unaligned big-endian integer, as keys have it.
    ///
    /// The caller has checked the bounds.
    @inlinable
    package func big<I: FixedWidthInteger>(_ offset: Int, _: I.Type = I.self) -> I {
        I(bigEndian: loadUnaligned(fromByteOffset: offset, as: I.self))
    }
}
