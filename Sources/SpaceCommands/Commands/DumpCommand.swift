import CommandWords
import SpaceInspection

/// The command `space dump NS | PATH`, which the program is as a whole if it is called `space-dump`.
struct DumpCommand: ParsableCommand {
    static let commandName = "dump"
    static let configuration = CommandConfiguration(
        abstract: "Print everything in a namespace, without becoming its owner.",
        usage: """
            space dump [<options>] (<ns|path> | --all)
            space-dump [<options>] (<ns|path> | --all)
            """,
        discussion: """
            Works also when the processes that use the namespace are stopped or dead: where it can't acquire the locks it reads \
            without them, and says so. --check verifies every invariant that the files can show; the status is 1 when there \
            is damage, and a line says each. 'space load' reads what --format json prints.

            --salvage is for a namespace that is damaged. It reads the pages of the data file itself, with neither the locks nor the control \
            file, and prints everything that lies on whole pages as JSON lines for 'space load'. What it leaves out it names on \
            standard error, and the status is 1 then. What the control file says is not in it: give 'load' what the namespace had of \
            --persistent, --limit and --group.

            EXAMPLES:
              space dump jobs
              space dump --format json jobs | jq -c 'select(.kind == "tuple").tuple'
              space dump --check --all
              space dump --salvage jobs | space load jobs-saved
              space-dump /dev/shm/shared-space-1000/jobs

            EXIT STATUS:
            \(ExitStatus.dumpHelp)
            """
    )

    /// The form of the output.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @OptionGroup var common: CommonOptions

    @Option(help: "For people, or JSON lines.")
    var format = Format.text

    @Flag(help: "Every namespace of the space.")
    var all = false

    @Flag(help: "Check, and print what is damaged.")
    var check = false

    @Flag(help: "Print what can be saved of a damaged namespace, as JSON lines.")
    var salvage = false

    @Argument(help: "<ns|path> The namespace, or its folder (with a '/').", completion: .namespaces)
    var subject: String?

    func validate() throws {
        if salvage, all || check { throw ValidationError("--salvage is of one namespace, and without --check") }
        if all == (subject != nil) { throw ValidationError("name a namespace or its folder, or give --all") }
    }

    func run() throws {
        let output = Output()
        var ending = ExitStatus.done
        // These look at all before they print.
        if check || salvage { Signals.dieAtOnce() }
        if let subject {
            let place: Inspection.Subject =
                subject.utf8.contains(UInt8(ascii: "/")) ? .path(subject) : .name(subject, root: common.root)
            ending = try salvage ? save(place, output) : inspect(place, named: subject, output)
        } else {
            for (position, name) in try Inspection.names(root: common.root).enumerated() {
                try Signals.check()
                if position > 0, format == .text, !check { try output.print("") }
                do {
                    let result = try inspect(.name(name, root: common.root), named: name, output)
                    if ending == .done { ending = result }
                } catch let error as SpaceError where error.code == .namespaceNotFound {
                    // It was deleted after the listing.
                } catch let error as SpaceError {
                    // The others can still be inspected.
                    Self.tell("\(error)")
                    if ending == .done { ending = ExitStatus(error.code) }
                }
            }
        }
        try output.flush()
        if ending != .done { throw CommandFailure(ending, nil) }
    }

    /// Prints a message under the name by which the program was called.
    private static func tell(_ message: String) { Messages.print("\(ProgramName.own.rawValue): \(message)") }

    private var timeout: Duration { common.timeout ?? .seconds(1) }

    private func save(_ subject: Inspection.Subject, _ output: Output) throws -> ExitStatus {
        let salvage = try Salvage(subject, timeout: timeout)
        try SalvageReport(salvage: salvage).lines { try output.print($0) }
        try output.flush()
        let name = PeopleText.escaped(salvage.name)
        for note in salvage.notes { Self.tell("\(name): \(PeopleText.escaped(note))") }
        for text in salvage.leftOut { Self.tell("\(name): left out: \(PeopleText.escaped(text))") }
        return salvage.leftOut.isEmpty ? .done : .nothing
    }

    private func inspect(_ subject: Inspection.Subject, named name: String, _ output: Output) throws -> ExitStatus {
        if check {
            // All pages are checked before a look follows offsets through them.
            let damage = try Inspection.damagedPages(subject, timeout: timeout)
            guard damage.isEmpty else {
                try report(damage, of: name, output)
                return .nothing
            }
        }
        let inspection: Inspection
        do {
            // The report for people shows the claims with the status; the lines are printed one by one.
            let listsClaims = format == .text
            inspection = try Inspection(subject, checking: check, listsClaims: listsClaims, timeout: timeout)
        } catch {
            // Damage that keeps the namespace from being opened is a result of the check.
            guard check, error.code == .damaged else { throw error }
            try report([error.reason], of: name, output)
            return .nothing
        }
        if let obstacle = inspection.isLockFree {
            Self.tell(
                "\(PeopleText.escaped(name)): read without locks (\(obstacle)); what is being written may show half"
            )
        }
        if check {
            try report(inspection.damage, of: inspection.status.name, output)
            return inspection.damage.isEmpty ? .done : .nothing
        }
        let report = DumpReport(inspection: inspection)
        func print(_ line: String) throws {
            try Signals.check()
            try output.printWithoutWaiting(.text(line))
        }
        switch format {
        case .text: try report.text(print)
        case .json: try report.lines(print)
        }
        // What the reader has not taken so far is in memory.
        inspection.close()
        try output.flush()
        return .done
    }

    private func report(_ damage: [String], of name: String, _ output: Output) throws {
        for text in damage {
            switch format {
            case .text:
                try output.print(PeopleText.escaped("\(name): \(text)"))
            case .json:
                try output.print(["kind": "damage", "namespace": name, "damage": text])
            }
        }
    }
}
