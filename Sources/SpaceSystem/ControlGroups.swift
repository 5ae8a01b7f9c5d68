/// Control groups (cgroups(7)) whose freezer stops processes.
package enum ControlGroups {
    /// Whether the freezer of a process's control group has stopped it; `false` also if that is unknown.
    ///
    /// `proc`: The place of proc(5), a parameter for tests.
    package static func isFrozen(_ pid: Int32, proc: String = "/proc") -> Bool {
        guard pid > 0, proc != "/proc" || ProcFS.showsOurNamespace, let groups = lines("\(proc)/\(pid)/cgroup"),
            let mounts = lines("\(proc)/self/mountinfo")
        else { return false }
        for group in groups {
            // cgroups(7): hierarchy:controllers:path; the path may contain colons. Version 2 is number 0, without
            // controllers.
            let parts = group.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { continue }
            let controllers = parts[1].split(separator: ",")
            if parts[0] == "0" {
                guard let folder = folder(parts[2], in: mounts, ofType: "cgroup2", with: nil) else { continue }
                // cgroup.events also says so if a group above this one was frozen.
                if lines("\(folder)/cgroup.events")?.contains("frozen 1") ?? false { return true }
            } else if controllers.contains("freezer") {
                guard let folder = folder(parts[2], in: mounts, ofType: "cgroup", with: "freezer") else { continue }
                if lines("\(folder)/freezer.state")?.first == "FROZEN" { return true }
            }
        }
        return false
    }

    /// The folder of a group, or `nil` if no mount of its file system contains the group.
    private static func folder(
        _ path: Substring,
        in mounts: [Substring],
        ofType type: Substring,
        with controller: Substring?
    ) -> String? {
        for mount in mounts {
            // proc(5), mountinfo: number, parent, device, root, mount point, options, optional fields, "-", type,
            // source, options.
            let fields = mount.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), dash >= 6, fields.count >= dash + 4, fields[dash + 1] == type,
                controller.map({ fields[dash + 3].split(separator: ",").contains($0) }) ?? true
            else { continue }
            let (root, point) = (fields[3], fields[4])
            if root == "/" { return "\(point)\(path)" }
            if path == root { return String(point) }
            if path.hasPrefix("\(root)/") { return "\(point)\(path.dropFirst(root.count))" }
        }
        return nil
    }

    private static func lines(_ path: String) -> [Substring]? {
        guard let bytes = try? ProcFS.contents(path, limit: 1 << 20) else { return nil }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
}
