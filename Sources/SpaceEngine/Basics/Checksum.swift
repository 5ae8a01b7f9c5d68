/// The checksum of control files and session files.
package func hash64(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { Hash64.hash($0) } }
