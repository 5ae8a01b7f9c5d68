package import ClusterStore
import CommandWords
import Glibc
import SharedSpace
import SpaceCluster
import SpaceSystem
import Synchronization

/// The command `space join`: the daemon that makes a root one of several machines'.
struct JoinCommand: ParsableCommand {
    static let commandName = "join"
    static let configuration = CommandConfiguration(
        abstract: "Share the root's replicated namespaces with other machines, through etcd.",
        discussion: """
            One daemon serves one root, and stays until SIGTERM, SIGINT or SIGHUP. It prints a line when it has joined, and on \
            standard error why it has not or is no member any more, and what is wrong with etcd; it tells a service manager too \
            (sd_notify). A namespace becomes one of all machines by 'space replicate', or 'space write --replicated'; machines \
            with the same etcd, --prefix and --space have the same ones. Without a daemon, processes read what this machine has, \
            and writes fail with status 75.

            A root that has joined once stays so: a namespace of this machine alone is made there only while the daemon says that the \
            machines share none of its name, and otherwise the status is 75; commands with --local do not ask. With --leave the root \
            is an ordinary one again: while no daemon serves it, its replicas go to the root's folder .aside, and their paths are \
            printed. The other machines' stay; after another 'space join' they come back.

            An etcd of version 3.5.13 or later is for production, with auto-compaction, a quota alarm, and certificates. The \
            password comes from a file, never from the command line. The daemon is the program space-etcd, which this command \
            becomes; 'tools/build --cluster' makes it. It is looked for beside this program, and then in PATH.

            EXAMPLES:
              space join --etcd http://127.0.0.1:2379
              space join --etcd https://a:2379,https://b:2379,https://c:2379 --ca ca.pem --cert m1.pem --key m1.key --name m1
              space join --leave
            """
    )

    @OptionGroup var common: CommonOptions

    @Option(help: "<urls> The members of etcd, with commas.")
    var etcd: String?

    @Option(help: "<text> What all keys in etcd begin with.")
    var prefix = "shared-space"

    @Option(help: "<name> The space's name in etcd: roots that share namespaces have the same.")
    var space = "default"

    @Option(help: "<machine> This machine's name, for people (default: the host's).")
    var name: String?

    @Option(help: "<file> This machine's certificate (PEM).", completion: .file())
    var cert: String?

    @Option(help: "<file> The certificate's key (PEM).", completion: .file())
    var key: String?

    @Option(help: "<file> The authorities that have signed etcd's certificates (PEM).", completion: .file())
    var ca: String?

    @Option(help: "<name> The user in etcd.")
    var user: String?

    @Option(help: "<file> The file with the user's password.", completion: .file())
    var passwordFile: String?

    @Option(help: "<duration> How long the machine lives without word from its daemon.")
    var lease: Duration?

    @Option(
        help: """
            <duration> How long a namespace stays when no process owns it on any machine, and how long the processes \
            of a machine count as owners without word from their daemon (default: 60s).
            """
    )
    var grace: Duration?

    @Flag(help: "Make the root an ordinary one again, and set its replicas aside.")
    var leave = false

    /// What the command does, in its errors.
    private static let task = "join the cluster"
    /// The program that has ``connect``.
    private static let program = SisterProgram(name: "space-etcd", build: "tools/build --cluster")
    /// What connects the daemon with its store, in a program that can be the daemon; `nil` in `space` itself.
    static let connect = Mutex<StoreMaker?>(nil)

    mutating func validate() throws {
        if leave {
            guard etcd == nil else { throw ValidationError("--leave asks no etcd: it takes no --etcd") }
        } else if etcd == nil {
            throw ValidationError("name the members of etcd: --etcd http://127.0.0.1:2379")
        }
        if (cert == nil) != (key == nil) { throw ValidationError("--cert and --key go together") }
        if (user == nil) != (passwordFile == nil) { throw ValidationError("--user and --password-file go together") }
        if let lease, !(Duration.seconds(2)...Duration.seconds(600)).contains(lease) {
            throw ValidationError("--lease is 2s to 10m")
        }
        if let grace, !(Duration.seconds(1)...Duration.seconds(86_400)).contains(grace) {
            throw ValidationError("--grace is 1s to 1d")
        }
    }

