import Glibc

/// Paths as the kernel resolves them, even of files that don't exist yet.
enum ResolvedPath {
    /// The most symbolic links on a way, as path_resolution(7) has it.
    private static let mostLinks = 40

    /// The absolute path without symbolic links, `.` and `..`; names that don't exist stay as they are.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - folder: The absolute path of the folder from which a relative path leads.
    /// - Returns: The path; `nil` if it leads through too many links.
    static func of(_ path: String, from folder: String) -> String? {
        var rest = Array(names(in: path.utf8.first == slash ? path : "\(folder)/\(path)").reversed())
        // Without a slash at its end: the root is empty.
        var place = ""
        var links = 0
        while let name = rest.popLast() {
            if name == "." { continue }
            if name == ".." {
                place = String(place.utf8.prefix(upTo: place.utf8.lastIndex(of: slash) ?? place.startIndex)) ?? ""
                continue
            }
            let next = "\(place)/\(name)"
            guard let target = linkText(next) else {
                place = next
                continue
            }
            links += 1
            guard links <= mostLinks else { return nil }
            if target.utf8.first == slash { place = "" }
            rest += names(in: target).reversed()
        }
        return place.isEmpty ? "/" : place
    }

    /// The folder that an absolute path is in; of the root, itself.
    static func parent(of path: String) -> String {
        guard let end = path.utf8.lastIndex(of: slash), end > path.startIndex else { return "/" }
        return String(path.utf8[..<end]) ?? "/"
    }

    private static let slash = UInt8(ascii: "/")

    /// The names in a path.
    ///
    /// Paths are split and compared as bytes: to a `String` a slash and a combining mark after it are one character.
    static func names(in path: String) -> [String] {
        path.utf8.split(separator: slash).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The text of a symbolic link; `nil` if there is none at the path.
    static func linkText(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { bytes in
            guard let start = bytes.baseAddress else { return nil }
            let count = readlink(path, start, bytes.count)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }

    /// The path of `path` from a folder that it is in; `nil` if it is not in it.
    static func relative(_ path: String, to folder: String) -> String? {
        if path.utf8.elementsEqual(folder.utf8) { return "" }
        let start = folder.utf8.elementsEqual("/".utf8) ? "/" : folder + "/"
        return path.dropping(prefix: start)
    }
}

extension String {
    /// What follows a beginning, byte by byte; `nil` if the text does not begin so.
    func dropping(prefix: String) -> String? {
        guard utf8.starts(with: prefix.utf8) else { return nil }
        return String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
}
