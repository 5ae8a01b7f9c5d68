import Glibc
import SharedSpace
import SpaceTestSupport

/// Pages and files of a namespace damaged in every way that a fault of the disk, of the memory or of a program can,
/// before and while processes use them.
///
/// Every command and every call of the library ends in time, with its result or an error, never by a signal. Salvage
/// prints every tuple and cell whose page is intact. A namespace beside it stays as it is.
struct DamagePart {
    let options: Options

    func run() -> Report {
        Rounds(part: .damage, options: options).report([
            .init("pages", pages), .init("walked", walked), .init("living", living), .init("files", files),
            .init("replaced", replaced),
        ])
    }

    /// A page at a time, while no process has the namespace open.
    private func pages(_ round: Round) throws {
        let subject = try DamagedNamespace(round)
        for _ in 0..<4 {
            let damage = PageDamage(round, subject.pristine)
            try subject.checkSalvage(damage)
            for command in subject.looks(3) + subject.changes(3) {
                try subject.apply(damage)
                try subject.expectAnswer(command, "\(damage)")
            }
            try subject.apply(damage)
            try subject.askAll(round.newcomer(), "\(damage)")
            try subject.restore()
        }
        try subject.end()
    }

    /// Zeroes one page after another, and each time a process walks through all of them.
    ///
    /// Such a walk meets most of a namespace's pages; a command that looks for one tuple meets few.
    private func walked(_ round: Round) throws {
        let subject = try DamagedNamespace(round)
        let pages = (0..<subject.pristine.count / PageDamage.pageSize).shuffled(using: &round.generator)
        for page in pages.prefix(40) {
            let damage = PageDamage(zeroing: page, subject.pristine)
            try subject.apply(damage)
            let walker = try round.newcomer()
            if subject.expectAnswer(walker, subject.opening, "\(damage)"),
                subject.expectAnswer(walker, "verify", "\(damage)")
            {
                try walker.kill()
            }
            if round.hasFound { break }
        }
        try subject.restore()
        try subject.end()
    }

    /// A page at a time, while processes have the namespace open.
    private func living(_ round: Round) throws {
        let subject = try DamagedNamespace(round)
        let users = [try round.newcomer(), try round.newcomer()]
        for user in users { try user.run(subject.opening) }
        _ = try users[0].ask("read [\"job\", 1, \"?\", \"?\"]")
        let damage = PageDamage(round, subject.pristine)
        try subject.apply(damage)
        for user in users { subject.askAll(user, "\(damage), in use") }
        for command in subject.looks(2) { try subject.expectAnswer(command, "\(damage), in use") }
        if round.coin() {
            let name = round.one(of: ["data.mdb", "control", "lock.mdb"])
            let size = name == "data.mdb" ? subject.pristine.count : try round.root.bytes(of: "n/\(name)").count
            let length = round.coin() ? round.random(0..<size) : round.random(0..<min(size, 512))
            try round.root.overwrite("n/\(name)", [], length: length)
            for user in users { subject.askAll(user, "\(name) cut to \(length), in use") }
            for command in subject.looks(2) { try subject.expectAnswer(command, "\(name) cut to \(length), in use") }
        }
        try subject.end()
    }

    /// A file cut, zeroed, filled with noise or removed.
    private func files(_ round: Round) throws {
        let subject = try DamagedNamespace(round)
        let name = round.one(of: ["data.mdb", "data.mdb", "lock.mdb", "control", "control", "bell", "sessions"])
        let path = "n/\(name)"
        var what = "\(name) removed"
        var isDataLost = name == "data.mdb"
        if name == "sessions" {
            try round.root.removeTree(path)
        } else {
            let size = name == "data.mdb" ? subject.pristine.count : try round.root.bytes(of: path).count
            switch round.random(0..<4) {
            case 0: unlink("\(round.root.path)/\(path)")
            case 1:
                let length = round.coin() ? 0 : round.random(0..<max(size, 1))
                try round.root.overwrite(path, [], length: length)
                what = "\(name) cut to \(length)"
            case 2:
                let zeros = [UInt8](repeating: 0, count: size)
                try round.root.overwrite(path, zeros)
                what = "\(name) zeroed"
            default:
                let start = round.random(0..<max(size, 1))
                let noise = (start..<min(start + 4096, size)).map { _ in
                    UInt8.random(in: 0...255, using: &round.generator)
                }
                try round.root.overwrite(path, noise, at: start)
                what = "\(name) with noise at \(start)"
                isDataLost = isDataLost && !noise.isEmpty
            }
        }
        try subject.checkSalvage(what, isDataLost: isDataLost)
        for command in subject.looks(4) + subject.changes(2) { try subject.expectAnswer(command, what) }
        try subject.askAll(round.newcomer(), what)
        try subject.end()
    }

    /// A file replaced by another kind of file.
    private func replaced(_ round: Round) throws {
        let subject = try DamagedNamespace(round)
        let name = round.one(of: ["data.mdb", "lock.mdb", "control", "bell", "sessions"])
        let path = "\(round.root.path)/n/\(name)"
        let victim = "\(round.root.path)/.victim"
        let text = Array("a file of another program's".utf8)
        try round.root.overwrite(".victim", text)
        if name == "sessions" { try round.root.removeTree("n/sessions") } else { unlink(path) }
        let kind = round.one(of: ["FIFO", "link", "folder", "socket", "device"])
        let isMade =
            switch kind {
            case "FIFO": mkfifo(path, 0o600) == 0
            case "link": symlink(victim, path) == 0
            case "folder": mkdir(path, 0o700) == 0
            case "socket": Self.makeSocket(path)
            default: mknod(path, S_IFCHR | 0o600, 0x103) == 0  // 1, 3: /dev/null
            }
        guard isMade else { throw Rounds.Skipped(reason: "a \(kind) can't be made: errno \(errno)") }
        let what = "\(name) replaced by a \(kind)"
        try subject.checkSalvage(what, isDataLost: name == "data.mdb")
        for command in subject.looks(4) + subject.changes(2) { try subject.expectAnswer(command, what) }
        try subject.askAll(round.newcomer(), what)
        round.check(try round.root.bytes(of: ".victim") == text, "\(what): the file that the link leads to was changed")
        try subject.end()
    }

    private static func makeSocket(_ path: String) -> Bool {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