    func run() throws {
        let root = Space(trusting: common.root, timeout: common.timeout ?? .seconds(5))
        if leave { return try leave(root) }
        guard let connect = Self.connect.withLock({ $0 }) else { try Self.program.become(CommandLine.unsafeArgv) }
        // Each namespace takes some descriptors, and the usual limit of 1,024 is that of some 300 namespaces.
        ResourceLimits.raiseOpenFiles(to: 1 << 16)
        let store: any Store
        do throws(StoreError) { store = try connect(storeOptions) } catch {
            let reason = if case .refused(let why) = error { why } else { error.told }
            throw SpaceError(.invalidArgument, reason: reason, advice: "look at: space help join")
                .named(Self.task, nil)
        }
        try root.makeRoot()
        var settings = ClusterSettings()
        if let lease { settings.leaseSeconds = Int(lease.components.seconds) }
        if let grace { settings.setGrace(grace) }
        let machine = name ?? Self.hostName
        let daemon = try SpaceError.naming(Self.task, on: nil) { () throws(SpaceError) in
            try ClusterDaemon(
                root: LocalReplicas(root),
                machine: machine,
                prefix: prefix,
                space: space,
                settings: settings,
                store: store
            )
        }
        let ending = try TaskEnd<Void>()
        let told = Mutex(Told())
        let task = Task {
            do {
                try await daemon.run { report in told.withLock { $0.tell(report, machine) } }
                ending.note(.success(()))
            } catch {
                ending.note(.failure(error))
            }
        }
        while Signals.pending == nil, ending.result == nil { ending.wait() }
        ServiceManager.tell("STOPPING=1")
        task.cancel()
        while ending.result == nil { ending.wait() }
        // After a signal, what the end came to does not matter.
        guard case .failure(let error)? = ending.result, Signals.pending == nil else { return }
        let attempt = told.withLock { $0.hasJoined } ? "serve the root" : Self.task
        throw (error as? SpaceError)?.named(attempt, nil) ?? error
    }

    /// Ends the root's membership for good.
    private func leave(_ root: Space) throws {
        try root.checkRoot(mustExist: true)
        let places = try SpaceError.naming("leave the cluster", on: nil) { () throws(SpaceError) in
            try Departure.leave(LocalReplicas(root))
        }
        try Output.print(lines: places)
    }

    /// What people were told.
    ///
    /// Standard output gets one line, when the daemon has joined. Standard error gets, each time that this changes, why
    /// the daemon has not joined or is no longer a member, and what is wrong with the store. The service manager hears
    /// every reason. The daemon never waits for a reader: what a full pipe has no room for is left out.
    private struct Told {
        private(set) var hasJoined = false
        /// Whether the last line said that it is a member, and if not, the reasons that were reported since.
        private var isSaidToBeOne: Bool?
        private var reasons: Set<String> = []
        private var troubles: [String] = []

        mutating func tell(_ report: DaemonNews, _ machine: String) {
            // Someone ends the daemon.
            guard Signals.pending == nil else { return }
            let name = PeopleText.escaped(machine)
            switch report {
            case .joined:
                ServiceManager.tell("READY=1\nSTATUS=joined")
                if !hasJoined {
                    if Messages.hasRoom(STDOUT_FILENO) { try? Output.print(line: "joined \(name)") }
                } else if isSaidToBeOne == false {
                    say("\(name) has joined again")
                }
                hasJoined = true
                isSaidToBeOne = true
                reasons = []
            case .apart(let why):
                let state = (hasJoined ? "is no member any more: " : "has not joined yet: ") + PeopleText.escaped(why)
                ServiceManager.tell("STATUS=\(state)")
                // Each reason is reported once, however often the reason changes, and at most 20 of them: a text may
                // have a changing part.
                guard !reasons.contains(why), reasons.count < 20,
                    say("\(name) \(state); trying again; look with: space machines")
                else { return }
                isSaidToBeOne = false
                reasons.insert(why)
            case .troubles(let now):
                for trouble in now where !troubles.contains(trouble) { say("\(name): \(PeopleText.escaped(trouble))") }
                for trouble in troubles where !now.contains(trouble) {
                    say("\(name): no more: \(PeopleText.escaped(trouble))")
                }
                troubles = now
            case .event(let what): say("\(name): \(PeopleText.escaped(what))")
            }
        }

        @discardableResult
        private func say(_ text: String) -> Bool {
            guard Messages.hasRoom(STDERR_FILENO) else { return false }
            Messages.print("space: \(text)")
            return true
        }
    }

    private static var hostName: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "machine" }
        return bytes.withUnsafeBufferPointer { String(validatingCString: $0.baseAddress!) } ?? "machine"
    }

    private var storeOptions: StoreOptions {
        var options = StoreOptions(members: etcd ?? "")
        options.certificate = cert
        options.key = key
        options.authorities = ca
        options.user = user
        options.passwordFile = passwordFile
        return options
    }
}

/// Connects a daemon with its store; throws `refused` if the options can't work.
package typealias StoreMaker = @Sendable (StoreOptions) throws(StoreError) -> any Store
