import CommandWords
import SharedSpace

// Which words and options an action has.

extension QueueCommand {
    func validate() throws {
        if hold, action == .take, tail?.first != nil { throw ValidationError("--hold runs no command") }
        if action == .take, !hold, tail?.first == nil { throw ValidationError("take ends with '--' and a command") }
        if action != .take, let word = tail?.first(where: { !$0.isText }) {
            throw CommandFailure.badData("\(word.text.quotedForPeople) is not UTF-8")
        }
        let count = words.count
        switch action {
        case .put where count < 1: throw ValidationError("put has the items to put")
        case .put where count > 1 && (unique != nil || wait != nil):
            throw ValidationError("--unique and --wait are for one item")
        case .remove where count < 1: throw ValidationError("remove has the numbers of the items")
        case .cancel where count < 1: throw ValidationError("cancel has the numbers of the items")
        case .extend where !(1...2).contains(count):
            throw ValidationError("extend has a duration, and before it the number of an item if it is not CMD's own")
        case .complete, .release, .bury:
            if count != 1 {
                throw ValidationError("\(action.rawValue) has the number of an item that 'take --hold' printed")
            }
        case .set where deliveries == nil && bound == nil:
            throw ValidationError("set has --deliveries, --bound, or both")
        case .take where hold && forever: throw ValidationError("--hold and --forever exclude each other")
        case .take where count > 1: throw ValidationError("take has one number, or none")
        case .take where count == 1 && wait != nil:
            throw ValidationError("take with a number tries once: --wait is for whatever item comes next")
        case .take where !others.isEmpty && (count == 1 || hold):
            throw ValidationError(
                "--or is for what comes next: leave out the number, and --hold, whose number is of one queue"
            )
        case .take where count == 1 && forever: throw ValidationError("--forever takes what comes, and has no number")
        case .pause where count > 1: throw ValidationError("pause has one duration, or none")
        case .peek where count > 0 && (state != nil || max != .max):
            throw ValidationError("peek has numbers of items, or --state and --max")
        case .count, .buried, .drain, .resume, .set, .removeQueue:
            if count > 0 { throw ValidationError("\(action.rawValue) has no further words") }
        default: break
        }
        try checkOptions()
        if let ttr, ttr <= .zero {
            throw ValidationError("--ttr is longer than 0: the time would be over at once")
        }
        if max < 0 { throw ValidationError("--max is 0 or more") }
    }

    /// Refuses options that mean nothing for the action.
    private func checkOptions() throws {
        func only(_ isGiven: Bool, _ option: String, for actions: Action...) throws {
            guard isGiven, !actions.contains(action) else { return }
            let names = actions.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\(option) is for \(names), and not for \(action.rawValue)")
        }
        try only(ttr != nil, "--ttr", for: .take)
        try only(forever, "--forever", for: .take)
        try only(hold, "--hold", for: .take)
        try only(!others.isEmpty, "--or", for: .take)
        try only(value, "--value", for: .take)
        try only(force, "--force", for: .removeQueue)
        if action == .removeQueue {
            try only(deliveries != nil, "--deliveries", for: .put, .take, .set)
            try only(bound != nil, "--bound", for: .put, .take, .set)
        }
        try only(state != nil, "--state", for: .peek)
        try only(max != .max, "--max", for: .peek, .buried, .kick)
        try only(unique != nil, "--unique", for: .put)
        try only(replace, "--replace", for: .put)
        try only(again, "--again", for: .put)
        try only(json, "--json", for: .put)
        if unique == nil, replace || again { throw ValidationError("--replace and --again are for --unique KEY") }
        if replace && again { throw ValidationError("it is --replace or --again") }
        try only(group != nil, "--group", for: .put)
        try only(priority != 0, "--priority", for: .put)
        try only(delay != nil, "--delay", for: .put, .take, .release)
        if value, !hold { throw ValidationError("--value is for --hold: CMD gets the item on its standard input") }
    }
}
