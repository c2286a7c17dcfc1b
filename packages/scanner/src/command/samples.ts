import { statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { limits } from '@skillstead/protocol'
import { isSkillMd, type Unreadable } from '@skillstead/skill-format/archives'
import type { ScanFile } from '../files/scan-file.ts'
import { readArchivedSamples } from './archived-samples.ts'
import type { FolderOptions } from './folder-options.ts'
import { readLimited, toReadProblem } from './read-limited.ts'
import { readSkills } from './read-skills.ts'
import { readRecords } from './sample-records.ts'

/** A skill, or some of its files, to scan. */
export interface Sample {
  /** Identifies the sample in reports: the path of its SKILL.md, or the name of its record. */
  readonly id: string
  /** SKILL.md first, if there is one. */
  readonly files: readonly ScanFile[]
  /** Where its files are. */
  readonly at: SamplePlace
}

/** A folder, with the name of its SKILL.md there; or the file, address or stream that contains all of the sample. */
type SamplePlace = { readonly folder: string; readonly skillFile: string } | { readonly container: string }

/** Options of {@link openSamples}. */
export interface SampleOptions extends FolderOptions {
  /** The content of the place `-`. */
  readonly stdin: Readable
}

/**
 * Reads the samples of a path: a folder of skills, an archive, records, one file, or standard input. Reads them one by
 * one, so that a large source needs no more memory than a small one. Throws if the source cannot be read.
 */
export async function* openSamples(place: string, options: SampleOptions): AsyncGenerator<Sample | Unreadable> {
  if (place === '-') return yield* readInput(options.stdin)
  const stats = statSync(place, { throwIfNoEntry: false })
  if (!stats) throw new Error(`${place} does not exist.`)
  if (stats.isDirectory()) return yield* readSkills(place, options)
  if (!stats.isFile()) throw new Error(`${place} is neither a file nor a folder.`)
  if (/\.(?:zip|skill|tgz|tar\.gz)$/i.test(place)) return yield* readArchivedSamples(place)
  if (/\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(place)) return yield* readRecords(place)
  yield await readOne(place)
}

async function readOne(file: string): Promise<Sample> {
  const name = basename(file)
  const isSkill = isSkillMd(name)
  const read = await readLimited(file, limits.fileBytesMax)
  if ('unread' in read) throw new Error(`${file}: ${read.unread}`)
  return {
    id: file,
    files: [{ path: isSkill ? 'SKILL.md' : name, bytes: read.bytes }],
    at: { folder: dirname(file), skillFile: isSkill ? name : 'SKILL.md' },
  }
}

async function* readInput(stdin: Readable): AsyncGenerator<Sample> {
  const bytes = await buffer(stdin.compose(limitBytes))
  yield { id: '-', files: [{ path: 'SKILL.md', bytes }], at: { container: 'stdin' } }
}

async function* limitBytes(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > limits.fileBytesMax) throw new Error(`Standard input: ${toReadProblem('large')}`)
    yield chunk
  }
}
