import Synchronization

/// One observation of this process: which changes it receives, and which handler it calls.
///
/// Its position in the journal is kept by its ``ObservationHub``.
package final class Observer: Sendable {
    private static let lastID = Atomic<UInt64>(0)

    package let id: UInt64
    /// The number of its row in `watchers`.
    package let row: UInt64
    package let filter: ChangeFilter
    package let options: ObservationOptions
    /// The handle that it was made with.
    private let handle: WeakObject<Namespace>
    /// The object that the observation belongs to, if any.
    package let subject: Subject?
    /// Whether it is only notified that something has changed.
    package let isCoarse: Bool
    private let life: Mutex<Life?>
    private let onError: (@Sendable (any Error) -> Void)?

    /// The objects that an observation retains while it is active.
    private struct Life {
        let handler: ObserverHandler
        /// The handle that it was made with; or, for an object, one that does not keep the namespace alive.
        let handle: Namespace
    }

    /// The object that an observation belongs to.
    package struct Subject: Sendable {
        package let id: ObjectIdentifier
        package let typeName: String
        package let isAlive: @Sendable () -> Bool

        package init<Object: AnyObject & Sendable>(_ object: WeakObject<Object>) {
            id = object.id
            typeName = "\(Object.self)"
            isAlive = { object.value != nil }
        }
    }

    /// The changes that are delivered together.
    package struct Batch: Sendable {
        package var changes: [Change] = []
        /// Whether this is the observation's last batch.
        package var isLast = false
    }

    package init(row: UInt64, handle: Namespace, keeping kept: Namespace?, _ request: ObservationRequest) {
        id = Self.lastID.add(1, ordering: .relaxed).newValue
        self.row = row
        self.handle = WeakObject(handle)
        filter = request.filter
        options = request.options
        subject = request.subject
        isCoarse = if case .coarse = request.handler { true } else { false }
        life = Mutex(Life(handler: request.handler, handle: kept ?? handle))
        onError = request.onError
    }

    package var isActive: Bool { handler != nil }

    /// Whether it was made with a handle; one that has been released was made with none.
    func isMade(with handle: ObjectIdentifier) -> Bool { self.handle.value.map(ObjectIdentifier.init) == handle }

    /// The handler to call; `nil` once the observation has ended.
    private var handler: ObserverHandler? { life.withLock { $0?.handler } }

    /// Ends the observation: no call begins from now on.
    ///
    /// Returns whether it was active until now.
    package func end() -> Bool {
        // The handler and the handle are released outside the lock, because their release can run any code.
        let ended = life.withLock { life in
            defer { life = nil }
            return life
        }
        return ended != nil
    }

    package var isGone: Bool { subject.map { !$0.isAlive() } ?? false }

    /// Whether the observer needs the values of cells to be decoded.
    var wantsValues: Bool {
        // The options apply to cells; the value of a notification is always delivered.
        if case .none = filter.notifications { !options.isDisjoint(with: [.old, .new]) } else { !isCoarse }
    }

    package func report(_ error: any Error) { onError?(error) }

    // MARK: Delivering

    /// Has a batch delivered where the handler runs, and calls `then` afterwards.
    func deliver(_ batch: Batch, by handlers: HandlerThreads, isCrew: Bool, then: @escaping @Sendable () -> Void) {
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
                queue {
                    self.call(batch)
                    then()
                }
            }
        case .task, .coarse:
            Task.detached {
                // A task that a handler begins inherits this; so does everything that the handler awaits.
                await ObservationHub.$running.withValue(self.id) { await self.callInTask(batch) }
                then()
            }
            return
        }
        if isCrew { handlers.post(job) } else { handlers.submit(job) }
    }

    private func call(_ batch: Batch) {
        for change in batch.changes {
            for change in told(change) {
                // The handler is read again for each call: the observation may have ended in the meantime, or in the
                // handler itself.
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
            if !batch.changes.isEmpty { await body(batch.changes, mayCall) }
        case .task(let body):
            for change in batch.changes {
                for change in told(change) {
                    do { try await body(change, mayCall) } catch { report(error) }
                }
            }
        default: return
        }
    }

    // MARK: Shaping calls

    /// The calls for one change, after this observation's options and path: one call, or two with `prior`.
    private func told(_ change: Change) -> [Change] {
        guard case .cell(let key, var old, var new) = change.event else { return [change] }
        // A path leads to a part of the values.
        if case .key(let path) = filter.cells, path.utf8.count > key.utf8.count {
            let names = path.utf8.components(from: key.utf8.count + 1)
            (old, new) = (old?.part(names), new?.part(names))
        }
        if !options.contains(.old) { old = nil }
        var change = change
        change.event = .cell(key, old: old, new: options.contains(.new) ? new : nil)
        guard options.contains(.prior), !change.isPresent else { return [change] }
        var prior = change
        prior.isPrior = true
        prior.event = .cell(key, old: old, new: nil)
        return [prior, change]
    }
}

extension Observer: CustomStringConvertible {
    /// One line: the number, the filter and the object's type.
    package var description: String { "\(id): \(filter.text)" + (subject.map { ", for a \($0.typeName)" } ?? "") }
}
