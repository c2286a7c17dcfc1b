import { collectGarbage, compact, readUse, type FileUse, type Garbage } from '@skillstead/core'
import { flag, type Command } from '../command.ts'
import { toSize } from '../mirror/bundle-lines.ts'
import { storeOptions, withRegistry } from '../place.ts'

interface Collected {
  readonly dryRun: boolean
  readonly garbage: readonly Garbage[]
  /** How much of the SQLite file is used; null for PostgreSQL. */
  readonly file: FileUse | null
  readonly compacted: boolean
}

/** `skillstead gc`: also while a node serves the registry. */
export const gc: Command<Collected> = {
  summary: 'Removes what nothing refers to any more; a node may go on serving the registry meanwhile.',
  words: [],
  options: {
    'dry-run': { help: 'says what would be removed, and removes nothing' },
    vacuum: { help: 'then gives what is free in the file back to the disk; nothing can be written meanwhile' },
    ...storeOptions,
  },
  run(given, output) {
    const dryRun = flag(given, 'dry-run')
    const compacted = flag(given, 'vacuum') && !dryRun
    return withRegistry(given, async (registry) => {
      const garbage = await collectGarbage(registry, { dryRun, report: output.say })
      const file = compacted ? await compact(registry) : await readUse(registry)
      return { dryRun, garbage, file: file ?? null, compacted }
    })
  },
  show: ({ dryRun, garbage, file, compacted }) => [
    ...garbage.filter(({ count }) => count > 0).map((one) => toLine(one, dryRun)),
    ...(garbage.every(({ count }) => count === 0) ? ['There is nothing that nothing refers to.'] : []),
    toUseLine(file, compacted),
  ],
}

const kinds: Readonly<Record<Garbage['name'], string>> = {
  blobs: 'contents that no version has',
  sessions: 'sessions that are over',
  answers: 'answers kept for requests that nobody repeats',
  shares: 'links that have ended',
  backups: 'backups that were interrupted',
}

function toLine({ name, count, bytes }: Garbage, dryRun: boolean): string {
  const size = bytes > 0 ? `, ${toSize(bytes)}` : ''
  return `${dryRun ? 'would remove' : 'removed'} ${count} ${kinds[name]}${size}`
}

function toUseLine(file: FileUse | null, compacted: boolean): string {
  if (file === null) return 'PostgreSQL reuses what is free by itself (autovacuum).'
  const use = `The file has ${toSize(file.bytes)}, ${toSize(file.freeBytes)} of it free for new content`
  const worth = !compacted && file.freeBytes > file.bytes / 4
  return worth ? `${use}; gc --vacuum gives that back to the disk.` : `${use}.`
}
