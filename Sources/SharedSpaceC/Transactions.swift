public import CSharedSpace
import SpaceRecipes

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_transact(
    _ ns: OpaquePointer!,
    _ steps: sharedspace_bytes,
    _ how: UnsafePointer<sharedspace_how>!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "run a transaction", error) { (handle) throws(SpaceError) in
        let how = try Options(how, allowing: .json)
        let result = try CallResult.ifWanted(result)
        var parsed: [TransactionStep] = []
        for (index, step) in try steps.values(how.flags, "the steps").enumerated() {
            do throws(TransactionStep.Fault) {
                parsed.append(try TransactionStep(step, what: "step \(index + 1)"))
            } catch {
                throw SpaceError(.badData, reason: "\(error.reason); nothing was changed")
            }
        }
        return try orSpaceError {
            do {
                let results = try TransactionStep.run(parsed, in: handle.namespace)
                for step in parsed { if let number = step.claimNumber { handle.forget(claim: number) } }
                try result?.give(OutputElement(enclosing: results, how.flags))
                return 1
            } catch let nothing as TransactionStep.NothingFound {
                try result?.copy(text: nothing.message)
                return 0
            }
        }
    }
}
