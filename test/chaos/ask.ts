import { setTimeout } from 'node:timers/promises'
import { RegistryError, toErrorText } from '@skillstead/protocol'
import type { Kind, Trouble } from './trouble.ts'

/** The result of a write: done, refused (nothing changed), or unanswered (it may have been done). */
export type Outcome<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'refused' | 'unanswered' }

/** Client options without retries and with a long timeout: a request ends with a response or when the node dies. */
export const patientOptions = { retries: 0, timeoutMs: 600_000 } as const

const retryMs = 25
const timeoutMs = 120_000

/** Calls a node under fault injection and reports the failures that no current fault explains. */
export function createAsk(trouble: Trouble) {
  /** Throws errors that reject the call itself, such as a validation error. */
  async function write<T>(what: string, call: () => Promise<T>): Promise<Outcome<T>> {
    const isExcused = trouble.excuses('writes')
    // The database may have committed on a connection that was cut before it could confirm the commit.
    const isCut = trouble.excuses('reads')
    try {
      return { kind: 'done', value: await call() }
    } catch (error) {
      if (isUnanswered(error)) return { kind: 'unanswered' }
      if (!isOverloaded(error)) throw error
      if (!isExcused()) trouble.report(`${what} returned 503 while no fault was active: ${toErrorText(error)}`)
      return { kind: isCut() ? 'unanswered' : 'refused' }
    }
  }

  /** Retries until the node responds. A node that cannot write because its disk is full must still serve reads. */
  async function read<T>(what: string, call: () => Promise<T>, kind: Kind = 'reads'): Promise<T> {
    for (const startMs = performance.now(); performance.now() - startMs < timeoutMs; await setTimeout(retryMs)) {
      const isExcused = trouble.excuses(kind)
      try {
        return await call()
      } catch (error) {
        if (isOverloaded(error)) {
          if (!isExcused())
            trouble.report(
              `${what} returned 503, although it only reads and no fault excuses that: ${toErrorText(error)}`,
            )
        } else if (!isUnanswered(error) || trouble.isOver) throw error
      }
    }
    throw new Error(`${what} had no response for ${timeoutMs / 1000} s.`)
  }

  /** Like `read`, but returns undefined for a 404. */
  function find<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
    return read(what, async () => {
      try {
        return await call()
      } catch (error) {
        if (error instanceof RegistryError && error.code === 'not_found') return undefined
        throw error
      }
    })
  }
  return { write, read, find }
}

export type Ask = ReturnType<typeof createAsk>

function isUnanswered(error: unknown): boolean {
  return error instanceof RegistryError && (error.code === 'upstream_failed' || error.code === 'upstream_timeout')
}

function isOverloaded(error: unknown): boolean {
  return error instanceof RegistryError && error.code === 'overloaded'
}
