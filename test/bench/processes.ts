import { readFile, readdir } from 'node:fs/promises'

const ticksPerSecond = 100

/** Seconds of the processor that were used. */
export interface Cpu {
  readonly nodes: number
  readonly postgres: number
  readonly load: number
}

/** Of what this process began; programs that ended, which are the load's, are counted with it. */
export async function readCpu(): Promise<Cpu> {
  const all = await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(readProcess))
  const processes = all.filter((one) => one !== undefined)
  const children = Map.groupBy(processes, ({ parent }) => parent)
  const below = (pid: number): typeof processes =>
    (children.get(pid) ?? []).flatMap((child) => [child, ...below(child.pid)])
  const ours = below(process.pid)
  const sum = (isOne: (name: string) => boolean) =>
    ours.filter(({ name }) => isOne(name)).reduce((seconds, { own }) => seconds + own, 0)
  return {
    nodes: sum((name) => !name.startsWith('postgres')),
    postgres: sum((name) => name.startsWith('postgres')),
    load: processes.find(({ pid }) => pid === process.pid)?.ended ?? 0,
  }
}

/** See proc(5): the name is in brackets and may hold anything; parent, times and those of ended children follow. */
async function readProcess(pid: string) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  if (stat === undefined) return undefined
  const end = stat.lastIndexOf(')')
  const fields = stat.slice(end + 2).split(' ')
  const seconds = (first: number) => (Number(fields[first]) + Number(fields[first + 1])) / ticksPerSecond
  return {
    pid: Number(pid),
    name: stat.slice(stat.indexOf('(') + 1, end),
    parent: Number(fields[1]),
    own: seconds(11),
    ended: seconds(13),
  }
}
