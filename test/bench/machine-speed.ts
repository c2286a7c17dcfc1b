import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBare } from './children.ts'
import { load, requireWrk, rotate } from './load.ts'

/** The share of the processor that other programs may use while figures are measured, and how much its speed may change. */
export const othersMost = 0.1
export const changeMost = 0.3
const watchMs = 2_000
const path = '/bare'
const bytes = 2000

/** Requests a second of a bare `node:http` server with bodies of 2 kB at 32 connections. Measures for two seconds. */
export async function measureBare(): Promise<number> {
  requireWrk()
  const bare = await startBare({ sizes: { [path]: bytes } })
  try {
    const script = rotate([path])
    await load(bare.url, script, { seconds: 1 })
    return Math.round((await load(bare.url, script, { seconds: 2 })).perSecond)
  } finally {
    await bare.stop()
  }
}

/** The share of the processor that all programs use while this one waits, from 0 to 1. */
export async function measureOthers(): Promise<number> {
  const before = readTimes()
  await sleep(watchMs)
  const after = readTimes()
  return 1 - (after.idle - before.idle) / (after.all - before.all)
}

/** Why no figures may be measured next to other programs that use this share of the processor; undefined if they may. */
export function findOthers(share: number): string | undefined {
  if (share <= othersMost) return undefined
  return (
    `Other programs use ${Math.round(share * 100)} % of the processor. ` +
    `No figures are written above ${othersMost * 100} %. Run it on an idle machine.`
  )
}

/** Why figures may not be written, from the bare server's speed before and after them; undefined if they may. */
export function findChange(before: number, after: number): string | undefined {
  if (Math.min(before, after) >= Math.max(before, after) * (1 - changeMost)) return undefined
  return (
    `A bare node:http server answered ${before} requests/s before and ${after} after: other programs used the machine. ` +
    'These figures are not written. Run this part again on an idle machine.'
  )
}

function readTimes(): { idle: number; all: number } {
  const times = cpus().map((cpu) => cpu.times)
  return {
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, one) => sum + one.user + one.nice + one.sys + one.idle + one.irq, 0),
  }
}
