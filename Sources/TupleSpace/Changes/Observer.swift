import SpaceSystem
import Synchronization
import TupleCoding

/// One observation of this process: what it is told of, and whom it tells.
///
/// Where it stands in the journal its hub knows; see there.
package final class Observer: Sendable {
    private static let lastID = Atomic<UInt64>(0)

    package let id: UInt64
    /// The row in `watchers`.
    package let row: UInt64
    package let filter: ChangeFilter
    package let options: ObservationOptions
    /// The handle that it was made with, and keeps as long as it goes on.
    package let handle: ObjectIdentifier
    /// The object for which it is, if it is for one.
    package let subject: Subject?
    /// Whether it is told of the last change's number alone.
    let isCoarse: Bool
    private let life: Mutex<Life?>
    private let onError: ObservationErrorHandler?

    /// What it holds as long as it goes on.
    private struct Life {
        let handler: ObserverHandler
        let handle: Namespace
    }

    /// The object for which an observation is.
    package struct Subject: Sendable {
        package let id: ObjectIdentifier
        let typeName: String
        package let isAlive: @Sendable () -> Bool

        package init<Object: AnyObject & Sendable>(_ object: WeakObject<Object>) {
            id = object.id
            typeName = "\(Object.self)"
            isAlive = { object.value != nil }
        }
    }

    /// What is delivered at once.
    package struct Batch: Sendable {
        package var changes: [Change] = []
        /// Whether nothing comes after it.
        package var isLast = false
    }

    package init(row: UInt64, handle: Namespace, _ request: ObservationRequest) {
        id = Self.lastID.add(1, ordering: .relaxed).newValue
        self.row = row
        self.handle = ObjectIdentifier(handle)
        filter = request.filter
        options = request.options
        subject = request.subject
        isCoarse = if case .coarse = request.handler { true } else { false }
        life = Mutex(Life(handler: request.handler, handle: handle))
        onError = request.onError
    }

    package var isActive: Bool { handler != nil }

    /// What to call; `nil` once it has ended.
    private var handler: ObserverHandler? { life.withLock { $0?.handler } }

    /// No call begins from now on.
    ///
    /// Returns: Whether it had not ended before.
    package func end() -> Bool {
        // Released outside the lock: what the handler holds, and the handle, may end with it.
        let ended = life.withLock { life in
            defer { life = nil }
            return life
        }
        return ended != nil
    }

    package var isGone: Bool { subject.map { !$0.isAlive() } ?? false }

    /// Whether the values of cells are to be decoded for it.
    var wantsValues: Bool {
        // The options are about cells; a notification's value always comes.
        filter.notifications != .none ? !isCoarse : !options.isDisjoint(with: [.old, .new])
    }

    package func report(_ error: any Error) { onError?(error) }

    // MARK: Delivering

    /// Has a batch delivered where the handler wants it, and `then` called.
    func deliver(_ batch: Batch, by crew: HandlerThreads, isCrew: Bool, then: @escaping @Sendable () -> Void) {
        guard let handler else { return then() }
        let job: HandlerThreads.Job
        switch handler {
        case .prompt:
            job = {
                self.call(batch)
                then()
            }
        case .queued(_, let queue):
            job = {
                queue.enqueue {
                    self.call(batch)
                    then()
                }
            }
        case .task, .coarse:
            Task.detached {
                await self.callInTask(batch)
                then()
            }
            return
        }
        if isCrew { crew.post(job) } else { crew.submit(job) }
    }

    private func call(_ batch: Batch) {
        for change in batch.changes {
            for change in told(change) {
                // Asked for anew for each call: it may have ended meanwhile, and in the handler itself.
                switch handler {
                case .prompt(let body), .queued(let body, _):
                    do { try body(change) } catch { report(error) }
                default: return
                }
            }
        }
    }

    private func callInTask(_ batch: Batch) async {
        let mayCall: ObserverHandler.Permission = { self.isActive }
        switch handler {
        case .coarse(let body):
            if let last = batch.changes.last { await body(last.lastSequence, mayCall) }
        case .task(let body):
            for change in batch.changes {
                for change in told(change) {
                    do { try await body(change, mayCall) } catch { report(error) }
                }
            }
        default: return
        }
    }

    // MARK: What it is told

    /// A change as this observation's options and path have it: one call, or with `prior` two.
    private func told(_ change: Change) -> [Change] {
        guard change.kind == .set || change.kind == .unset else { return [change] }
        var change = change
        if case .key(let path) = filter.cells, let key = change.key { change.narrow(to: path, in: key) }
        var prior: Change?
        if options.contains(.prior), !change.isPresent {
            prior = change
            prior?.isPrior = true
            prior?.new = nil
            if !options.contains(.old) { prior?.old = nil }
        }
        if !options.contains(.old) { change.old = nil }
        if !options.contains(.new) { change.new = nil }
        return prior.map { [$0, change] } ?? [change]
    }
}

extension Change {
    /// Of a cell: the part of its values that a path leads to.
    fileprivate mutating func narrow(to path: String, in key: String) {
        guard path.utf8.count > key.utf8.count else { return }
        let names = path.utf8.components(from: key.utf8.count + 1)
        func part(_ value: Value?) -> Value? {
            var value = value
            for name in names {
                guard case .object(let record) = value else { return nil }
                value = record[name]
            }
            return value
        }
        old = part(old)
        new = part(new)
    }
}
