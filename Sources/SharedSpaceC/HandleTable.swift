import SpaceEngine
import SpaceSystem
import Synchronization

// The handles that C has.
//
// A handle is a number: an index into this table and the generation of the slot there, with a mark in front. The
// library never dereferences it, although C sees a pointer. So a closed or invalid handle is recognised without
// touching memory that may be gone. Each call counts itself among the slot's users while it runs. Closing marks the
// slot, so that no more calls begin, and the last user takes the object out. A call costs two atomic operations, and no
// lock.

/// What a handle stands for.
protocol HandleObject: AnyObject, Sendable {
    static var kind: HandleKind { get }
    /// What a call on it attempts, for the error of one that does not say it itself.
    static var operation: String? { get }

    /// Ends what the handle stands for; called once, while other calls may still run.
    func close() throws(SpaceError)
}

extension HandleObject {
    static var operation: String? { nil }

    func close() throws(SpaceError) {}
}

enum HandleKind: UInt8 {
    case space = 1, namespace, list, watch, loop, responder

    var text: String {
        switch self {
        case .space: "a space"
        case .namespace: "a namespace"
        case .list: "a list"
        case .watch: "a watch"
        case .loop: "a loop"
        case .responder: "a responder"
        }
    }
}

/// The table of all handles of this process.
///
/// Unchecked Sendable: a slot's object and kind are written before its state is published, and read only by threads
/// that the state has counted as users.
final class HandleTable: @unchecked Sendable {
    static let shared = HandleTable()

    /// The state: in the upper half the generation, then whether it is closed, then how many calls use it.
    private struct Slot: ~Copyable {
        let state: Atomic<UInt64>
        var kind: HandleKind?
        var object: Unmanaged<AnyObject>?

        static let closed: UInt64 = 1 << 31
        static func state(_ generation: UInt64) -> UInt64 { generation << 32 }
    }

    /// The first byte of a handle; no pointer of a program on Linux has it.
    private static let mark: UInt = 0x5A
    private static let slotsInChunk = 256
    private static let mostChunks = 4096

    /// The addresses of the chunks, which stay.
    private let chunks: UnsafeMutablePointer<Atomic<UInt>>

    private struct Free {
        var slots: [UInt] = []
        var chunks = 0
    }
    private let free = Mutex(Free())
    /// The process whose threads the lock knows.
    private let process = ForkGuard.generation

    private init() {
        chunks = .allocate(capacity: Self.mostChunks)
        for index in 0..<Self.mostChunks { (chunks + index).initialize(to: Atomic(0)) }
    }

    private func slot(_ index: UInt) -> UnsafeMutablePointer<Slot>? {
        guard index < UInt(Self.mostChunks * Self.slotsInChunk) else { return nil }
        let address = chunks[Int(index) / Self.slotsInChunk].load(ordering: .acquiring)
        return UnsafeMutablePointer<Slot>(bitPattern: address).map { $0 + Int(index) % Self.slotsInChunk }
    }

    /// Makes a handle.
    func open<Object: HandleObject>(_ object: Object) throws(SpaceError) -> OpaquePointer? {
        guard let index = try freeSlot(), let slot = slot(index) else {
            throw .limitReached("this process has too many open handles", advice: "close those that are not needed")
        }
        slot.pointee.kind = Object.kind
        slot.pointee.object = .passRetained(object)
        let generation = slot.pointee.state.load(ordering: .relaxed) >> 32
        slot.pointee.state.store(Slot.state(generation), ordering: .releasing)
        return OpaquePointer(bitPattern: Self.mark << 56 | index << 32 | UInt(generation))
    }

    private func freeSlot() throws(SpaceError) -> UInt? {
        if process == ForkGuard.generation { return free.withLock { takeSlot(&$0) } }
        // In a child made by fork, a thread that exists only in the parent may have the lock, and then it stays locked
        // for ever.
        guard let index = free.withLockIfAvailable({ takeSlot(&$0) }) else {
            throw SpaceError(.forked, reason: "another thread was opening a handle when this process was forked")
        }
        return index
    }

    private func takeSlot(_ free: inout Free) -> UInt? {
        if let index = free.slots.popLast() { return index }
        guard free.chunks < Self.mostChunks else { return nil }
        let chunk = UnsafeMutablePointer<Slot>.allocate(capacity: Self.slotsInChunk)
        for index in 0..<Self.slotsInChunk {
            (chunk + index).initialize(to: Slot(state: Atomic(Slot.state(1) | Slot.closed), kind: nil, object: nil))
        }
        chunks[free.chunks].store(UInt(bitPattern: chunk), ordering: .releasing)
        let first = UInt(free.chunks * Self.slotsInChunk)
        free.chunks += 1
        free.slots = (first..<first + UInt(Self.slotsInChunk)).reversed()
        return free.slots.popLast()
    }

