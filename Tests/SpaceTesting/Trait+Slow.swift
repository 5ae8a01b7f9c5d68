import Glibc
package import Testing

extension Trait where Self == ConditionTrait {
    /// Marks a suite that `tools/test` leaves out and `tools/test --slow` runs: it repeats for longer the checks that
    /// other tests make too.
    ///
    /// The name of such a suite begins with `Slow`: the tool finds it by its name.
    package static var slow: Self {
        .enabled(if: getenv("SHARED_SPACE_SLOW_TESTS") != nil, "it is slow; tools/test --slow runs it")
    }
}
