import { partsOf, toRoot } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { bytesOf } from './answers.ts'
import type { TestRegistry } from './harness.ts'
import { applyEntries } from '../../packages/mirror/src/applying/apply-entries.ts'
import { findMissingBlobs } from '../../packages/mirror/src/log/fetch-blobs.ts'
import { readEntryFiles } from '../../packages/mirror/src/applying/entry-files.ts'
import { stageEntries, toStagedEntry } from '../../packages/mirror/src/store/upstream-log.ts'
import type { ApplyEntries, MirrorOutcome } from '../../packages/mirror/src/applying/mirrored-types.ts'
import type { FeedEntry } from '@skillstead/mirror'
import { withUpstreams } from '../../packages/mirror/src/tables/mirror-tables.ts'

/** What became of the entries of a test's pull, by their subjects in the order of the log. */
export type Pulled = readonly (readonly [subject: string, outcome: MirrorOutcome])[]

/** Adds the row of an upstream, as `mirror add` does. */
export async function addUpstream({ registry }: TestRegistry, name: string): Promise<void> {
  await partsOf(registry).database.writer.write(async (trx) => {
    await withUpstreams(trx)
      .insertInto('upstreams')
      .values({
        name,
        kind: 'node',
        location: 'http://upstream.example',
        settings: '{}',
        credential: null,
        account: null,
        log_origin: null,
        log_epoch: null,
        keys: '[]',
        staged: 0,
        frontier: Buffer.alloc(0),
        verified: 0,
        checkpoint: null,
        checkpoint_at: null,
        applied: 0,
        cursor: 'null',
        lease: null,
        lease_until: 0,
        tried_at: null,
        synced_at: null,
        report: 'null',
        alarm: null,
        created_at: partsOf(registry).clock.now(),
      })
      .execute()
  })
}

type Options = Pick<ApplyEntries, 'accepts' | 'acceptsScan'> & {
  /** Changes the entries on their way, as an upstream that lies could have written them in the first place. */
  readonly edit?: (entry: FeedEntry) => FeedEntry
  /** Bytes that are sent instead. */
  readonly contents?: ReadonlyMap<string, Uint8Array>
}

/** Follows the log of a node that is open in the same process: all that is new, in one go. */
export async function pull(
  mirror: TestRegistry,
  name: string,
  upstream: RegistryApi,
  { edit = (entry) => entry, contents: given, ...rules }: Options = {},
): Promise<Pulled> {
  const { database } = partsOf(mirror.registry)
  const { applied } = await withUpstreams(database.read)
    .selectFrom('upstreams')
    .select('applied')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  const page = await upstream.getFeed({ since: applied, limit: 1000 })
  const entries: FeedEntry[] = page.entries.map(edit)
  await database.writer.write(async (trx) => {
    const { size, frontier } = await stageEntries(trx, name, entries.map(toStagedEntry))
    const { origin, epoch, checkpoint } = page
    const isTrue = toRoot(frontier).toString('base64') === checkpoint!.split('\n')[2]
    const known = { verified: size, log_origin: origin, log_epoch: epoch, checkpoint: isTrue ? checkpoint : null }
    await withUpstreams(trx).updateTable('upstreams').set(known).where('name', '=', name).execute()
  })
  const contents = given ?? (await fetchContents(mirror, upstream, entries))
  const outcomes = await applyEntries(partsOf(mirror.registry), {
    upstream: {
      name,
      origin: page.origin,
      epoch: page.epoch,
    },
    entries,
    contents,
    ...rules,
    async also(trx, { seq }) {
      const { numUpdatedRows } = await withUpstreams(trx)
        .updateTable('upstreams')
        .set({ applied: seq })
        .where('name', '=', name)
        .where('applied', '=', seq - 1)
        .executeTakeFirst()
      if (numUpdatedRows !== 1n) throw new Error('Another run is applying the same entries.')
    },
  })
  return outcomes.map((outcome, i) => [`${entries[i]!.type} ${entries[i]!.subject}`, outcome] as const)
}

/** As many of the bytes that entries need as the upstream serves. */
async function fetchContents(mirror: TestRegistry, upstream: RegistryApi, entries: readonly FeedEntry[]) {
  const contents = new Map<string, Uint8Array>()
  const fetchAll = async (digests: readonly string[]) => {
    for (const digest of await findMissingBlobs(partsOf(mirror.registry), digests)) {
      const blob = await upstream.getBlob({ digest }).catch(() => undefined)
      if (blob) contents.set(digest, await bytesOf(blob))
    }
  }
  const read = () => entries.map((entry) => readEntryFiles(entry, contents))
  await fetchAll(read().flatMap((files) => ('list' in files ? [files.list] : [])))
  await fetchAll(read().flatMap((files) => ('files' in files ? files.files.map(({ digest }) => digest) : [])))
  return contents
}

/** Outcomes in short, such as `version alice/tea@1.0.0: applied`. */
export function inShort(pulled: Pulled): string[] {
  return pulled.map(([subject, outcome]) => `${subject}: ${'reason' in outcome ? outcome.reason : outcome.result}`)
}
