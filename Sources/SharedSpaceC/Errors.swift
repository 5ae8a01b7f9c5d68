import CSharedSpace
import SpaceEngine

// Errors as C sees them.

/// Runs the body of a call, and turns an error into -1 and what the caller's pointer receives.
///
/// In a child made by fork nothing is run: the runtime's own locks, which even the text of an error may need, can be held
/// by a thread that the child does not have.
@inline(__always)
func call(
    _ error: UnsafeMutablePointer<OpaquePointer?>?,
    _ body: () throws(SpaceError) -> Int32
) -> Int32 {
    if LibraryUse.isInherited { return forked(error) }
    do throws(SpaceError) {
        return try body()
    } catch let failure {
        // A wait may end in a child that its thread's signal handler has made.
        if LibraryUse.isInherited { return forked(error) }
        tell(failure, error)
        return -1
    }
}

/// Says that this process is a child made by fork.
@inline(never)
private func forked(_ error: UnsafeMutablePointer<OpaquePointer?>?) -> Int32 {
    error?.pointee = space_error_forked()
    return -1
}

/// Runs code that may throw any error according to its type, and throws only the library's errors.
func orSpaceError<Result>(_ body: () throws -> Result) throws(SpaceError) -> Result {
    do {
        return try body()
    } catch let error as SpaceError {
        throw error
    } catch {
        throw SpaceError(.inputOutput, reason: "\(error)")
    }
}

/// Stores an error where the caller wants it.
@inline(never)
func tell(_ failure: SpaceError, _ error: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let error else { return }
    error.pointee = space_error_make(
        failure.code.rawValue,
        "\(failure)",
        failure.operation,
        failure.namespace,
        failure.advice,
        failure.holder ?? 0
    )
}
