import Glibc
import SpaceSystem
import SystemPackage

/// Mounts a tmpfs of 6 MiB over `folder`, which only this process sees and which goes with it, and runs an action in
/// it.
func useSmallFileSystem(_ folder: String, _ what: String) throws(Errno) {
    let unshare = hidden("unshare", as: (@convention(c) (CInt) -> CInt).self)
    let newMountNamespace: CInt = 0x0002_0000  // CLONE_NEWNS
    guard unshare(newMountNamespace) == 0 else { throw Errno(rawValue: errno) }
    // mount_namespaces(7): without MS_PRIVATE the mount would spread to the other mount namespaces.
    guard mount(nil, "/", nil, UInt(MS_REC) | UInt(MS_PRIVATE), nil) == 0,
        mount("tmpfs", folder, "tmpfs", 0, "size=6m") == 0
    else { throw Errno(rawValue: errno) }

    let file = try OwnedDescriptor.open("\(folder)/mapped", flags: O_RDWR | O_CREAT, mode: 0o600)
    switch what {
    case "check":
        say("mounted \(try FileSystemKind.of(file.raw)) \(try FileSystemRoom.of(file.raw).total ?? 0)")

    case "too-much":
        var reached = 0
        do throws(Errno) {
            try Blocks.reserve(file.raw, to: 8 << 20, keepSize: false, reached: &reached)
            say("reserved")
        } catch {
            say("error \(error.rawValue) after \(reached) free \(try FileSystemRoom.of(file.raw).free ?? 0)")
        }

    case "hole":
        try FileBytes.truncate(file.raw, to: 256 << 10)
        let mapped = try MappedFile(file, length: 256 << 10)
        try fill(folder)
        say("full")
        write(mapped)

    case "reserved":
        try Blocks.reserve(file.raw, from: 0, to: 256 << 10, keepSize: false)
        let mapped = try MappedFile(file, length: 256 << 10)
        try fill(folder)
        say("full")
        write(mapped)

    default:
        usage()
    }
}

private func write(_ mapped: MappedFile) {
    memset(mapped.base, 1, mapped.length)
    say(mapped.isCut ? "cut" : "written")
}

/// Writes another file until nothing is free.
private func fill(_ folder: String) throws(Errno) {
    let filler = try OwnedDescriptor.open("\(folder)/filler", flags: O_RDWR | O_CREAT, mode: 0o600)
    let page = [UInt8](repeating: 1, count: 4096)
    var offset = 0
    while true {
        do throws(Errno) {
            try FileBytes.write(page, to: filler.raw, at: offset)
        } catch .noSpace {
            return
        }
        offset += page.count
    }
}
