import { orAborted } from '../deadline.ts'

/** Work in progress that one or more callers await. */
interface Flight<T> {
  readonly done: Promise<T>
  readonly ending: AbortController
  waiting: number
}

/** Shares work between concurrent callers with the same key. */
export interface Flights<T> {
  /**
   * Starts the work, or awaits the work that another caller started with this key. `signal` ends only the wait of this
   * caller; the work is aborted when no caller awaits it any more.
   */
  join(key: string, signal: AbortSignal | undefined, start: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Lets later callers start their own work instead of joining work in progress. */
  clear(): void
}

/** Creates {@link Flights}: concurrent callers with the same key share one request. */
export function createFlights<T>(): Flights<T> {
  const flights = new Map<string, Flight<T>>()

  function open(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const ending = new AbortController()
    const flight: Flight<T> = { done: start(ending.signal), ending, waiting: 0 }
    const close = () => {
      if (flights.get(key) === flight) flights.delete(key)
    }
    flight.done.then(close, close)
    ending.signal.addEventListener('abort', close)
    flights.set(key, flight)
    return flight
  }

  return {
    async join(key, signal, start) {
      signal?.throwIfAborted()
      const flight = flights.get(key) ?? open(key, start)
      flight.waiting += 1
      try {
        return await (signal ? orAborted(flight.done, signal) : flight.done)
      } finally {
        flight.waiting -= 1
        if (flight.waiting === 0) flight.ending.abort()
      }
    },
    clear: () => flights.clear(),
  }
}
