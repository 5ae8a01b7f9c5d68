import SpaceSystem
import TupleCoding

extension WriteScope {
    /// Executes an operation that a process of this machine has sent.
    ///
    /// - Returns: The result; `failed` and `notSent` if nothing was changed.
    /// - Throws: An error after which the transaction must be undone.
    package func execute(_ operation: SentOperation) throws(SpaceError) -> SentResult {
        let member = SessionNumber.member(of: operation.session)
        guard try snapshot.hasMember(member) else {
            return .failed(.memberEnded("this machine takes part as another member now"))
        }
        return try act(for: operation.process, of: member) { () throws(SpaceError) in
            try execute(operation.action, session: operation.session)
        }
    }

    private func execute(_ action: SentOperation.Action, session: UInt64) throws(SpaceError) -> SentResult {
        switch action {
        case .take(let ids):
            guard let (index, row) = try firstVisible(ids) else { return .nothing }
            try remove(ids[index], row)
            return .took(index: index)
        case .claim(let ids, let holder, let deadline, let isTake):
            guard let (index, row) = try firstVisible(ids) else { return .nothing }
            let terms = ClaimTerms(holder: ClaimHolder(raw: holder), deadline: deadline, isTake: isTake)
            let made = try claim(ids[index], row, terms)
            return .claimed(index: index, number: made.number, deliveries: made.deliveries)
        case .complete(let claims):
            for claim in claims { try complete(claim.id, session: session, number: claim.number) }
            return .done
        case .write(let tuple, let isRecord, let end):
            return try tuple.withBytes { (bytes) throws(SpaceError) in
                let tuple = EncodedTuple(bytes: bytes, isRecord: isRecord)
                do throws(TupleCodingError) {
                    try tuple.validate()
                } catch {
                    return .failed(SpaceError(.badData, reason: "the tuple that was sent does not decode: \(error)"))
                }
                var cursors: TupleCursors?
                return .wrote(try insert(tuple, end: end, with: &cursors))
            }
        case .set(let key, let element, let end, let condition):
            do throws(SpaceError) {
                try Limits.check(cellKey: key)
            } catch {
                return .failed(error)
            }
            let old = try snapshot.cellRow(key).map { Array($0.element) }
            guard old.map({ $0.count <= SentOperation.mostBytes }) ?? true else { return .notSent }
            return .found(old, isSet: try set(key, element, end, if: condition).isSet)
        case .increment(let key, let amount):
            do throws(SpaceError) {
                try Limits.check(cellKey: key)
            } catch {
                return .failed(error)
            }
            return .sum(Int64(try increment(key, by: Int(amount))))
        }
    }

    /// The place of the first tuple that is there, and its row.
    private func firstVisible(_ ids: [UInt64]) throws(SpaceError) -> (index: Int, row: TupleRow)? {
        for (index, id) in ids.enumerated() { if let row = try snapshot.tupleRow(id) { return (index, row) } }
        return nil
    }
}
