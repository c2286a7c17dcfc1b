import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Recalled } from '@skillstead/protocol'
import { flag, type Arguments, type Options } from '../command/command.ts'
import { writeWhole } from '../files/write-whole.ts'
import type { Asked } from './offer.ts'
import { readRecalled, endWithRecall } from './recall-text.ts'

/** Option to install a recalled version that is named exactly. */
export const recalledOption: Options = {
  'allow-recalled': { help: 'install a recalled version in spite of its recall; name it exactly, as owner/name@1.2.3' },
}

/** A version of a skill of a registry, as in a lock. */
interface LockedVersion {
  readonly source: string
  readonly fullName: string
  readonly version: string
  readonly digest: string
}

/**
 * The recalls that registries reported last, for all projects of the user: `list` and installs from the cache know them
 * without a request.
 */
export interface KnownRecalls {
  find(version: LockedVersion): Recalled | undefined
  /** Notes what a registry reported: a recall of each version, or none. */
  note(reported: readonly (LockedVersion & { readonly recalled: Recalled | undefined })[]): void
}

/** The maximum size of a file of recalls, which another program may have written; a larger file counts as empty. */
const fileBytesMax = 16 * 1024 * 1024

/** The maximum number of recalls of one registry; the oldest recalls are dropped. */
const recallsMax = 3000

/**
 * Opens the known recalls in the cache folder. Each registry has its own file, so that no registry can displace the
 * recalls of another registry. A damaged file counts as empty; a file that cannot be written stays as it is.
 */
export function openRecalls(folder: string): KnownRecalls {
  const files = join(folder, 'recalls')
  const toFile = (source: string) => join(files, `${createHash('sha256').update(source).digest('hex')}.json`)
  const known = new Map<string, Map<string, Recalled>>()
  const readKnown = (source: string) => {
    const recalls = known.get(source) ?? readFile(toFile(source))
    known.set(source, recalls)
    return recalls
  }
  return {
    find: (version) => readKnown(version.source).get(toKey(version)),
    note(reported) {
      for (const [source, some] of Map.groupBy(reported, (one) => one.source)) {
        const before = readKnown(source)
        const changed = some.filter((one) => JSON.stringify(before.get(toKey(one))) !== JSON.stringify(one.recalled))
        if (changed.length === 0) continue
        // Read the file again, because another command may have written it meanwhile.
        const recalls = new Map([...before, ...readFile(toFile(source))])
        for (const one of changed) {
          recalls.delete(toKey(one))
          if (one.recalled) recalls.set(toKey(one), one.recalled)
        }
        known.set(source, recalls)
        try {
          mkdirSync(files, { recursive: true, mode: 0o700 })
          const newest = [...recalls].slice(-recallsMax)
          writeWhole(toFile(source), JSON.stringify(Object.fromEntries(newest)), 0o600)
        } catch {
          // In a read-only cache the next command asks again.
        }
      }
    },
  }
}

function toKey({ fullName, version, digest }: LockedVersion): string {
  return `${fullName}@${version} ${digest}`
}

function readFile(file: string): Map<string, Recalled> {
  try {
    if (!existsSync(file) || statSync(file).size > fileBytesMax) return new Map()
    const stored: Record<string, unknown> = JSON.parse(readFileSync(file, 'utf8'))
    return new Map(
      Object.entries(stored).flatMap(([key, value]) => {
        const recalled = readRecalled(value)
        return recalled ? [[key, recalled] as const] : []
      }),
    )
  } catch {
    return new Map()
  }
}

/** Throws for a recalled version, unless the command names it exactly and has --allow-recalled. */
export function refuseRecalledInstall(
  given: Arguments,
  version: Pick<LockedVersion, 'fullName' | 'version'>,
  recalled: Recalled | undefined,
  asked: Asked | undefined,
): void {
  if (!recalled || (flag(given, 'allow-recalled') && asked?.isNamed && asked.version === version.version)) return
  throw new Error(toRefusal(version, recalled, 'Nothing was changed.'))
}

/** The message about a recalled version that is not installed: the recall, `outcome`, and what to do. */
export function toRefusal(
  { fullName, version }: Pick<LockedVersion, 'fullName' | 'version'>,
  recalled: Recalled,
  outcome: string,
): string {
  const name = `${fullName}@${version}`
  return (
    `${name} was ${endWithRecall(recalled)} ${outcome} Install another version, or name this one: ` +
    `\`skillstead install ${name} --allow-recalled\`.`
  )
}
