import { loadavg } from 'node:os'
import { startBare } from './children.ts'
import { load, requireWrk, rotate } from './load.ts'

/** How fast the machine is at a time: figures of a machine that others use mislead. */
export interface MachineSpeed {
  /** Requests a second of a bare `node:http` server with bodies of 2 kB at 32 connections. */
  readonly barePerSecond: number
  /** The load average of the last minute. */
  readonly load: number
}

/** Below this share of the best machine that figures were written on, none are written. */
const shareLeast = 0.5
const path = '/bare'
const bytes = 2000

/** Measures for two seconds. */
export async function measureMachine(): Promise<MachineSpeed> {
  requireWrk()
  // The measurement itself raises it.
  const [average] = loadavg()
  const bare = await startBare({ sizes: { [path]: bytes } })
  try {
    const script = rotate([path])
    await load(bare.url, script, { seconds: 1 })
    const { perSecond } = await load(bare.url, script, { seconds: 2 })
    return { barePerSecond: Math.round(perSecond), load: Number(average!.toFixed(2)) }
  } finally {
    await bare.stop()
  }
}

/** Why no figures may be written at this speed; undefined if they may. */
export function findRefusal(
  { barePerSecond, load: average }: MachineSpeed,
  best: number | undefined,
): string | undefined {
  if (best === undefined || barePerSecond >= best * shareLeast) return undefined
  const percent = Math.round((barePerSecond / best) * 100)
  return (
    `A bare node:http server answers ${barePerSecond} requests/s here, ${percent} % of the best that figures were written ` +
    `with (${best}); the load average is ${average}. Nothing is written below ${shareLeast * 100} %. Run it on an idle machine.`
  )
}
