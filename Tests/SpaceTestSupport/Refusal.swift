import SharedSpace

/// Returns the error that a call must throw; the test fails if it throws none.
package func refusal(_ body: () throws -> Void) throws -> SpaceError {
    do {
        try body()
    } catch let error as SpaceError {
        return error
    }
    throw TestFailure("nothing was thrown")
}

/// The code of the error that a call throws; `nil` if it throws no `SpaceError`.
package func errorCode(_ body: () throws -> Void) -> SpaceError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? SpaceError)?.code
    }
}
