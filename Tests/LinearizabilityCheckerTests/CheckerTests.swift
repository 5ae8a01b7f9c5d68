import LinearizabilityChecker
import Testing

/// The checker accepts a history that some order explains, and rejects one that none does: each fault here is one that
/// a tuple space could have.
struct CheckerTests {
    private typealias Tuples = Linearizability<TupleBag>
    private typealias Cells = Linearizability<CellRegister>

    private func call(
        _ process: Int,
        _ times: ClosedRange<Int64>,
        _ operation: TupleBag.Operation,
        _ response: TupleBag.Response
    ) -> Call<TupleBag.Operation, TupleBag.Response> {
        Call(process: process, invoked: times.lowerBound, returned: (times.upperBound, response), operation)
    }

    private func killed(_ process: Int, _ time: Int64, _ operation: TupleBag.Operation) -> Call<
        TupleBag.Operation, TupleBag.Response
    > {
        Call(process: process, invoked: time, returned: nil, operation)
    }

    private func cell(
        _ process: Int,
        _ times: ClosedRange<Int64>,
        _ operation: CellRegister.Operation,
        _ response: CellRegister.Response
    ) -> Call<CellRegister.Operation, CellRegister.Response> {
        Call(process: process, invoked: times.lowerBound, returned: (times.upperBound, response), operation)
    }

    // MARK: Histories that some order explains

    @Test func nothingAndOneAfterTheOther() {
        #expect(Tuples.holds(of: []))
        #expect(Tuples.holds(of: [call(0, 1...2, .write(1), .done), call(1, 3...4, .take, .tuple(1))]))
    }

    @Test func callsAtTheSameTimeGoInEitherOrder() {
        let write = call(0, 1...10, .write(1), .done)
        #expect(Tuples.holds(of: [write, call(1, 2...3, .take, .tuple(1))]))
        #expect(Tuples.holds(of: [write, call(1, 2...3, .take, .nothing), call(1, 4...5, .read, .tuple(1))]))
    }

    @Test func whatAKilledProcessBeganMayHaveHappenedOrNot() {
        let begun = killed(0, 1, .write(1))
        #expect(Tuples.holds(of: [begun, call(1, 5...6, .take, .tuple(1))]))
        #expect(Tuples.holds(of: [begun, call(1, 5...6, .take, .nothing)]))
        #expect(Tuples.holds(of: [begun, call(1, 5...6, .read, .nothing), call(1, 7...8, .read, .tuple(1))]))
        let taking = [call(0, 1...2, .write(1), .done), killed(0, 3, .take)]
        #expect(Tuples.holds(of: taking + [call(1, 5...6, .take, .nothing)]))
        #expect(Tuples.holds(of: taking + [call(1, 5...6, .take, .tuple(1))]))
    }

    @Test func aKilledClaimersTupleReturns() {
        let claimed = [call(0, 1...2, .write(1), .done), call(0, 3...4, .claim, .tuple(1)), killed(0, 5, .release)]
        #expect(Tuples.holds(of: claimed + [call(1, 6...7, .read, .nothing), call(1, 8...9, .take, .tuple(1))]))
        #expect(!Tuples.holds(of: claimed + [call(1, 6...7, .take, .tuple(1)), call(1, 8...9, .read, .tuple(1))]))
    }

    /// A claim is lost with its machine: its tuple has returned before the completion is refused.
    @Test func aLostClaimHasReturned() {
        let claimed = [
            call(0, 1...2, .write(1), .done), call(0, 3...4, .claim, .tuple(1)), call(0, 9...10, .complete, .nothing),
        ]
        #expect(!Tuples.holds(of: claimed))
        #expect(Tuples.holds(of: claimed + [killed(0, 3, .release), call(1, 5...6, .take, .tuple(1))]))
        #expect(!Tuples.holds(of: claimed + [killed(0, 3, .release), call(1, 11...12, .take, .nothing)]))
    }

