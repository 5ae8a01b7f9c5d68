import SpaceSystem
import TupleCoding

// From rows to the contents of a dump. A row that does not decode is left out and named; no other row depends on it.

extension Salvage {
    /// Adds everything that the rows hold.
    mutating func decode(_ rows: SalvagedRows, _ near: NearReading?, _ clock: SalvageClock) {
        let main = rows.rows[.main] ?? []
        let counters = main.first { MainKey(keyBytes: $0.key) == .counters }
            .flatMap { $0.value.withBytes { Counters($0) } }
        history = counters?.history(limit: UInt64(Limits.mapBytes))
        deliveryLimit = counters.flatMap { Int(exactly: $0.deliveryLimit) }.flatMap {
            Limits.deliveryLimits.contains($0) ? $0 : nil
        }
        var visible: Set<UInt64> = []
        let marked = near?.marked(beside: counters?.appliedMarks ?? 0) ?? [:]
        var claimed: [SalvagedRows.Row] = []
        for row in rows.rows[.tuples] ?? [] {
            guard let id = UInt64(keyBytes: row.key), let claim = marked[id] else {
                decodeTuple(row, clock, &visible)
                continue
            }
            if let row = claim(row) { claimed.append(row) }
        }
        // The pages have the tuples of lower ids, or they are gone.
        let next = rows.nextTuple
        for (id, row) in near?.tuples ?? [] where id >= next && !visible.contains(id) {
            decodeTuple(row, clock, &visible)
        }
        leftOut += near?.faults ?? []
        for id in near?.damaged ?? [] where id >= next { leftOut.append("tuple \(id), one of the newest, is damaged") }
        if near?.isUnsettled ?? false {
            notes.append("the newest tuples changed while they were read; what was taken meanwhile may be among them")
        }
        for row in main where row.key[0] == 0x84 {
            decodeClaim(SalvagedRows.Row(key: Array(row.key.dropFirst()), value: row.value), clock, visible)
        }
        for row in claimed { decodeClaim(row, clock, visible) }
        for (id, row) in near?.claims ?? [] where id >= next { decodeClaim(row, clock, visible) }
        for row in rows.rows[.cells] ?? [] { decodeCell(row, clock) }
        decodeObjects(main.filter { $0.key[0] == 0x82 }, rows.rows[.elements] ?? [], clock)
    }

    private mutating func decodeTuple(_ row: SalvagedRows.Row, _ clock: SalvageClock, _ visible: inout Set<UInt64>) {
        guard let id = UInt64(keyBytes: row.key) else {
            return leftOut.append("a key of the table of tuples has \(row.key.count) bytes")
        }
        do throws(TupleCodingError) {
            let item = try row.value.withBytes { (bytes) throws(TupleCodingError) -> Item? in
                guard let tuple = TupleRow(bytes), bytes.count <= Limits.valueBytes + TupleRow.longestHeaderSize else {
                    return nil
                }
                return Item(
                    id: id,
                    tuple: try tuple.tuple(),
                    expires: clock.realtime(tuple.expiry),
                    deliveries: Int(tuple.deliveries),
                    origin: tuple.origin,
                    isOfHolder: tuple.end.holder != nil
                )
            }
            guard let item else { return leftOut.append("tuple \(id) is too short, or too long") }
            visible.insert(id)
            tuples.append(item)
        } catch {
            leftOut.append("tuple \(id) does not decode: \(error)")
        }
    }

    private mutating func decodeClaim(_ row: SalvagedRows.Row, _ clock: SalvageClock, _ visible: Set<UInt64>) {
        guard let id = UInt64(keyBytes: row.key) else {
            return leftOut.append("a key of the table of claims has \(row.key.count) bytes")
        }
        // A tuple is in one place, so this row is from another commit.
        guard !visible.contains(id) else { return }
        do throws(TupleCodingError) {
            let found = try row.value.withBytes {
                (bytes) throws(TupleCodingError) -> (Bool, NamespaceStatus.Claim)? in
                guard let claim = ClaimRow(bytes), let tuple = TupleRow(claim.tupleBytes) else { return nil }
                return (
                    claim.isBuried,
                    NamespaceStatus.Claim(
                        held: HeldClaim(id, claim.number, try tuple.tuple(), deliveries: tuple.deliveries),
                        process: HolderProcess(),
                        deadline: clock.realtime(claim.deadline),
                        origin: tuple.origin,
                        expires: clock.realtime(tuple.expiry),
                        endsWith: tuple.endsWithHolder ? 0 : nil
                    )
                )
            }
            guard let (isBuried, claim) = found else {
                return leftOut.append("the claim on tuple \(id) is too short")
            }
            if isBuried { buried.append(claim) } else { claims.append(claim) }
        } catch {
            leftOut.append("the claimed tuple \(id) does not decode: \(error)")
        }
    }

    private mutating func decodeCell(_ row: SalvagedRows.Row, _ clock: SalvageClock) {
        guard let key = String(validating: row.key, as: UTF8.self), (1...Limits.cellKeyBytes).contains(row.key.count)
        else {
            return leftOut.append("a cell's key is no UTF-8, or too long")
        }
        let cell = row.value.withBytes { (bytes) -> DumpedCell? in
            guard bytes.count <= Limits.valueBytes + CellRow.headerSize, let row = CellRow(bytes),
                let value = try? Value(encodedElement: row.element)
            else { return nil }
            let holder: Int32? = row.end.holder == nil ? nil : 0
            return DumpedCell(key: key, value: value, expires: clock.realtime(row.end.expiry), holder: holder)
        }
        guard let cell else { return leftOut.append("the cell \(key.quotedForPeople) does not decode") }
        cells.append(cell)
    }

    package static func element(_ bytes: [UInt8]) -> Value? {
        guard bytes.count <= Limits.valueBytes else { return nil }
        return bytes.withBytes { try? Value(encodedElement: $0) }
    }
}
