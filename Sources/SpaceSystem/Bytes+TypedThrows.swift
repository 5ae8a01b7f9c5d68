// The standard library's functions that lend bytes don't pass typed errors on. Public, since in SwiftPM builds a `package`
// function is called even when it is @inlinable, and these run at every operation. No product contains this module.

extension Array where Element == UInt8 {
    /// `withUnsafeBytes` for bodies with a typed error.
    @inlinable
    @inline(__always)
    public func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        let result: Result<R, E> = withUnsafeBytes { bytes in
            do throws(E) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

extension String {
    /// The bytes of the UTF-8 form, for bodies with a typed error; contiguous after the first call.
    @inlinable
    @inline(__always)
    public mutating func withUTF8Bytes<R, E: Error>(
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        let result: Result<R, E> = withUTF8 { bytes in
            do throws(E) {
                return .success(try body(UnsafeRawBufferPointer(bytes)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
