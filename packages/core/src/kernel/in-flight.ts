import { RegistryError } from '@skillstead/protocol'

/** Limits of concurrent calls and of bytes in memory, per caller and in total. */
export interface InFlightLimits {
  readonly callerCallsMax: number
  readonly callsMax: number
  readonly callerBytesMax: number
  readonly bytesMax: number
  /** The name of the limited resource for error messages, such as `answers`. */
  readonly of: string
}

/** Limits concurrent work. */
export interface InFlight {
  /** Starts a call. Throws `overloaded` if the caller, or all callers, have the maximum number of calls. */
  begin(caller: string): CallInFlight
}

export interface CallInFlight {
  /**
   * Counts bytes that this call keeps in memory until it ends. Throws `overloaded` if the bytes of the caller, or of
   * all callers, would exceed their limit.
   */
  hold(bytes: number): void
  /** Ends the call; ending it again does nothing. */
  end(): void
}

export function createInFlight(limits: InFlightLimits): InFlight {
  const { callerCallsMax, callsMax, callerBytesMax, bytesMax } = limits
  const callers = new Map<string, { calls: number; bytes: number }>()
  const all = { calls: 0, bytes: 0 }
  return {
    begin(caller) {
      const own = callers.get(caller) ?? { calls: 0, bytes: 0 }
      if (own.calls >= callerCallsMax || all.calls >= callsMax) throw toInFlightError('calls')
      callers.set(caller, own)
      own.calls += 1
      all.calls += 1
      let held = 0
      let isOver = false
      return {
        hold(bytes) {
          if (own.bytes + bytes > callerBytesMax || all.bytes + bytes > bytesMax)
            throw toInFlightError(`large ${limits.of}`)
          held += bytes
          own.bytes += bytes
          all.bytes += bytes
        },
        end() {
          if (isOver) return
          isOver = true
          all.calls -= 1
          all.bytes -= held
          own.calls -= 1
          own.bytes -= held
          if (own.calls === 0) callers.delete(caller)
        },
      }
    },
  }
}

function toInFlightError(of: string): RegistryError {
  return new RegistryError('overloaded', `Too many ${of} are in progress. Try again in a moment.`, {
    retryAfterSeconds: 1,
  })
}
