import CSharedSpace
import Glibc
import SharedSpace
import SpaceEngine
import TupleCoding

// Errors as C sees them.

/// What a `sharedspace_error` points to: texts of its own, so that they last until it is freed.
private struct ErrorRecord {
    let code, message, operation: UnsafeMutablePointer<CChar>
    let namespace, advice: UnsafeMutablePointer<CChar>?
    let holder: Int32
}

/// Runs the body of a call, and turns an error into -1 and what the caller's pointer receives.
@inline(__always)
func call(
    _ error: UnsafeMutablePointer<OpaquePointer?>?,
    _ body: () throws(SpaceError) -> Int32
) -> Int32 {
    do throws(SpaceError) {
        return try body()
    } catch let failure {
        tell(failure, error)
        return -1
    }
}

/// Runs what may throw any error by its type, and throws none but the library's.
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
    let failure = failure.inWordsOfC
    let record = UnsafeMutablePointer<ErrorRecord>.allocate(capacity: 1)
    record.initialize(
        to: ErrorRecord(
            code: strdup(failure.code.rawValue),
            message: strdup("\(failure)"),
            operation: strdup(failure.operation),
            namespace: failure.namespace.map { strdup($0) },
            advice: failure.advice.map { strdup($0) },
            holder: failure.holder ?? 0
        )
    )
    error.pointee = OpaquePointer(record)
}

extension SpaceError {
    /// The error with an advice that names nothing of Swift's.
    fileprivate var inWordsOfC: SpaceError {
        guard code == .forked else { return self }
        return with(
            advice: "start the child by exec or posix_spawn, or fork before this process opens its first namespace"
        )
    }
}

// Unsafe, because a pointer is not Sendable: the text is written once, and stays.
private nonisolated(unsafe) let nothing = strdup("")

private func record(_ error: OpaquePointer?) -> ErrorRecord? {
    error.map { UnsafePointer<ErrorRecord>($0).pointee }
}

private func text(_ text: UnsafeMutablePointer<CChar>?) -> UnsafePointer<CChar>! { text.map { UnsafePointer($0) } }

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_error_code(_ error: OpaquePointer!) -> UnsafePointer<CChar>! {
    text(record(error)?.code ?? nothing)
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_error_message(_ error: OpaquePointer!) -> UnsafePointer<CChar>! {
    text(record(error)?.message ?? nothing)
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_error_operation(_ error: OpaquePointer!) -> UnsafePointer<CChar>! {
    text(record(error)?.operation ?? nothing)
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_error_namespace(_ error: OpaquePointer!) -> UnsafePointer<CChar>! {
    text(record(error)?.namespace)
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_error_advice(_ error: OpaquePointer!) -> UnsafePointer<CChar>! {
    text(record(error)?.advice)
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_error_holder(_ error: OpaquePointer!) -> Int32 {
    record(error)?.holder ?? 0
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_error_free(_ error: OpaquePointer!) {
    guard let error else { return }
    let pointer = UnsafeMutablePointer<ErrorRecord>(error)
    let record = pointer.move()
    for text in [record.code, record.message, record.operation, record.namespace, record.advice] { free(text) }
    pointer.deallocate()
}
