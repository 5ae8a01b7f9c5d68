import SpaceSystem
import Synchronization

/// A handle on a namespace: writes, reads and takes tuples, sets and gets cells.
///
/// The namespace lives while an owning handle lives, in this process or another. When the last owner ends, however it
/// ends, the namespace is deleted, unless it is persistent. So keep the handle, in a property or a global: Swift may
/// release a local variable right after its last use, and the process then no longer owns the namespace.
///
/// All methods may be called from any thread. After `fork` the child's calls throw `forked`.
public final class Namespace: Sendable {
    package let core: NamespaceCore
    private let entry: CoreRegistry.Entry
    private let hasLeft = Atomic<Bool>(false)

    /// Whether the handle was left; the process may have other handles.
    package var isLeft: Bool { hasLeft.load(ordering: .relaxed) }

    /// Whether this handle keeps the namespace alive.
    package let isOwning: Bool
    /// Whether this handle was made by the creation of the namespace.
    package let isNew: Bool

    package init(core: NamespaceCore, entry: CoreRegistry.Entry, isOwning: Bool, isNew: Bool = false) {
        self.core = core
        self.entry = entry
        self.isOwning = isOwning
        self.isNew = isNew
    }

    deinit {
        // An observation for an object does not retain this handle, and does not end with it.
        guard core.isInTransactionHere else {
            try? leave()
            return
        }
        guard !hasLeft.exchange(true, ordering: .acquiringAndReleasing) else { return }
        core.letGo { [entry, isOwning] core, _ in
            // The handle's count is reduced even if a lock of the namespace is not acquired in time.
            try? CoreRegistry.shared.endHandle(of: core, entry, isOwning: isOwning)
        }
    }

    /// The namespace's name.
    public var name: String { core.name.text }

    /// The absolute path of the root folder of the namespace's space.
    public var root: String { core.root.path }

    /// The namespace's storage mode.
    public var mode: StorageMode { core.mode }

    /// The life of the namespace that this handle has open.
    public var life: NamespaceLife { core.control.header.life }

    /// Runs `body` as one operation on the open namespace: its error gets the operation and the namespace.
    ///
    /// Throws `closed` if this handle was left. ``NamespaceCore/naming(_:_:)`` does without that.
    @inline(__always)
    package func attempt<R: ~Copyable>(
        _ operation: @autoclosure () -> String,
        _ body: (NamespaceCore) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        do throws(SpaceError) { return try body(try usableCore()) } catch { throw error.named(operation(), name) }
    }

    /// Runs `body`, which waits as a task, as one operation on the open namespace.
    package func attempt<R: ~Copyable>(
        suspending operation: @autoclosure () -> String,
        _ body: (NamespaceCore) async throws(SpaceError) -> R
    ) async throws(SpaceError) -> R {
        do throws(SpaceError) { return try await body(try usableCore()) } catch { throw error.named(operation(), name) }
    }

    /// The open namespace; throws `closed` if this handle was left.
    @inline(__always)
    package func usableCore() throws(SpaceError) -> NamespaceCore {
        guard !isLeft else { throw .leftHandle }
        return core
    }

    // MARK: Owning

    /// Ends the use of this handle now, instead of when it goes out of scope.
    ///
    /// When the process leaves its last handle, its session ends: its claims return, and waits of its other threads end
    /// with `closed`. If the process was the last owner, the namespace is deleted. Leaving twice does nothing.
    ///
    /// - Throws: `holderStopped`, `holderBusy`: a lock of the namespace was not acquired in time. The handle is left
    ///   even so, and a reaper does the rest.
    public func leave() throws(SpaceError) {
        try core.naming("leave the namespace") { () throws(SpaceError) in
            if core.isInTransactionHere { throw .usedWithinTransaction }
            guard !hasLeft.exchange(true, ordering: .acquiringAndReleasing), !core.isInherited else { return }
            for part in core.parts.all { part.end(handle: ObjectIdentifier(self), of: core) }
            try CoreRegistry.shared.endHandle(of: core, entry, isOwning: isOwning)
        }
    }

    /// Makes an object an owner: the namespace stays as long as the object lives, or until ``removeOwner(object:)``.
    package func addOwner(object: any AnyObject & Sendable) throws(SpaceError) {
        try attempt("add an owner") { (core) throws(SpaceError) in
            try core.checkUsable()
            try CoreRegistry.shared.addOwner(object, to: core, entry)
            _ = EventLoop.attend(core)
        }
    }

    /// Undoes ``addOwner(object:)``; returns whether the object was an owner.
    package func removeOwner(object: any AnyObject & Sendable) throws(SpaceError) -> Bool {
        try attempt("remove an owner") { (core) throws(SpaceError) in
            guard !core.isInherited else { return false }
            let (wasThere, wasLast) = core.owners.remove(object)
            if wasLast { try CoreRegistry.shared.endOwning(of: core, entry) }
            return wasThere
        }
    }

    /// Makes another process an owner: the namespace stays as long as that process lives.
    ///
    /// - Throws: `noSuchProcess` for a process that has exited, and for PID 0 and 1, which never exit.
    public func addOwner(pid: Int32) throws(SpaceError) {
        try attempt("enrol an owner") { (core) throws(SpaceError) in
            guard let process = ProcessIdentity.of(pid: pid) else {
                throw .noSuchProcess("there is no process \(pid), or it can't be seen")
            }
            try core.enrol(process)
        }
    }

    /// Undoes ``addOwner(pid:)``.
    ///
    /// If that was the last owner, the namespace is deleted.
    ///
    /// - Returns: Whether the process was enrolled.
    @discardableResult
    public func removeOwner(pid: Int32) throws(SpaceError) -> Bool {
        try attempt("disown the namespace") { (core) throws(SpaceError) in try core.disenrol(pid: pid) }
    }

    /// Whether the namespace stays without an owner.
    public var isPersistent: Bool { core.control.staying.isPersistent }

    /// Sets whether the namespace stays without an owner.
    ///
    /// A namespace that stops being persistent and has no owner is deleted at once.
    public func setPersistent(_ isPersistent: Bool) throws(SpaceError) {
        try attempt(isPersistent ? "make the namespace persistent" : "make the namespace end with its owners") {
            (core) throws(SpaceError) in
            try core.setPersistent(isPersistent)
        }
    }
}

extension Namespace {
    /// A further handle of this process, which does not keep the namespace alive.
    package func nonOwningHandle() throws(SpaceError) -> Namespace {
        try CoreRegistry.shared.addHandle(to: core, entry)
        return Namespace(core: core, entry: entry, isOwning: false)
    }
}
