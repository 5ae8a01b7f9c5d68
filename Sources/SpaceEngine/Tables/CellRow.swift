/// The value of a row in `cells`: a header of 24 bytes, then one encoded element.
///
///     0  expiry, milliseconds of the namespace's clock; 0: never
///     8  version: the number of the change that set the cell
///     16 holder with whose end the cell is unset (`ClaimHolder`); 0: none
///     24 the value as one encoded element
package struct CellRow: TableRow {
    package static let headerSize = 24

    package let end: RowEnd
    package let version: UInt64
    /// The value, borrowed from a page or from a copy; two values are equal if their bytes are.
    package let element: UnsafeRawBufferPointer

    package init(end: RowEnd, version: UInt64, element: UnsafeRawBufferPointer) {
        self.end = end
        self.version = version
        self.element = element
    }

    @inline(__always)
    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) { self.init(value) }

    @inline(__always)
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize else { return nil }
        end = RowEnd(expiry: bytes.little(0), rawHolder: bytes.little(16))
        version = bytes.little(8)
        element = UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...])
    }

    package func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError) {
        let row = try room(Self.headerSize + element.count)
        row.storeBytes(of: end.expiry.littleEndian, toByteOffset: 0, as: Int64.self)
        row.storeBytes(of: version.littleEndian, toByteOffset: 8, as: UInt64.self)
        row.storeBytes(of: end.rawHolder.littleEndian, toByteOffset: 16, as: UInt64.self)
        UnsafeMutableRawBufferPointer(rebasing: row[Self.headerSize...]).copyMemory(from: element)
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        "the cell \(String(decoding: key, as: UTF8.self).quotedForPeople) is too short"
    }
}
