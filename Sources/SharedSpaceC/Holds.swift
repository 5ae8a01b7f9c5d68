public import CSharedSpace
import SharedSpace
import SpaceEngine

private enum Holding: Int32, Choice {
    case lock = 1, semaphore, election

    static let refusal = (reason: "is nothing to hold", advice: "a lock, a semaphore or an election")
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_hold(
    _ ns: OpaquePointer!,
    _ what: Int32,
    _ names: UnsafePointer<UnsafePointer<CChar>?>!,
    _ count: Int,
    _ how: UnsafePointer<sharedspace_how>!,
    _ result: UnsafeMutablePointer<sharedspace_result>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "acquire a hold", error) { (handle) throws(SpaceError) in
        let holding = try Holding(what)
        let how = try Options(how, allowing: [.shared, .json])
        let result = try CallResult(result)
        let all = try SharedSpaceC.names(names, count)
        if holding != .lock, all.count > 1 {
            throw .misuse("only of locks several can be held at once", advice: "name one")
        }
        let (holds, fencing): ([KeptHold], [UInt64])
        do throws(SpaceError) {
            (holds, fencing) = try acquire(holding, all, how, in: handle.namespace)
        } catch  where error.code == .timedOut {
            result.set(\.pid, error.holder ?? 0)
            return 0
        }
        // If the caller can't learn of them, they are released with their last reference.
        try handle.give(holds, fencing, how.flags, result)
        return 1
    }
}

private func acquire(
    _ holding: Holding,
    _ names: [String],
    _ how: Options,
    in namespace: Namespace
) throws(SpaceError) -> ([KeptHold], [UInt64]) {
    let (timeout, interruption) = (try how.timeout, how.interruption)
    let hold: Hold
    switch holding {
    case .lock:
        let mode: SharedLock.Mode = how.flags.contains(.shared) ? .shared : .exclusive
        if names.count > 1 {
            return try namespace.acquireOrTell(names, mode, timeout: timeout, interruption: interruption)
        }
        hold = try namespace.lock(names[0]).acquireOrTell(mode, timeout: timeout, interruption: interruption)
    case .semaphore:
        hold = try namespace.semaphore(names[0], permits: how.permits)
            .acquireOrTell(how.count, timeout: timeout, interruption: interruption)
    case .election:
        hold = try namespace.election(names[0])
            .acquireOrTell(try how.valueOrNull, timeout: timeout, interruption: interruption)
    }
    return KeptHold.alone(hold)
}

/// The names that a call is given.
func names(_ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int) throws(SpaceError) -> [String] {
    guard let pointer, count > 0 else { throw .isNull("the name") }
    var names: [String] = []
    for index in 0..<count { names.append(try required(pointer[index], "the name")) }
    return names
}

extension KeptHold {
    /// A hold that is one of one.
    static func alone(_ hold: consuming Hold) -> (all: [KeptHold], fencing: [UInt64]) {
        let number = hold.fencing
        return ([KeptHold(hold)], [number])
    }
}

extension NamespaceHandle {
    /// Gives holds to the caller: they last until they are released.
    func give(_ holds: [KeptHold], _ fencing: [UInt64], _ flags: Flags, _ result: CallResult) throws(SpaceError) {
        try result.give(OutputElement(enclosing: fencing.map { .int(Int(clamping: $0)) }, flags))
        result.set(\.number, fencing[0])
        try keep(holds, as: fencing[0])
    }

    /// What is held under a number.
    fileprivate func known(_ number: UInt64) throws(SpaceError) -> [KeptHold] {
        guard let holds = holds(number) else {
            throw .misuse("this handle holds nothing under the number \(number)", advice: "let go once what it holds")
        }
        return holds
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_let_go(
    _ ns: OpaquePointer!,
    _ number: UInt64,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "let go of a hold", error) { (handle) throws(SpaceError) in
        var rest = try handle.known(number)
        var loss: SpaceError?
        while let last = rest.last {
            do throws(SpaceError) {
                try last.hold.release()
            } catch {
                guard error.code == .holdLost else {
                    // Those before it are still held, and this one too.
                    try? handle.keep(rest, as: number)
                    throw error
                }
                loss = error
            }
            rest.removeLast()
        }
        handle.forget(hold: number)
        if let loss { throw loss }
        return 1
    }
}

/// The C function of this name, which `sharedspace.h` documents.
@c @implementation public func sharedspace_holds(
    _ ns: OpaquePointer!,
    _ number: UInt64,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> Int32 {
    use(ns, "look at a hold", error) { (handle) throws(SpaceError) in
        guard let holds = handle.holds(number) else { return 0 }
        for held in holds { guard try held.hold.isHeld else { return 0 } }
        return 1
    }
}
