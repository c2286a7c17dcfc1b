import { UsageError, flag, text, type Command } from '../command.ts'
import { findUrl, placeOptions, storeOptions, withApi, withRegistry } from '../place.ts'
import { keepKnownKeys, knownKeysFile } from '../verify/known-keys.ts'
import { readKeys } from '../verify/node.ts'

/** `skillstead key`: on standard output nothing but keys, so that a file of it can be given to `verify --key`. */
export const showKey: Command<{ keys: string[] }> = {
  summary:
    'Prints the public key of a node, by which its records and checkpoints are verified; two while one follows the other.',
  words: [],
  options: {
    pin: { help: 'with --url: trust it from now on, in place of the one that was pinned' },
    ...placeOptions,
  },
  async run(given, output) {
    const url = findUrl(given)
    if (flag(given, 'pin') && url === undefined) throw new UsageError('--pin is for the key of a node at --url URL.')
    const keys = await withApi(given, readKeys)
    if (flag(given, 'pin')) {
      const file = knownKeysFile(given.io.env)
      keepKnownKeys(file, url!, { keys, since: new Date().toISOString() })
      output.say(`Pinned in ${file}.`)
    }
    return { keys }
  },
  show: ({ keys }) => keys,
}

const dayMs = 24 * 60 * 60 * 1000
const overlapDaysMax = 3650

interface Rotated {
  readonly key: string
  /** The key before, and when it signs no more. */
  readonly before: string
  readonly retiresAt: string
  readonly overlapDays: number
}

/** `skillstead key rotate`. */
export const rotate: Command<Rotated> = {
  summary: 'Gives a node a new key. The one before signs beside it for a time, in which whoever trusts it moves over.',
  words: [],
  options: { overlap: { value: 'DAYS', help: 'for how long; 30 unless it is said' }, ...storeOptions },
  async run(given) {
    const overlapDays = toDays(text(given, 'overlap') ?? '30')
    const { rotateKey } = await import('@skillstead/core')
    const [current, before] = await withRegistry(given, (registry) =>
      rotateKey(registry, { overlapMs: overlapDays * dayMs }),
    )
    return { key: current!.vkey, before: before!.vkey, retiresAt: before!.retiresAt!, overlapDays }
  },
  show: ({ key, before, retiresAt, overlapDays }) => [
    `The new key is ${key}`,
    overlapDays === 0
      ? `The key before, ${before}, signs no more.`
      : `The key before, ${before}, signs beside it until ${retiresAt}.`,
    'Publish the new key where people know you from, and tell mirrors and everybody who pinned the one before to take',
    'it: skillstead key --url URL --pin. Records that were saved keep their signatures, so whoever keeps such records',
    'keeps the key before as well.',
  ],
}

function toDays(given: string): number {
  const days = Number(given)
  if (/^\d+$/.test(given) && days <= overlapDaysMax) return days
  throw new UsageError(`'${given}' is no number of days from 0 to ${overlapDaysMax}.`)
}
