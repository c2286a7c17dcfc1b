import { setTimeout } from 'node:timers/promises'
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
  /** Ends every connection to the database server, where there is one. */
  readonly cut: (() => Promise<void>) | undefined
}

type Fault = (parts: FaultParts) => Promise<void>

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** How far a clock leaps, forward or backward. */
const leapsMs = [minuteMs, 10 * minuteMs, 90 * minuteMs, dayMs, 40 * dayMs, 400 * dayMs, 1500 * dayMs]
/** Further from the true time it is set right again. */
const clockMsMax = 4000 * dayMs
const moods: readonly Mood[] = ['silent', 'failing', 'hanging up']
/** Out of so many faults that last, one is cut short by a kill. */
const killedWithin = 4

/** What can happen to a node's machine, by name. */
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
    const leapMs = leapsMs[Math.floor(random() * leapsMs.length)]! * (random() < 0.5 ? -1 : 1)
    const clockMs = Math.abs(node.state.clockMs + leapMs) > clockMsMax ? 0 : node.state.clockMs + leapMs
    trouble.note(`clock ${Math.round((clockMs - node.state.clockMs) / minuteMs)} min`)
    await node.change({ clockMs })
  },

  async 'slow disk'(parts) {
    const { node, trouble, random } = parts
    const commitMs = between(random, 50, 500)
    trouble.note(`commits of ${commitMs} ms`)
    await node.change({ commitMs })
    await last(parts)
    await node.change({ commitMs: 0 })
  },

  async 'full disk'(parts) {
    const { node, disk, trouble } = parts
    trouble.note('disk full')
    await trouble.excuse('writes', async () => {
      await disk!.fill(node)
      await last(parts, () => disk!.free(node))
      await disk!.free(node)
    })
    trouble.note('disk free')
  },

  async receivers(parts) {
    const { receivers, trouble, random } = parts
    const mood = moods[Math.floor(random() * moods.length)]!
    trouble.note(`receivers ${mood}`)
    receivers.setMood(mood)
    await last(parts)
    receivers.setMood('kind')
  },

  async 'cut connections'({ cut, trouble }) {
    trouble.note('connections to the database cut')
    await trouble.excuse('all', async () => {
      await cut!()
      await setTimeout(2000)
    })
  },
}

/** The faults that a node has where its data are. */
export function listFaults({ disk, cut }: FaultParts): string[] {
  return Object.keys(faults).filter((name) => {
    if (name === 'full disk') return disk !== undefined
    return name !== 'cut connections' || cut !== undefined
  })
}

/** For as long as a fault lasts; now and then it ends with a kill, before which `mend` may put right what hinders a start. */
async function last({ node, trouble, random }: FaultParts, mend?: () => Promise<void>): Promise<void> {
  await setTimeout(between(random, 500, 2500))
  if (random() > 1 / killedWithin) return
  trouble.note('killed meanwhile')
  await node.kill()
  await mend?.()
  await node.start()
}

function between(random: () => number, from: number, to: number): number {
  return Math.round(from + random() * (to - from))
}
