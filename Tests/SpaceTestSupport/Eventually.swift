import Glibc
import SpaceSystem

/// How long tests wait for what must happen: against hanging, not a measure.
package let watchdog = Duration.seconds(120)

/// Looks again and again until something that is under way has happened.
///
/// - Returns: Whether it has, before the watchdog's time was over.
package func eventually(_ condition: () throws -> Bool) throws -> Bool {
    let deadline = MonotonicInstant.now.advanced(by: watchdog)
    while try !condition() {
        if deadline.hasPassed { return false }
        // Leaves the processor to those who are to make it happen.
        poll(nil, 0, 1)
    }
    return true
}

/// The same for tests whose own tasks are to make it happen: they need the thread that the other form keeps.
package func eventually(_ condition: () throws -> Bool) async throws -> Bool {
    let deadline = MonotonicInstant.now.advanced(by: watchdog)
    while try !condition() {
        if deadline.hasPassed { return false }
        try await Task.sleep(for: .milliseconds(1))
    }
    return true
}
