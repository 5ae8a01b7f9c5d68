import SpaceSystem

// Words at byte offsets of a mapping. The offsets are constants of the layout, aligned to their words.

extension SharedWord32 {
    package init(at address: UnsafeMutableRawPointer) { self.init(at: address.assumingMemoryBound(to: UInt32.self)) }
}

extension SharedWord64 {
    package init(at address: UnsafeMutableRawPointer) { self.init(at: address.assumingMemoryBound(to: UInt64.self)) }
}
