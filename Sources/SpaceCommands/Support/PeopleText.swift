import Glibc
import SpaceEngine
import SpaceSystem

/// Text for people.
///
/// Names, commands and tuples come from other processes, and a terminal obeys the control characters in them: so they
/// are escaped.
enum PeopleText {
    /// The text with an escape for each character that could move a cursor, end a line or reorder text.
    ///
    /// The escapes are JSON's, so that a tuple's JSON form stays JSON.
    static func escaped(_ text: String) -> String {
        guard hasControls(text) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.isControl { result += scalar.escaped } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    /// Whether the text has a character that `escaped` replaces.
    static func hasControls(_ text: String) -> Bool { text.unicodeScalars.contains(where: \.isControl) }

    /// How many columns of a terminal a text takes: two for a character of East Asian scripts and for an emoji.
    static func columns(of text: String) -> Int {
        let count = text.utf8.count
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return count }
        return text.reduce(0) { $0 + columns(of: $1) }
    }

    static func columns(of character: Character) -> Int {
        switch character.unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
            0x20000...0x3FFFD:
            2
        default: 1
        }
    }

    /// The beginning of a text that fits into a number of columns.
    static func prefix(of text: String, columns most: Int) -> Substring {
        var used = 0
        let end = text.firstIndex { character in
            used += columns(of: character)
            return used > most
        }
        return text[..<(end ?? text.endIndex)]
    }

    /// A text that fits into a number of columns; a longer one is cut, and ends with an ellipsis.
    static func shortened(_ text: String, to most: Int) -> String {
        columns(of: text) > most ? "\(prefix(of: text, columns: max(0, most - 1)))…" : text
    }

    /// A text on lines that fit into a number of columns, broken at spaces if there are any; all lines but the first
    /// are indented.
    static func wrapped(_ text: String, to most: Int) -> [String] {
        var lines: [String] = []
        var rest = text[...]
        let indent = "  "
        while !rest.isEmpty {
            let room = max(1, lines.isEmpty ? most : most - indent.count)
            var line = prefix(of: String(rest), columns: room)
            if line.count < rest.count, let space = line.lastIndex(of: " "), space > line.startIndex {
                line = line[..<space]
            }
            // A character that is wider than the line takes a line even so.
            let count = max(1, line.count)
            lines.append((lines.isEmpty ? "" : indent) + rest.prefix(count))
            rest = rest.dropFirst(count)
            while rest.first == " " { rest.removeFirst() }
        }
        return lines
    }

    /// Rows with their columns aligned.
    ///
    /// The last column is not padded. Cells are escaped.
    static func table(_ rows: [[String]], indent: String = "") -> [String] {
        let cells = rows.map { $0.map(escaped) }
        let columns = cells.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            cells.map { column < $0.count ? self.columns(of: $0[column]) : 0 }.max() ?? 0
        }
        return cells.map { row in
            var line = indent
            for (column, cell) in row.enumerated() {
                line += cell
                if column + 1 < row.count {
                    line += String(repeating: " ", count: widths[column] - self.columns(of: cell) + 2)
                }
            }
            return line
        }
    }

    /// A table under its title, with an empty line before it; nothing if it has no rows.
    static func section(_ title: String, _ titles: [String], _ rows: [[String]]) -> [String] {
        rows.isEmpty ? [] : ["", title] + table([titles] + rows, indent: "  ")
    }

    /// A cell of a table; `-` if there is no value.
    static func cell(_ value: (some CustomStringConvertible)?) -> String { value?.description ?? "-" }

    /// A number and what is counted: `1 tuple`, `2 tuples`.
    static func count(_ number: Int, _ noun: String, plural: String? = nil) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(plural ?? noun + "s")"
    }

    /// A size in binary units: `512 B`, `4.0 MiB`.
    static func bytes(_ number: Int) -> String {
        guard number >= 1024 else { return "\(number) B" }
        var tenths = number
        var unit = 0
        let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        // Kept in tenths of the unit: without Foundation there is no formatting of floating point numbers.
        tenths = tenths / 1024 * 10 + tenths % 1024 * 10 / 1024
        while tenths >= 10_240, unit + 1 < units.count {
            tenths /= 1024
            unit += 1
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// A time in milliseconds since 1970, to the second: `2026-11-24T04:05:06Z`.
    static func moment(_ milliseconds: Int64) -> String { Clock.moment(milliseconds) }

    /// A time of this place, both in milliseconds since 1970: `14:02`, with the date if that is not today's.
    static func clock(_ milliseconds: Int64, now: Int64) -> String {
        func parts(_ milliseconds: Int64) -> tm? {
            var seconds = time_t(milliseconds / 1000)
            var parts = tm()
            return localtime_r(&seconds, &parts) == nil ? nil : parts
        }
        guard let then = parts(milliseconds), let today = parts(now) else { return "unknown" }
        func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let time = "\(padded(then.tm_hour)):\(padded(then.tm_min))"
        guard (then.tm_year, then.tm_yday) != (today.tm_year, today.tm_yday) else { return time }
        return "\(Int(then.tm_year) + 1900)-\(padded(then.tm_mon + 1))-\(padded(then.tm_mday)) \(time)"
    }

    /// How far `moment` is from `now`, both in milliseconds: `just now`, `12s ago`, `in 3m`; `-` if there is none.
    static func relative(_ moment: Int64?, to now: Int64) -> String {
        guard let moment else { return "-" }
        let (difference, overflow) = now.subtractingReportingOverflow(moment)
        guard !overflow else { return "unknown" }
        let seconds = difference.magnitude / 1000
        let text =
            switch seconds {
            case 0: ""
            case 1..<60: "\(seconds)s"
            case 60..<3600: "\(seconds / 60)m"
            case 3600..<86_400: "\(seconds / 3600)h"
            default: "\(seconds / 86_400)d"
            }
        if text.isEmpty { return difference >= 0 ? "just now" : "now" }
        return difference >= 0 ? "\(text) ago" : "in \(text)"
    }
}
