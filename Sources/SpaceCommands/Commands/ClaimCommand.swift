import CommandWords
import Glibc
import SharedSpace
import SpaceSystem

/// The command `space claim NS TEMPLATE -- CMD…`.
///
/// The claim belongs to this process while CMD runs. If this process dies, the tuple returns and CMD dies too, so that
/// CMD does not work on a tuple that another process has claimed since. With --hold the claim belongs to the owner,
/// because this process ends at once.
struct ClaimCommand: ParsableCommand {
    static let commandName = "claim"
    static let configuration = CommandConfiguration(
        abstract: "Claim a tuple while a command runs, and remove it if that succeeds.",
        usage: "space claim [<options>] <ns> <template> [-- <cmd> ...]",
        discussion: """
            CMD gets the tuple on its standard input, and in its environment SHARED_SPACE_TUPLE and SHARED_SPACE_FIELD_0, _1 … \
            (see 'space help environment'). If its status is 0 the tuple is gone; otherwise, and when this process ends first, \
            it returns to its old place. With --deadline it returns after that time, and CMD gets SIGTERM, and SIGKILL 5 s \
            later. The status is CMD's (128 + n for a signal; 126 and 127 as the shell's), 1 when there was nothing to claim, \
            and 75 when the tuple returned before CMD ended: then another process may have claimed it since.

            With --keep the tuple returns when CMD has succeeded too, as if it had never been claimed: tuples may stand for \
            things that are used one after the other, such as ports or machines. Processes that wait for it go first. Other \
            ends count as deliveries, for 'space bury --after'.

            Tries once, unless --wait. With --forever it goes on with one tuple after the other until a signal ends it, or with \
            --wait D until nothing came for D; a command that fails is noted on standard error, and the tuple returns. With \
            --retry-delay a tuple whose command failed is out of sight for that time, so that those behind it get their turn.

            With --hold nothing is run: it prints the claim's id, and with --tuple the tuple on the next line, for 'space \
            complete', 'release', 'extend' and 'bury' in other processes. The claim is the owner's (--owner, \
            $SHARED_SPACE_OWNER, or the session leader): when that exits the tuple returns.

            CMD ends with its worker: if this process is killed, CMD gets SIGKILL, because another may have claimed the tuple.

            EXAMPLES:
              space claim jobs '["resize", "?int", "?string"]' -- ./resize
              space claim jobs --forever --deadline 10m '["resize", "?", "?"]' -- ./resize
              space claim lab --wait --keep '["gpu", "?int"]' -- sh -c 'CUDA_VISIBLE_DEVICES=$SHARED_SPACE_FIELD_1 ./train'
              id=$(space claim jobs --wait --hold '["resize", "?", "?"]') && work && space complete jobs $id
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @Option(defaultAsFlag: WaitLimit.unlimited, help: .wait) var wait: WaitLimit?
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var matching: MatchOptions

    @Option(help: "<duration> How long the claim lasts at most (default: no limit).")
    var deadline: Duration?

    @Option(help: "<duration> How long a tuple whose command failed is out of sight.")
    var retryDelay: Duration?

    @Flag(help: "Go on with the next tuple, waiting for it.")
    var forever = false

    @Flag(help: "Put the tuple back also when the command has succeeded.")
    var keep = false

    @Flag(help: "Run nothing, and print the claim's id.")
    var hold = false

    @Flag(help: "With --hold: print the tuple too, on the next line.")
    var tuple = false

    @Flag(help: .newest) var newest = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "What to claim, in JSON form.")
    var template: String

    @OptionGroup var tail: CommandTail

    /// How many milliseconds a worker rests after its command has failed: the first time, and at most.
    private static let rest: ClosedRange<Int> = 100...5000

    func validate() throws {
        if hold, !tail.isMissing { throw ValidationError("--hold runs no command") }
        if hold, retryDelay != nil {
            throw ValidationError("--retry-delay is for a command that fails, and --hold runs none")
        }
        if hold, keep {
            throw ValidationError(
                "--keep is for a command that succeeds; after --hold say it at the end: space complete --keep"
            )
        }
        if tuple, !hold {
            throw ValidationError("--tuple is for --hold: a command gets the tuple on its standard input")
        }
        if hold, forever { throw ValidationError("--hold and --forever exclude each other") }
        if !hold, tail.isMissing {
            throw ValidationError("the command to run is missing: put '--' and the command at the end, or give --hold")
        }
        if let deadline, deadline <= .zero {
            throw ValidationError("--deadline is longer than 0: the claim would be over at once")
        }
    }

    func run() throws {
        let template = try matching.template(template)
        let access = try NamespaceAccess(common, namespace)
        if hold { return try holdOne(access, template) }
        let command = tail.command
        guard forever else {
            guard let ending = try workOnOne(access, template, wait, command) else {
                throw status.nothingObtained
            }
            return try finish(ending)
        }
        var isFirst = true
        var rest = Self.rest.lowerBound
        while let ending = try workOnOne(access, template, wait ?? .unlimited, command) {
            isFirst = false
            try Signals.check()
            if ending.isSuccess {
                rest = Self.rest.lowerBound
                continue
            }
            Messages.print("space: \(ending.description)")
            if retryDelay != nil { continue }
            // The next claim is of the oldest match, which may be the tuple whose command has just failed.
            Retry.rest(.milliseconds(rest))
            rest = min(rest * 2, Self.rest.upperBound)
        }
        if isFirst { throw status.nothingObtained }
    }

    // MARK: Running a command

    /// What became of a claimed tuple.
    private enum Ending {
        case ended(ChildCommand.Ending)
        /// The tuple had returned before the command ended.
        case late(String)

        var isSuccess: Bool { if case .ended(let ending) = self { ending.isSuccess } else { false } }

        /// Why it is no success.
        var description: String {
            switch self {
            case .ended(let ending): "the command ended with status \(ending.status), and the tuple returned"
            case .late(let reason): reason
            }
        }
    }

    private func finish(_ ending: Ending) throws {
        switch ending {
        case .ended(let ending): try ending.passOn()
        case .late(let reason): throw CommandFailure(.tryAgain, reason)
        }
    }

    /// Claims a match and runs the command for it.
    ///
    /// - Returns: What became of the tuple; `nil` if there was nothing to claim.
    private func workOnOne(
        _ access: NamespaceAccess,
        _ template: Template,
        _ wait: WaitLimit?,
        _ command: ChildCommand
    ) throws -> Ending? {
        try access.obtain(wait, for: owner) { (namespace, remaining) -> Ending? in
            let claim = try namespace.claimBlocking(
                matching: template,
                order: MatchOrder(newest: newest),
                deadline: deadline,
                .upTo(remaining ?? .zero),
                interruption: Signals.interruption
            )
            guard let claim else { return nil }
            return try work(on: claim, of: namespace, access, command)
        }
    }

    private func work(
        on claim: HeldClaim,
        of namespace: Namespace,
        _ access: NamespaceAccess,
        _ command: ChildCommand
    ) throws -> Ending {
        var facts = access.facts(id: claim.id.rawValue, deliveries: claim.deliveries, fencing: claim.number)
        facts.add(claim.tuple)
        facts.publish()
        let ending: ChildCommand.Ending
        do {
            let right = deadline.map { _ in CommandRight(grace: .seconds(5)) { namespace.isHeld(claim) } }
            ending = try command.run(input: .line(claim.tuple.json), with: right)
        } catch {
            // The command never ran.
            try? namespace.release([claim], wasDelivered: false)
            throw error
        }
        do throws(SpaceError) {
            if !ending.isSuccess {
                guard try namespace.release(claim, delay: retryDelay ?? .zero) else {
                    throw namespace.lostClaim(claim.number, "release a claim")
                }
            } else if keep {
                try namespace.keep(claim)
            } else {
                try namespace.complete(claim)
            }
        } catch {
            switch error.code {
            // The tuple went with its namespace; the command's status still says whether the work was done. Of several
            // machines, the store may have lost the namespace, and with it the claim alone.
            case .namespaceDeleted where !namespace.isReplicated: break
            case .claimLost, .namespaceDeleted: return .late("\(error)")
            default: throw error
            }
        }
        return .ended(ending)
    }

    // MARK: Holding

    private func holdOne(_ access: NamespaceAccess, _ template: Template) throws {
        let holder = try owner.holder(of: "a held claim")
        try Output().checkTaken()
        let done = try access.obtain(wait, for: owner) { (namespace, remaining) -> Bool? in
            let claim = try namespace.claim(
                matching: template,
                order: MatchOrder(newest: newest),
                holder: holder,
                deadline: deadline,
                .upTo(remaining ?? .zero),
                interruption: Signals.interruption
            )
            guard let claim else { return nil }
            // If the id does not reach a reader, no process can end the claim.
            try Output.print(lines: ["\(claim.number)"] + (tuple ? [claim.tuple.json] : [])) {
                try namespace.release([claim], wasDelivered: false)
            }
            return true
        }
        if done == nil { throw status.nothingObtained }
    }
}
