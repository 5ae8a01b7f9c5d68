import SpaceSystem
import TupleCoding

/// The moments that were reserved of a rate limit, as far as the next reservation depends on them.
///
/// Guarantees: in any interval lie no more of them than the limit. A reservation looks back from the last moment: where as
/// many as would be too many lie within an interval, it begins an interval after the earliest of those. Moments an interval
/// before the last one play no part any more.
///
/// In a row with few numbers there are few moments: of more, two neighbours become one, at the time of the later one. So a
/// limit of many in an interval that are spread over it may let some through later than it could, and never earlier.
package struct RateMoments: Equatable {
    /// The namespace's clock counts milliseconds; here are nanoseconds.
    package static let tick = 1_000_000
    package static let most = 24

    package struct Moment: Equatable {
        /// On the namespace's clock, in nanoseconds.
        package var time: Int
        package var count: Int

        package init(time: Int, count: Int) {
            self.time = time
            self.count = count
        }
    }

    package let limit: Int
    package let interval: Int
    /// In order of time.
    package private(set) var moments: [Moment]

    package init(limit: Int, interval: Int, moments: [Moment] = []) {
        (self.limit, self.interval, self.moments) = (limit, interval, moments)
    }

    /// The last of them; 0 if there is none.
    package var last: Int { moments.last?.time ?? 0 }

    /// Reserves the next.
    ///
    /// - Returns: How long until then, in nanoseconds.
    mutating func reserve(_ count: Int, now: Int) -> Int {
        var free = limit
        var start = Int.min
        for moment in moments.reversed() {
            free -= moment.count
            if free < count {
                start = moment.time + interval
                break
            }
        }
        // One that passes at once does so before the clock's next tick.
        let end = now + Self.tick
        // In order of coming, but not behind those that pass in this very tick.
        if last > end { start = max(start, last) }
        let time = start <= now ? max(end, last) : max(start, last)
        if moments.last?.time == time {
            moments[moments.count - 1].count += count
        } else {
            moments.append(Moment(time: time, count: count))
        }
        moments.removeAll { $0.time <= time - interval }
        shorten()
        return start <= now ? 0 : time - now
    }

    /// Makes one of the two neighbours that lie closest together, the last one apart.
    private mutating func shorten() {
        while moments.count > Self.most {
            let closest = (0..<moments.count - 2).min {
                moments[$0 + 1].time - moments[$0].time < moments[$1 + 1].time - moments[$1].time
            }
            guard let closest else { return }
            moments[closest + 1].count += moments[closest].count
            moments.remove(at: closest)
        }
    }

    // MARK: As a value

    /// `[limit, interval, now, time, count, time, count …]`.
    package func value(_ now: Int) -> Value {
        .array(
            [.int(limit), .int(interval), .int(now)] + moments.flatMap { [.int($0.time), .int($0.count)] }
        )
    }

    /// - Returns: `nil` for what can't be one.
    package init?(_ value: Value, _ now: Int) {
        guard case .array(let elements) = value else { return nil }
        var numbers: [Int] = []
        for case .int(let number) in elements { numbers.append(number) }
        let times = 0...RateLimit.latest
        guard numbers.count == elements.count, numbers.count >= 3, numbers.count % 2 == 1,
            numbers.count <= 3 + 2 * Self.most, numbers[0] > 0, numbers[1] > 0,
            .nanoseconds(numbers[1]) <= RateLimit.longestInterval, times.contains(numbers[2])
        else { return nil }
        (limit, interval, moments) = (numbers[0], numbers[1], [])
        // A real-time clock that was set back takes what was reserved along.
        let shift = max(0, numbers[2] - now)
        var left = limit
        var before = -1
        for index in stride(from: 3, to: numbers.count, by: 2) {
            let (time, count) = (numbers[index], numbers[index + 1])
            guard times.contains(time), time >= before, (1...left).contains(count) else { return nil }
            before = time
            left -= count
            moments.append(Moment(time: max(0, time - shift), count: count))
            if left == 0, index + 2 < numbers.count { return nil }
        }
    }
}
