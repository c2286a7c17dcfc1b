import { readFileSync } from 'node:fs'

/** What a test file spends its time on; the rest is imports, calls and assertions. */
export type Phase = 'place' | 'open' | 'listen' | 'process' | 'browser'

/** Seconds by phase of the current test file, on the clock. */
const phases: Partial<Record<Phase, number>> = {}

/** Runs `work` and adds the time that it takes to a phase of the profile (`pnpm test:profile`). */
export async function timed<T>(phase: Phase, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now()
  try {
    return await work()
  } finally {
    phases[phase] = (phases[phase] ?? 0) + (performance.now() - startedMs) / 1000
  }
}

/** The phases since the last call. */
export function takePhases(): Partial<Record<Phase, number>> {
  const taken = { ...phases }
  for (const phase of Object.keys(phases) as Phase[]) delete phases[phase]
  return taken
}

/**
 * Processor seconds of this process, and of its children that have ended; proc_pid_stat(5), fields 14 to 17. Children
 * count as 0 where there is no /proc.
 */
export function readProcessorSeconds(): { own: number; children: number } {
  const { user, system } = process.cpuUsage()
  return { own: (user + system) / 1e6, children: readChildren() }
}

const ticksPerSecond = 100

function readChildren(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
  } catch {
    return 0
  }
}
