extension SpaceError {
    /// Whether the namespace or its disk had not enough room.
    package var isOfRoom: Bool { code == .limitReached || code == .storageFull }

    /// Whether a step was too large for the room or for one transaction; a smaller one may fit.
    package var isOfStepTooLarge: Bool { isOfRoom || code == .transactionTooLarge }

    /// Whether there was not enough space for the data, or for one value; a smaller amount may fit.
    package var isOfStorage: Bool { isOfStepTooLarge || code == .tooLarge }

    /// Whether the data itself is the cause, because it is too large or damaged; the operation may succeed with other
    /// data.
    package var isOfContent: Bool { isOfStorage || code == .damaged }

    /// Whether trying again may help.
    package var mayPass: Bool {
        switch code {
        case .holderStopped, .holderBusy, .storageFull, .limitReached, .readersExhausted, .descriptorsExhausted,
            .inputOutput, .clusterUnavailable, .outrun:
            true
        default: false
        }
    }

    /// Whether trying again may help; the caller must be able to bear that both attempts count.
    package var mayPassIfRepeated: Bool { mayPass || code == .outcomeUnknown }

    /// Whether the other machines are the cause, and nothing was changed: a wait goes on, because the machines may be
    /// reachable again at its next step.
    package var isOfOtherMembers: Bool { code == .clusterUnavailable || code == .outrun }
}
