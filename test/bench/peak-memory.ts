import { readFileSync, writeFileSync } from 'node:fs'

/** Begins the measurement of {@link readPeakMib} again, where the system can: on Linux. */
export function resetPeak(): void {
  // See proc(5): 5 sets the peak of resident memory to what is resident now.
  if (process.platform === 'linux') writeFileSync('/proc/self/clear_refs', '5')
}

/**
 * The most resident memory of this process. Not `maxRSS` on Linux: a process inherits that of its parent, so a small child
 * of a large parent reports the memory of the parent.
 */
export function readPeakMib(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1024
}