    /// Runs `body` with what a handle stands for.
    ///
    /// - Throws: `closed` for a closed handle; `invalidArgument` for NULL and for anything that is not a handle of the
    ///   kind.
    @inline(__always)
    func use<Object: HandleObject, Result>(
        _ handle: OpaquePointer?,
        _ type: Object.Type = Object.self,
        _ body: (Object) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        let (slot, index) = try find(handle, Object.kind)
        let generation = UInt64(UInt(bitPattern: handle) & 0xFFFF_FFFF)
        guard begin(slot, generation, closing: false) else { throw Self.closed }
        defer { end(slot, index) }
        guard slot.pointee.kind == Object.kind, let object = slot.pointee.object?.takeUnretainedValue() else {
            throw Self.foreign(Object.kind)
        }
        return try body(unsafeDowncast(object, to: Object.self))
    }

    /// Closes a handle; in a child made by fork it does nothing, since what the handle stands for is the parent's.
    ///
    /// - Throws: What `use` throws, and what the closing throws, after which the handle is closed too.
    func close<Object: HandleObject>(_ handle: OpaquePointer?, _ type: Object.Type) throws(SpaceError) {
        if LibraryUse.isInherited { return }
        // This comes before the slot is marked: a handle of another kind must not be closed by mistake.
        try use(handle, type) { (_) throws(SpaceError) in }
        let (slot, index) = try find(handle, Object.kind)
        guard begin(slot, UInt64(UInt(bitPattern: handle) & 0xFFFF_FFFF), closing: true) else { throw Self.closed }
        defer { end(slot, index) }
        guard let object = slot.pointee.object?.takeUnretainedValue() else { return }
        try unsafeDowncast(object, to: Object.self).close()
    }

    @inline(__always)
    private func find(
        _ handle: OpaquePointer?,
        _ kind: HandleKind
    ) throws(SpaceError) -> (UnsafeMutablePointer<Slot>, UInt) {
        let number = UInt(bitPattern: handle)
        let index = number >> 32 & 0xFF_FFFF
        guard number >> 56 == Self.mark, let slot = slot(index) else { throw Self.foreign(kind, isNull: number == 0) }
        return (slot, index)
    }

    /// Counts a call among a slot's users, unless the handle is closed; `closing` closes it.
    @inline(__always)
    private func begin(_ slot: UnsafeMutablePointer<Slot>, _ generation: UInt64, closing: Bool) -> Bool {
        var state = slot.pointee.state.load(ordering: .relaxed)
        while state >> 32 == generation, state & Slot.closed == 0 {
            let (isDone, now) = slot.pointee.state.compareExchange(
                expected: state,
                desired: (state + 1) | (closing ? Slot.closed : 0),
                ordering: .acquiringAndReleasing
            )
            if isDone { return true }
            state = now
        }
        return false
    }

    /// Ends a call's use; the last user of a closed handle frees its object.
    @inline(__always)
    private func end(_ slot: UnsafeMutablePointer<Slot>, _ index: UInt) {
        let state = slot.pointee.state.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
        if state & 0xFFFF_FFFF == Slot.closed { empty(slot, index, state >> 32) }
    }

    @inline(never)
    private func empty(_ slot: UnsafeMutablePointer<Slot>, _ index: UInt, _ generation: UInt64) {
        let object = slot.pointee.object
        slot.pointee.object = nil
        slot.pointee.kind = nil
        // Generation 0 is left out, so that a handle is never like a small number.
        let next = generation == 0xFFFF_FFFF ? 1 : generation + 1
        slot.pointee.state.store(Slot.state(next) | Slot.closed, ordering: .releasing)
        if process == ForkGuard.generation {
            free.withLock { $0.slots.append(index) }
        } else {
            _ = free.withLockIfAvailable { $0.slots.append(index) }
        }
        object?.release()
    }

    // MARK: Errors

    private static var closed: SpaceError { .closed("this handle was closed", advice: "open another") }

    @inline(never)
    private static func foreign(_ kind: HandleKind, isNull: Bool = false) -> SpaceError {
        .misuse(
            isNull ? "the handle of \(kind.text) is NULL" : "this is no handle of \(kind.text)",
            advice: "give what the call that opens it has stored"
        )
    }
}

/// Runs the body of a call on the object of a handle.
func use<Object: HandleObject>(
    _ handle: OpaquePointer?,
    _ type: Object.Type,
    _ error: UnsafeMutablePointer<OpaquePointer?>?,
    _ body: (Object) throws(SpaceError) -> Int32
) -> Int32 {
    call(error) { () throws(SpaceError) in
        guard let operation = type.operation else { return try HandleTable.shared.use(handle, type, body) }
        return try SpaceError.naming(operation, on: nil) { () throws(SpaceError) in
            try HandleTable.shared.use(handle, type, body)
        }
    }
}
