import { partsOf } from '@skillstead/core/internal'
import { collectGarbage, compact, readUse, type FileUse, type Garbage } from '@skillstead/maintenance'
import { command, flag } from '../../command/command.ts'
import { storeOptions, withRegistry } from '../../registry/place.ts'
import { toSize } from '../../terminal/output.ts'

export const commands = {
  gc: command({
    description: 'Delete unreferenced data. A node may serve the registry meanwhile.',
    options: {
      'dry-run': { help: 'show what would be deleted, and delete nothing' },
      vacuum: { help: 'afterwards shrink the database file, which blocks writes' },
      ...storeOptions,
    },
    run(given, output) {
      const dryRun = flag(given, 'dry-run')
      const compacted = flag(given, 'vacuum') && !dryRun
      return withRegistry(given, async (registry) => {
        const parts = partsOf(registry)
        const garbage = await collectGarbage(parts, { dryRun, objects: true, report: output.say })
        const file = compacted ? await compact(parts) : await readUse(parts)
        return { dryRun, garbage, file: file ?? null, compacted }
      })
    },
    show: ({ dryRun, garbage, file, compacted }) => [
      ...garbage.filter(({ count }) => count > 0).map((one) => toGarbageLine(one, dryRun)),
      ...(garbage.every(({ count }) => count === 0) ? ['There is no unreferenced data.'] : []),
      toUseLine(file, compacted),
    ],
  }),
}

const kinds: Readonly<Record<Garbage['name'], string>> = {
  blobs: 'contents without a version',
  objects: 'objects of the bucket without a row',
  sessions: 'expired sessions',
  answers: 'expired idempotent responses',
  shares: 'expired share links',
  backups: 'interrupted backups',
}

function toGarbageLine({ name, count, bytes }: Garbage, dryRun: boolean): string {
  const size = bytes > 0 ? `, ${toSize(bytes)}` : ''
  return `${dryRun ? 'would remove' : 'removed'} ${count} ${kinds[name]}${size}`
}

function toUseLine(file: FileUse | null, compacted: boolean): string {
  if (file === null) return 'PostgreSQL reuses free space by itself (autovacuum).'
  const use = `The file takes ${toSize(file.bytes)}, of which ${toSize(file.freeBytes)} are free for new content`
  const worth = !compacted && file.freeBytes > file.bytes / 4
  return worth ? `${use}. Run gc --vacuum to shrink it.` : `${use}.`
}
