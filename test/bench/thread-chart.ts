import { globSync, readFileSync } from 'node:fs'

const everyMs = 500
const ticksPerSecond = 100
const levels = ' ▁▂▃▄▅▆▇█'
const columnsMax = 80
/** Threads that are less busy are left out. */
const shareLeast = 0.02

/** Watches how busy the threads of a process are until the chart is asked for. Only Linux shows threads. */
export function watchThreads(pid: number): () => string {
  const threads = new Map<string, { name: string; ticks: number; shares: number[] }>()
  let samples = 0
  let tookMs = performance.now()
  const timer = setInterval(() => {
    const passedMs = performance.now() - tookMs
    tookMs += passedMs
    for (const file of globSync(`/proc/${pid}/task/*/stat`)) {
      const now = readThread(file)
      if (!now) continue
      const { ticks, shares } = threads.get(file) ?? { ticks: 0, shares: [] }
      shares[samples] = Math.min(1, ((now.ticks - ticks) * 1000) / ticksPerSecond / passedMs)
      threads.set(file, { ...now, shares })
    }
    samples += 1
  }, everyMs).unref()
  return () => {
    clearInterval(timer)
    const width = Math.ceil(samples / columnsMax)
    return [...threads.values()]
      .map(({ name, shares }) => ({ name, shares: Array.from({ length: samples }, (_, i) => shares[i] ?? 0) }))
      .filter(({ shares }) => mean(shares) >= shareLeast)
      .map(({ name, shares }) => {
        const columns = shares.flatMap((_, i) => (i % width === 0 ? mean(shares.slice(i, i + width)) : []))
        const line = columns.map((share) => levels[Math.ceil(share * (levels.length - 1))]).join('')
        return `${name.padEnd(16)} ${mean(shares).toFixed(2)} ${line}`
      })
      .join('\n')
  }
}

/** See proc(5): the name is in brackets and may hold anything; the times are the 14th and 15th field. */
function readThread(file: string): { name: string; ticks: number } | undefined {
  try {
    const stat = readFileSync(file, 'utf8')
    const end = stat.lastIndexOf(')')
    const fields = stat.slice(end + 2).split(' ')
    return { name: stat.slice(stat.indexOf('(') + 1, end), ticks: Number(fields[11]) + Number(fields[12]) }
  } catch {
    // The thread has ended.
    return undefined
  }
}

const mean = (shares: readonly number[]) => shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length)