    @Test func compareAndSet() {
        #expect(
            Cells.holds(of: [
                cell(0, 1...2, .set(1), .done),
                cell(0, 3...9, .compareAndSet(expected: 1, 2), .isSet(true)),
                cell(1, 3...9, .compareAndSet(expected: 2, 3), .isSet(true)),
                cell(2, 10...11, .get, .content(3)),
            ])
        )
    }

    // MARK: Histories that no order explains

    @Test func aTakeWithoutItsSecondLook() {
        let history = [
            call(0, 1...2, .write(1), .done), call(1, 3...9, .take, .tuple(1)), call(2, 4...8, .take, .tuple(1)),
        ]
        #expect(!Tuples.holds(of: history))
    }

    @Test func aTakeThatIsDoneAgainAfterAKill() {
        let history = [
            call(0, 1...2, .write(1), .done), call(1, 3...4, .take, .tuple(1)), killed(1, 5, .read),
            call(2, 6...7, .take, .tuple(1)),
        ]
        #expect(!Tuples.holds(of: history))
    }

    @Test func aLostWrite() {
        #expect(!Tuples.holds(of: [call(0, 1...2, .write(1), .done), call(1, 3...4, .read, .nothing)]))
    }

    @Test func aTupleFromNowhere() {
        #expect(!Tuples.holds(of: [call(0, 1...2, .write(1), .done), call(1, 3...4, .take, .tuple(2))]))
        #expect(!Tuples.holds(of: [call(1, 1...2, .read, .tuple(1)), call(0, 3...4, .write(1), .done)]))
    }

    @Test func aCompletedClaimThatReturns() {
        let history = [
            call(0, 1...2, .write(1), .done), call(1, 3...4, .claim, .tuple(1)), call(1, 5...6, .complete, .done),
            call(2, 7...8, .read, .tuple(1)),
        ]
        #expect(!Tuples.holds(of: history))
        #expect(!Tuples.holds(of: [call(1, 5...6, .complete, .done)]))
    }

    @Test func aStaleRead() {
        let history = [cell(0, 1...2, .set(1), .done), cell(0, 3...4, .set(2), .done)]
        #expect(!Cells.holds(of: history + [cell(1, 5...6, .get, .content(1))]))
        #expect(Cells.holds(of: history + [cell(1, 2...6, .get, .content(1))]))
        // Once the new value was read, the old one can't come back.
        let reads = [cell(1, 3...3, .get, .content(2)), cell(2, 4...4, .get, .content(1))]
        #expect(!Cells.holds(of: [cell(0, 1...2, .set(1), .done), cell(0, 2...9, .set(2), .done)] + reads))
    }

    @Test func twoThatBothSet() {
        let history = [
            cell(0, 1...2, .set(1), .done), cell(0, 3...9, .compareAndSet(expected: 1, 2), .isSet(true)),
            cell(1, 3...9, .compareAndSet(expected: 1, 3), .isSet(true)),
        ]
        #expect(!Cells.holds(of: history))
    }

    // MARK: At random

    /// An object used by four processes whose calls overlap, each taking effect between its beginning and its end.
    private func random(_ count: Int, _ generator: inout some RandomNumberGenerator) -> Tuples.History {
        var state = TupleBag.initial
        var history: Tuples.History = []
        for step in 0..<count {
            let time = Int64(step) * 10
            let process = Int.random(in: 0..<4, using: &generator)
            let operation: TupleBag.Operation
            var response = TupleBag.Response.done
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1: operation = .write(step)
            default:
                operation = Bool.random(using: &generator) ? .take : .read
                response = state.visible.randomElement(using: &generator).map { .tuple($0) } ?? .nothing
            }
            state = TupleBag.apply(operation, by: process, response, to: state)[0]
            let early = Int64.random(in: 0...25, using: &generator)
            let late = Int64.random(in: 0...25, using: &generator)
            history.append(call(process, (time - early)...(time + late), operation, response))
        }
        return history
    }

    @Test func whatTookEffectSomewhereIsLinearizableAndADoubledTakeIsNot() {
        var generator = SystemRandomNumberGenerator()
        var faults = 0
        for _ in 0..<300 {
            var history = random(40, &generator)
            #expect(Tuples.holds(of: history))
            guard let take = history.first(where: { $0.operation == .take && $0.response != .nothing }) else {
                continue
            }
            history.append(call(5, 1000...1001, .take, take.response ?? .nothing))
            #expect(!Tuples.holds(of: history))
            faults += 1
        }
        #expect(faults > 200)
    }
}
