import { orAborted } from '../deadline.ts'

/** Work that several callers wait for at once. */
interface Flight<T> {
  readonly done: Promise<T>
  readonly ending: AbortController
  waiting: number
}

/** Joins those who ask for the same at the same time. */
export interface Flights<T> {
  /** Starts the work, or waits for what another caller started. It is ended once all of its callers have gone. */
  join(key: string, signal: AbortSignal | undefined, start: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Lets nobody else join what is under way. */
  clear(): void
}

/** One request for many callers, each of whom may leave without the others. */
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
