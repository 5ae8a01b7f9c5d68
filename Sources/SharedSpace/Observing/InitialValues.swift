import SpaceSystem
import TupleCoding

/// What is there when an observation begins, for ``ObservationOptions/initial``.
extension NamespaceCore {
    /// What a filter lets through of what is there, and the last change that it holds.
    func present(_ filter: ChangeFilter) throws(SpaceError) -> (changes: [Change], sequence: UInt64) {
        try read("observe") { (snapshot) throws(SpaceError) in
            let sequence = try snapshot.counters().sequence
            func initial(_ key: String, _ value: Value?) -> Change { Change(initial: key, value, sequence) }
            if case .named(let name) = filter.collections {
                return ([Change(presentCollection: name, at: sequence)], sequence)
            }
            switch filter.cells {
            case .none: return ([], sequence)
            case .all: return (try snapshot.allCells().map { initial($0.key, $0.value) }, sequence)
            case .key(let path):
                // A cell whose key is the whole path comes first; else the key ends at one of the path's dots.
                for key in path.keysOnTheWay {
                    guard let bytes = try snapshot.cell(key) else { continue }
                    return ([initial(key, try snapshot.value(key, bytes))], sequence)
                }
                return ([initial(path, nil)], sequence)
            }
        }
    }
}

extension Change {
    init(initial key: String, _ value: Value?, _ sequence: UInt64) {
        self.init(
            sequence: sequence,
            kind: value == nil ? .unset : .set,
            time: Clock.realtimeMilliseconds(),
            pid: 0,
            batch: 0,
            id: nil,
            tuple: nil,
            key: key,
            old: nil,
            new: value,
            lastSequence: sequence,
            isPresent: true
        )
    }
}

extension String {
    /// The string, then what precedes its last dot, the one before, and so on.
    fileprivate var keysOnTheWay: [String] {
        var keys = [self]
        var rest = utf8[...]
        while let dot = rest.lastIndex(of: UInt8(ascii: ".")) {
            rest = rest[..<dot]
            if !rest.isEmpty { keys.append(String(decoding: rest, as: UTF8.self)) }
        }
        return keys
    }
}
