import { setTimeout } from 'node:timers/promises'
import { RegistryError } from '@skillstead/protocol'
import type { Trouble } from './trouble.ts'

/** What became of a call that changes something: done, refused (nothing changed), or nobody knows. */
export type Outcome<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'refused' | 'unanswered' }

/** No try is given up while the node may still do what it was asked: it ends with an answer, or with the node. */
export const patient = { retries: 0, timeoutMs: 600_000 } as const

const againMs = 25
const patienceMs = 120_000

/** Calls a node that is killed, stopped and refused its disk, and tells apart what may happen then and what may not. */
export function createAsk(trouble: Trouble) {
  /** Throws what the node has against the call itself. */
  async function write<T>(what: string, call: () => Promise<T>): Promise<Outcome<T>> {
    const isExcused = trouble.excuses('writes')
    // A commit may have been done on a connection that did not live to say so.
    const isCut = trouble.excuses('reads')
    try {
      return { kind: 'done', value: await call() }
    } catch (error) {
      if (isSilence(error)) return { kind: 'unanswered' }
      if (!isOverloaded(error)) throw error
      if (!isExcused()) trouble.tell(`${what} was answered 503, and nothing was wrong`)
      return { kind: isCut() ? 'unanswered' : 'refused' }
    }
  }

  /** Asks until the node answers; one that has no room for writes must read all the same. */
  async function read<T>(what: string, call: () => Promise<T>): Promise<T> {
    for (const startMs = performance.now(); performance.now() - startMs < patienceMs; await setTimeout(againMs)) {
      const isExcused = trouble.excuses('reads')
      try {
        return await call()
      } catch (error) {
        if (isOverloaded(error)) {
          if (!isExcused()) trouble.tell(`${what} was answered 503, and it only reads`)
        } else if (!isSilence(error) || trouble.isOver) throw error
      }
    }
    throw new Error(`${what} has had no answer for ${patienceMs / 1000} s.`)
  }

  /** As `read`; undefined where there is no such thing. */
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

function isSilence(error: unknown): boolean {
  return error instanceof RegistryError && (error.code === 'upstream_failed' || error.code === 'upstream_timeout')
}

function isOverloaded(error: unknown): boolean {
  return error instanceof RegistryError && error.code === 'overloaded'
}
