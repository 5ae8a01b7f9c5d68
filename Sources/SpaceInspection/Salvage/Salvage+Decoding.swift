import SpaceSystem

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
        var claims = decodeClaimRows(main)
        var unclaimed = 0
        for row in rows.rows[.tuples] ?? [] {
            let id = UInt64(keyBytes: row.key)
            if let id, let mark = marked[id] {
                claims[id] = nil
                if let mark { decodeTuple(row, clock, &visible, claim: mark) }
            } else if let id, row.value.withBytes({ TupleRow($0)?.isClaimed }) ?? false {
                let claim = claims.removeValue(forKey: id)
                if claim == nil { unclaimed += 1 }
                decodeTuple(row, clock, &visible, claim: claim)
            } else {
                // What its row does not call claimed is visible: such a claim is from another commit.
                if let id { claims[id] = nil }
                decodeTuple(row, clock, &visible)
            }
        }
        if unclaimed > 0 {
            notes.append("\(unclaimed) tuples were claimed or buried, and their claims are lost: they are visible now")
        }
        for id in claims.keys.sorted() { leftOut.append("the claimed tuple \(id) is not found") }
        // The pages have the tuples of lower ids, or they are gone.
        let next = rows.nextTuple
        for (id, row) in near?.tuples ?? [] where id >= next && !visible.contains(id) {
            decodeTuple(row, clock, &visible)
        }
        leftOut += near?.faults ?? []
        for id in near?.damaged ?? [] where id >= next { leftOut.append("tuple \(id), one of the newest, is damaged") }
        if near?.isTorn ?? false {
            notes.append("the newest tuples changed while they were read; what was taken meanwhile may be among them")
        }
        for (id, row, claim) in near?.claims ?? [] where id >= next && !visible.contains(id) {
            decodeTuple(row, clock, &visible, claim: claim)
        }
        for row in rows.rows[.cells] ?? [] { decodeCell(row, clock) }
        decodeObjects(main.filter { $0.key[0] == 0x82 }, rows.rows[.elements] ?? [], clock)
    }

    /// The rows of the table of claims, by the tuples' ids.
    private mutating func decodeClaimRows(_ main: [SalvagedRows.Row]) -> [UInt64: ClaimRow] {
        var claims: [UInt64: ClaimRow] = [:]
        for row in main where row.key[0] == 0x84 {
            let key = Array(row.key.dropFirst())
            if let id = UInt64(keyBytes: key), let claim = row.value.withBytes({ ClaimRow($0) }) {
                claims[id] = claim
            } else {
                leftOut.append(key.withBytes { ClaimRow.damage(at: $0) })
            }
        }
        return claims
    }

    /// Adds a visible tuple, or with a claim one that is claimed or buried.
    private mutating func decodeTuple(
        _ row: SalvagedRows.Row,
        _ clock: SalvageClock,
        _ visible: inout Set<UInt64>,
        claim: ClaimRow? = nil
    ) {
        guard let id = UInt64(keyBytes: row.key) else {
            return leftOut.append("a key of the table of tuples has \(row.key.count) bytes")
        }
        let (most, title) = (
            Limits.valueBytes + TupleRow.longestHeaderSize, claim == nil ? "tuple \(id)" : "the claimed tuple \(id)"
        )
        do throws(TupleCodingError) {
            let found = try row.value.withBytes { (bytes) throws(TupleCodingError) -> Bool in
                guard let row = TupleRow(bytes), bytes.count <= most else { return false }
                add(id, row, try row.tuple(), clock, claim)
                return true
            }
            guard found else { return leftOut.append("\(title) is too short, or too long") }
            if claim == nil { visible.insert(id) }
        } catch {
            leftOut.append("\(title) does not decode: \(error)")
        }
    }

    private mutating func add(
        _ id: UInt64,
        _ row: TupleRow,
        _ tuple: Tuple,
        _ clock: SalvageClock,
        _ claim: ClaimRow?
    ) {
        guard let claim else {
            return tuples.append(
                Item(
                    id: id,
                    tuple: tuple,
                    expires: clock.realtime(row.expiry),
                    deliveries: Int(row.deliveries),
                    origin: row.origin,
                    isOfHolder: row.endsWithHolder
                )
            )
        }
        let found = NamespaceStatus.Claim(
            held: HeldClaim(id, claim.number, tuple, deliveries: row.deliveries),
            process: HolderProcess(),
            deadline: clock.realtime(claim.deadline),
            origin: row.origin,
            expires: clock.realtime(row.expiry),
            endsWith: row.endsWithHolder ? 0 : nil
        )
        if claim.isBuried { buried.append(found) } else { claims.append(found) }
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
