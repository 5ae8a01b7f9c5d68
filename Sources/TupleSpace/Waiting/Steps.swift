package import SpaceSystem

/// A wait as a value that answers "what next", so that a blocked thread and a suspended task take the same steps.
///
///     step → done: the wait is over, with a result
///     step → sleep: until a look is true or the time has passed; then the next step
///
/// The drivers below carry it out, one for threads and one for tasks, and give its errors the operation. A step may
/// write, and runs outside a sleep; so its errors end the wait. A look only reads; if it is not possible at this moment,
/// the sleep goes on.
package protocol Steps {
    associatedtype Result

    /// The namespace in which the wait takes place.
    var core: NamespaceCore { get }

    /// The name of the operation that waits, for errors.
    var operation: String { get }

    /// Goes on as far as possible without waiting.
    mutating func step() throws(SpaceError) -> Step<Result>

    /// Looks whether the present sleep is over before its time.
    mutating func look() throws(SpaceError) -> Bool

    /// Takes back everything that the wait has left in the namespace; called once, if the wait ends with an error.
    func giveUp()
}

extension Steps {
    package func giveUp() {}
}

/// What comes next in a wait.
package enum Step<Result> {
    case done(Result)
    case sleep(Sleep)
}

/// One sleep of a wait.
package struct Sleep {
    /// What ends the sleep early.
    package let interest: Interest
    /// What is waited for, as tools show it.
    package let text: String
    /// The time at which the sleep ends in any case; `nil` for no limit.
    package let end: MonotonicInstant?

    package init(_ interest: Interest, text: String, until end: MonotonicInstant?) {
        self.interest = interest
        self.text = text
        self.end = end
    }
}

extension Steps {
    /// Carries out the wait; the calling thread sleeps.
    package func block(interruption: Interruption? = nil) throws(SpaceError) -> Result {
        var wait = self
        do throws(SpaceError) {
            while true {
                switch try wait.step() {
                case .done(let result): return result
                case .sleep(let sleep):
                    let _: Void? = try core.waits.block(
                        sleep.interest,
                        text: sleep.text,
                        until: sleep.end,
                        interruption: interruption
                    ) { (_) throws(SpaceError) in try wait.look() ? Found(result: (), removed: nil) : nil }
                }
            }
        } catch {
            wait.giveUp()
            throw error.named(operation, core.name.text)
        }
    }

    /// Carries out the wait; the task is suspended.
    ///
    /// Throws `cancelled` if the task is cancelled while it sleeps.
    package func suspend() async throws(SpaceError) -> Result {
        var wait = self
        do throws(SpaceError) {
            while true {
                switch try wait.step() {
                case .done(let result): return result
                case .sleep(let sleep):
                    let _: Void? = try await core.waits.suspend(
                        sleep.interest,
                        text: { sleep.text },
                        until: sleep.end
                    ) { (_) throws(SpaceError) in try wait.look() ? Found(result: (), removed: nil) : nil }
                }
            }
        } catch {
            wait.giveUp()
            throw error.named(operation, core.name.text)
        }
    }
}
