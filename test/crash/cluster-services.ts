import { setTimeout } from 'node:timers/promises'
import { openS3Server, s3Faults } from '../support/s3-server.ts'
import type { TestPostgres } from '../support/postgres.ts'
import type { NodeOptions } from './cluster-child.ts'

const prefix = 'cluster'
const patienceMs = 60_000
const pollMs = 50

/** A replica of the database and a bucket, which nodes use and must do without. */
export interface Services {
  readonly options: Pick<NodeOptions, 'databaseReadUrl' | 'blobs'>
  /** Digests of the files whose objects the bucket lost. */
  readonly lost: ReadonlySet<string>
  /**
   * Begins the faults of a kill, which replace those of the kill before: the replica is late, current or, after most kills,
   * gone; the bucket is slow, loses an object, fails, or closes connections.
   */
  fail(kill: number, kills: number): Promise<void>
  /** Ends the faults of the bucket. */
  heal(): void
}

/** Starts the services of a database. The server of `postgres` ends the replica. */
export async function startServices(postgres: TestPostgres, databaseUrl: string): Promise<Services> {
  const replica = await postgres.startReplica()
  const s3 = await openS3Server()
  const lost = new Set<string>()

  async function loseObject(): Promise<void> {
    const endMs = performance.now() + patienceMs
    for (; performance.now() < endMs; await setTimeout(pollMs)) {
      const key = (await s3.listKeys(prefix)).find((one) => one !== 'registry' && !lost.has(toDigest(one)))
      if (key === undefined) continue
      lost.add(toDigest(key))
      return s3.removeObject(`${prefix}/${key}`)
    }
    throw new Error('No file was moved to the bucket.')
  }

  const bucketFaults: readonly (() => unknown)[] = [
    () => s3.setFault(s3Faults.slow),
    loseObject,
    () => s3.setFault(s3Faults.failing),
    () => s3.setFault(s3Faults.closed),
  ]
  return {
    options: {
      databaseReadUrl: replica.url + new URL(databaseUrl).pathname.slice(1),
      blobs: s3.toOptions(prefix),
    },
    lost,
    async fail(kill, kills) {
      s3.setFault(undefined)
      await bucketFaults[(kill - 1) % bucketFaults.length]!()
      if (kill > kills / 2) await replica.stop()
      else await replica.query(kill % 2 === 1 ? 'select pg_wal_replay_pause()' : 'select pg_wal_replay_resume()')
    },
    heal: () => s3.setFault(undefined),
  }
}

const toDigest = (key: string) => `sha256:${key}`
