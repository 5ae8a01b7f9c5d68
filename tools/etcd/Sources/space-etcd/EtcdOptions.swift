import ArgumentParser

/// The command line of `space-etcd`, which is what `space join` passes on; its help explains the options.
struct EtcdOptions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "space-etcd",
        abstract: "The connection to etcd of 'space join', which starts this program: see 'space help join'."
    )

    static var _errorPrefix: String { "space-etcd: " }

    @Option(help: ArgumentHelp("The members of etcd, with commas.", valueName: "urls"))
    var etcd: String

    @Option(help: ArgumentHelp("This machine's certificate (PEM).", valueName: "file"))
    var cert: String?

    @Option(help: ArgumentHelp("The certificate's key (PEM).", valueName: "file"))
    var key: String?

    @Option(help: ArgumentHelp("The authorities that have signed etcd's certificates (PEM).", valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("The user in etcd.", valueName: "name"))
    var user: String?

    @Option(help: ArgumentHelp("The file with the user's password.", valueName: "file"))
    var passwordFile: String?

    @Option(help: .hidden)
    var memory: Int32?

    func validate() throws {
        if (cert == nil) != (key == nil) { throw ValidationError("--cert and --key go together") }
        if (user == nil) != (passwordFile == nil) { throw ValidationError("--user and --password-file go together") }
        let urls = try urls
        if ca != nil || cert != nil, let plain = urls.first(where: { !$0.isSecure }) {
            throw ValidationError("--ca, --cert and --key are for https, and \(plain) is http: name members by https")
        }
    }

    /// The members, in the order of the command line.
    var urls: [EtcdURL] {
        get throws {
            var urls: [EtcdURL] = []
            for word in etcd.split(separator: ",", omittingEmptySubsequences: false) {
                let url = try EtcdURL(String(word))
                guard !urls.contains(url) else { throw ValidationError("--etcd names \(url) twice: name it once") }
                urls.append(url)
            }
            return urls
        }
    }
}
