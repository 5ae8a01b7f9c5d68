import LinearizabilityChecker

/// Says whether the calls of a history have an order that explains their results.
struct HistoryJudge {
    let templates: Int
    let cells: Int

    /// Returns the objects on which the history is not linearizable, with their calls.
    ///
    /// `returning`: The calls by which claims of a template return to the space without their process's doing.
    func faults(
        _ entries: [HistoryLog.Entry],
        returning: (_ template: Int) -> [Call<TupleBag.Operation, TupleBag.Response>]
    ) -> [String] {
        var faults: [String] = []
        for template in 0..<templates {
            let calls = entries.filter { !$0.kind.isOfCell && $0.object == template }.compactMap(tupleCall)
            let history = calls + returning(template)
            if !Linearizability<TupleBag>.holds(of: history) {
                faults.append("template \(template): \(describe(history))")
            }
        }
        for cell in 0..<cells {
            let history = entries.filter { $0.kind.isOfCell && $0.object == cell }.compactMap(cellCall)
            if !Linearizability<CellRegister>.holds(of: history) { faults.append("cell \(cell): \(describe(history))") }
        }
        return faults
    }

    private func describe<O, R>(_ history: [Call<O, R>]) -> String {
        history.sorted { $0.invoked < $1.invoked }.map { call in
            let result = call.response.map { "\($0)" } ?? "killed"
            return
                "\(call.process):\(call.invoked % 1_000_000_000)-\((call.returned ?? -1) % 1_000_000_000) \(call.operation)=\(result)"
        }.joined(separator: " ")
    }

    private func tupleCall(_ entry: HistoryLog.Entry) -> Call<TupleBag.Operation, TupleBag.Response>? {
        let operation: TupleBag.Operation
        switch entry.kind {
        case .write: operation = .write(entry.argument)
        case .read: operation = .read
        case .take: operation = .take
        case .claim: operation = .claim
        case .complete: operation = .complete
        case .release: operation = .release
        case .set, .get, .compareAndSet: return nil
        }
        let returned = entry.returned.map { returned -> (time: Int64, TupleBag.Response) in
            switch operation {
            case .read, .take, .claim: (returned.time, returned.result.map { .tuple($0) } ?? .nothing)
            case .complete: (returned.time, returned.result == HistoryLog.claimLost ? .nothing : .done)
            case .write, .release: (returned.time, .done)
            }
        }
        return Call(process: entry.process, invoked: entry.invoked, returned: returned, operation)
    }

    private func cellCall(_ entry: HistoryLog.Entry) -> Call<CellRegister.Operation, CellRegister.Response>? {
        let operation: CellRegister.Operation
        switch entry.kind {
        case .set: operation = .set(entry.argument)
        case .get: operation = .get
        case .compareAndSet: operation = .compareAndSet(expected: entry.expected, entry.argument)
        default: return nil
        }
        let returned = entry.returned.map { returned -> (time: Int64, CellRegister.Response) in
            switch operation {
            case .set: (returned.time, .done)
            case .get: (returned.time, .content(returned.result))
            case .compareAndSet: (returned.time, .isSet(returned.result == 1))
            }
        }
        return Call(process: entry.process, invoked: entry.invoked, returned: returned, operation)
    }
}
