public import CSharedSpace
import SpaceRecipes

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_evaluate(
    _ ns: OpaquePointer!,
    _ words: UnsafePointer<UnsafePointer<CChar>?>!,
    _ count: Int,
    _ how: UnsafePointer<sharedspace_how>!,
    _ id: UnsafeMutablePointer<UInt64>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "evaluate a tuple", error) { (handle) throws(SpaceError) in
        let how = try Options(how)
        let timeout: Duration? = if case .none = try how.wait { nil } else { try how.timeout }
        let interruption = how.interruptionOfAnyWait
        let evaluation = Evaluation(try names(words, count), in: handle.namespace)
        let ending: Evaluation.Ending
        do throws(SpaceError) {
            ending = try evaluation.run(timeout: timeout) {
                // Asked before each sleep, on this thread.
                if interruption?.isTriggered ?? false { evaluation.stop() }
                return nil
            }
        } catch  where error.code == .timedOut {
            return 0
        }
        let written = try evaluation.tuple(ending)
        id?.pointee = written.rawValue
        return 1
    }
}
