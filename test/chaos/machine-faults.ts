import { setTimeout } from 'node:timers/promises'
import { s3Faults, type S3Fault } from '../support/s3-server.ts'
import type { Disk } from './disk.ts'
import type { NodeProcess } from './node-process.ts'
import type { Mood, Receivers } from './receivers.ts'
import type { Trouble } from './trouble.ts'

export interface FaultParts {
  readonly node: NodeProcess
  readonly disk: Disk | undefined
  readonly receivers: Receivers
  readonly trouble: Trouble
  readonly random: () => number
  /** Ends every connection to the database server. Undefined with SQLite. */
  readonly cut: (() => Promise<void>) | undefined
  readonly setBucketFault: (fault: S3Fault | undefined) => void
}

type Fault = (parts: FaultParts) => Promise<void>

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** The sizes of clock jumps, forward or backward. */
const jumpsMs = [minuteMs, 10 * minuteMs, 90 * minuteMs, dayMs, 40 * dayMs, 400 * dayMs, 1500 * dayMs]
/** A clock that would be further off than this is reset to the true time. */
const clockMsMax = 4000 * dayMs
const moods: readonly Mood[] = ['silent', 'failing', 'hanging up']
/** One of this many lasting faults is interrupted by a kill. */
const killedWithin = 4
const threadKillsMax = 5

/** The faults that a machine can have, by name. */
export const faults: Readonly<Record<string, Fault>> = {
  async kill({ node, trouble, random }) {
    trouble.note('kill')
    await node.kill()
    await setTimeout(random() * 300)
    await node.start()
  },

  async stop({ node, trouble, random }) {
    const ms = between(random, 500, 4000)
    trouble.note(`stopped for ${ms} ms`)
    node.signal('SIGSTOP')
    await setTimeout(ms)
    node.signal('SIGCONT')
  },

  async clock({ node, trouble, random }) {
    const jumpMs = jumpsMs[Math.floor(random() * jumpsMs.length)]! * (random() < 0.5 ? -1 : 1)
    const clockMs = Math.abs(node.state.clockMs + jumpMs) > clockMsMax ? 0 : node.state.clockMs + jumpMs
    trouble.note(`clock ${Math.round((clockMs - node.state.clockMs) / minuteMs)} min`)
    await node.change({ clockMs })
  },

  async 'slow disk'(parts) {
    const { node, trouble, random } = parts
    const commitMs = between(random, 50, 500)
    trouble.note(`commits of ${commitMs} ms`)
    await node.change({ commitMs })
    await waitWhileFaulty(parts)
    await node.change({ commitMs: 0 })
  },

  async 'full disk'(parts) {
    const { node, disk, trouble } = parts
    trouble.note('disk full')
    await trouble.excuse('writes', async () => {
      await disk!.fill(node)
      await waitWhileFaulty(parts, () => disk!.free(node))
      await disk!.free(node)
    })
    trouble.note('disk free')
  },

  async receivers(parts) {
    const { receivers, trouble, random } = parts
    const mood = moods[Math.floor(random() * moods.length)]!
    trouble.note(`receivers ${mood}`)
    receivers.setMood(mood)
    await waitWhileFaulty(parts)
    receivers.setMood('kind')
  },

  async bucket(parts) {
    const { setBucketFault, trouble, random } = parts
    const names = Object.keys(s3Faults) as (keyof typeof s3Faults)[]
    const name = names[Math.floor(random() * names.length)]!
    trouble.note(`bucket ${name}`)
    await trouble.excuse('files', async () => {
      setBucketFault(s3Faults[name])
      await waitWhileFaulty(parts)
      setBucketFault(undefined)
    })
  },

  async 'scan threads'(parts) {
    const { node, trouble, random } = parts
    const threadKills = between(random, 1, threadKillsMax)
    trouble.note(`${threadKills} scan threads ended`)
    await node.change({ threadKills })
    await waitWhileFaulty(parts)
    await node.change({ threadKills: 0 })
  },

  async 'cut connections'({ cut, trouble }) {
    trouble.note('connections to the database cut')
    await trouble.excuse('all', async () => {
      await cut!()
      await setTimeout(2000)
    })
  },
}

/** Lists the faults that are possible with the storage of this node. */
export function listFaults({ disk, cut }: FaultParts): string[] {
  return Object.keys(faults).filter((name) => {
    if (name === 'full disk') return disk !== undefined
    return name !== 'cut connections' || cut !== undefined
  })
}

/** Waits while a fault lasts. One of four faults includes a kill; `repair` then makes the restart possible. */
async function waitWhileFaulty({ node, trouble, random }: FaultParts, repair?: () => Promise<void>): Promise<void> {
  await setTimeout(between(random, 500, 2500))
  if (random() > 1 / killedWithin) return
  trouble.note('killed during the fault')
  await node.kill()
  await repair?.()
  await node.start()
}

function between(random: () => number, from: number, to: number): number {
  return Math.round(from + random() * (to - from))
}
