package import SpaceSystem

/// The namespace as the event loop sees it.
extension NamespaceCore: ListeningNamespace {
    /// Whether this process needs ticks: for owner objects, for deferred releases, for a feature, or for tasks that no
    /// process can wake.
    package var needsTicks: Bool {
        guard !isLeft else { return false }
        if !owners.isEmpty { return true }
        guard isUsable else { return false }
        return !deferred.isEmpty || parts.all.contains(where: \.needsTicks)
            || attendance.isWaitedIn && TaskWakeups.isDeaf(in: root)
    }

    package func tick(
        isUsed: Bool,
        follow: (ProcessIdentity) -> ProcessExits.Finding
    ) -> TickerRole {
        upkeep.tick(isUsed: isUsed, follow: follow)
    }

    package func forgetTicker() { upkeep.forgetTicker() }
    package var restInterval: Duration { upkeep.restInterval }
    package var hasTaskWakeups: Bool { TaskWakeups.isUsed(in: root) }
    package var hasNewTicker: Bool { upkeep.hasNewTicker }

    package func hear() { for part in parts.all { part.hear(self) } }
    package func tickParts() { for part in parts.all { part.tick(self) } }

    package func processesThatClaim() -> Set<ProcessIdentity> { claimants.processes() }
    package func returnClaimsOfTheDead(patience: Duration) { endedHolders.returnClaimsOfTheDead(timeout: patience) }
}
