import SpaceSystem
import TupleCoding

extension NamespaceCore {
    /// Sets a cell through the daemon; `nil` if the process must do it itself.
    func sendSetting(
        _ key: String,
        _ element: [UInt8],
        _ end: RowEnd,
        if condition: CellCondition
    ) throws(SpaceError) -> (isSet: Bool, old: Value?)? {
        guard isSending, max(element.count, condition.size) <= SentOperation.mostBytes else { return nil }
        let result = try send { .set(key: key, element: element, end: renewed(end), condition: condition) }
        guard case .found(let old, let isSet) = result else { return try unfit(result) }
        let value = try old.map { (old) throws(SpaceError) in
            try old.withBytes { (old) throws(SpaceError) in
                try coding { () throws(TupleCodingError) in try Value(encodedElement: old) }
            }
        }
        return (isSet, value)
    }

    /// Adds to a cell's integer through the daemon; `nil` if the process must do it itself.
    func sendIncrement(_ key: String, by amount: Int) throws(SpaceError) -> Int? {
        guard isSending else { return nil }
        let result = try send { .increment(key: key, amount: Int64(amount)) }
        guard case .sum(let sum) = result else { return try unfit(result) }
        return Int(sum)
    }
}
