import SpaceEngine

/// When this machine makes a base: when the log behind the last one is long, where the pen is.
///
/// If no machine has the pen, the lowest member that takes part does it, so the machines don't all try at once; the lock
/// of ``BasePublisher`` keeps two from doing so in any case.
extension LiveNamespace {
    func makeBases(of replica: any Replica) async throws {
        while true {
            try Task.checkCancellation()
            let seen = news.count
            if await isBaseDue {
                let publisher = BasePublisher(store: store, keys: keys, member: identity)
                do {
                    if let made = try await onThread({ try publisher.publish(replica) }) {
                        manifest = made
                        bytesBehindBase = 0
                        baseTrouble = nil
                    }
                } catch let error as SpaceError {
                    baseTrouble = "no base can be made: \(error.reason)"
                } catch {
                    // Another publisher has the lock, or the store does not answer: the next look decides.
                }
                try await Task.sleep(for: settings.lookInterval)
            } else {
                await news.wait(after: seen)
            }
        }
    }

    private var isBaseDue: Bool {
        get async {
            let holder = await appender.penHolder
            guard holder == identity.number || (holder == nil && joined.keys.min() == identity.number) else {
                return false
            }
            return isLogLong
        }
    }

    /// Whether the log behind the last base is so long that a base is due.
    var isLogLong: Bool {
        let base = manifest?.position.entry ?? 0
        return applied > base
            && (applied - base >= UInt64(settings.baseEntries) || bytesBehindBase >= settings.baseBytes)
    }
}
