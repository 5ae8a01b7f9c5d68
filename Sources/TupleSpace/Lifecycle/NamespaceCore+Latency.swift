import Glibc
import SpaceSystem
import SystemPackage

extension NamespaceCore {
    /// Whether latencies are measured.
    var isMeasuringLatency: Bool { LatencyFile.isOn(control.latency.load()) }

    /// Begins or ends the measuring; see `LatencyFile`.
    ///
    /// If latencies are measured already, the counts stay as they are, provided that the file is whole.
    func setMeasuringLatency(_ isOn: Bool) throws(SpaceError) {
        try checkUsable()
        let done: Void? = try underDoor(timeout: timeout) { (_, _) throws(SpaceError) in
            let folder = try engine.presentFolder()
            if isOn { try beginMeasuring(folder) } else { try endMeasuring(folder) }
            return false
        }
        if done == nil { try checkUsable() }
    }

    private func beginMeasuring(_ folder: borrowing NamespaceFolder) throws(SpaceError) {
        let (word, life) = (control.latency.load(), control.header.life)
        if LatencyFile.isOn(word), (try? LatencyFile.open(in: folder, for: word, of: life, flags: O_RDWR)) != nil {
            return
        }
        let next = LatencyFile.isOn(word) ? word &+ 2 : word &+ 1
        try LatencyFile.make(in: folder, for: next, of: life)
        try setSwitch(next)
    }

    private func endMeasuring(_ folder: borrowing NamespaceFolder) throws(SpaceError) {
        let word = control.latency.load()
        if LatencyFile.isOn(word) { try setSwitch(word &+ 1) }
        CrashPoint.reach(.latencyEnded)
        try LatencyFile.remove(in: folder)
    }

    private func setSwitch(_ word: UInt32) throws(SpaceError) {
        control.latency.store(word)
        guard mode == .durable else { return }
        try system("the control file") { () throws(Errno) in try control.sync() }
    }
}

extension Namespace {
    /// Whether it is measured how long waits for tuples last.
    package var isMeasuringLatency: Bool { core.isMeasuringLatency }

    /// Sets whether all processes of the namespace measure how long waits for tuples last.
    ///
    /// The results are in ``NamespaceStatus/latency``. Each process counts the waits that begin after the switch. When
    /// the measuring ends, the counts are lost; when it begins again, they begin at zero.
    ///
    /// - Throws: `storageFull` if there is no block for the counts, `damaged` if another program made a file `latency`
    ///   in the namespace's folder.
    public func setMeasuringLatency(_ isOn: Bool) throws(SpaceError) {
        try attempt(isOn ? "begin to measure latencies" : "end measuring latencies") {
            (core) throws(SpaceError) in
            try core.setMeasuringLatency(isOn)
        }
    }
}
