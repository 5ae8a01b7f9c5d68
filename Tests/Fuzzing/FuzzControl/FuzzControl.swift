// A damaged control file: its header while no process has the namespace open, and the words and slots that processes
// share while one does. Whatever bytes the file holds, an operation ends, with a result or a `SpaceError`.

import FuzzSupport
import Glibc
import SharedSpace

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

private let playground = Playground("control")

/// Runs one input: whether the namespace is open meanwhile, then pieces of the file, each an offset and bytes.
#if FUZZING
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    playground.clear()
    do throws(SpaceError) {
        let namespace = try playground.filled()
        let isOpen = input.byte() & 1 == 1
        if !isOpen { try namespace.leave() }
        damage(&input)
        if isOpen {
            playground.useAll(of: namespace)
            try? namespace.leave()
        }
        playground.useAgain()
    } catch {
        fatalError("an undamaged namespace: \(error)")
    }
    return 0
}

private func damage(_ input: inout Input) {
    let file = open("\(playground.path)/n/control", O_RDWR)
    guard file >= 0 else { fatalError("no control file") }
    defer { close(file) }
    while !input.isEmpty {
        let offset = input.number(below: ControlFile.size)
        let bytes = input.bytes(atMost: 64)
        // Not the bytes of the mutexes: the C library leaves it undefined how it treats bytes that are no mutex. (A
        // wrong holder in a mutex makes a lock that is never released, which the time-out is for.)
        for (index, byte) in bytes.enumerated() where !isMutex(offset + index) {
            withUnsafeBytes(of: byte) { _ = pwrite(file, $0.baseAddress, 1, off_t(offset + index)) }
        }
    }
}

private func isMutex(_ offset: Int) -> Bool { (320..<384).contains(offset) || (448..<512).contains(offset) }
