import Glibc
import SpaceSystem

/// How long tests wait for an expected change: a watchdog against hanging, not a measurement.
package let watchdog = Duration.seconds(120)

/// Checks again and again until an expected change has happened.
///
/// - Returns: Whether it has, before the watchdog's time was over.
package func eventually(_ condition: () throws -> Bool) throws -> Bool {
    let deadline = MonotonicInstant.now.advanced(by: watchdog)
    while try !condition() {
        if deadline.hasPassed { return false }
        // Leaves the processor to the processes that are to cause the change.
        poll(nil, 0, 1)
    }
    return true
}

/// The same for tests whose own tasks are to cause the change: those tasks need the thread that the other form keeps.
package func eventually(_ condition: () throws -> Bool) async throws -> Bool {
    let deadline = MonotonicInstant.now.advanced(by: watchdog)
    while try !condition() {
        if deadline.hasPassed { return false }
        try await Task.sleep(for: .milliseconds(1))
    }
    return true
}
