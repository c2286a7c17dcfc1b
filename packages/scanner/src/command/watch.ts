import { readErrorCode } from '@skillstead/protocol'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isUnreadable } from '@skillstead/skill-format/archives'
import { toSkillDigest, type Sample } from '../report/sample.ts'
import { openAll } from './samples.ts'
import type { ScanIo, ScanOutput } from './scan-output.ts'

/** How long to wait after a change before scanning, because editors write a file in several steps. */
const quietMs = 100

/** Scans the skills of places, and each skill again when it changes, until the user interrupts the scan. */
export async function watchSkills(
  places: readonly string[],
  io: ScanIo,
  output: ScanOutput,
  scan: (sample: Sample) => Promise<unknown>,
): Promise<void> {
  const signal = io.interruption()
  /** The digest of each skill; '' if it could not be read. */
  let known: ReadonlyMap<string, string> | undefined
  let watched = watchFolders(output)
  while (!signal.aborted) {
    // Folders are watched before they are read, so that no change is missed.
    const next = watchFolders(output)
    for (const place of places) next.add(dirname(resolve(place)), basename(resolve(place)))
    const onNote = known ? () => undefined : output.note
    const found = new Map<string, string>()
    for await (const sample of openAll({ places }, { stdin: io.stdin, onNote, onFolder: next.add })) {
      if (signal.aborted) break
      const digest = isUnreadable(sample) ? '' : toSkillDigest(sample)
      found.set(sample.id, digest)
      if (known?.get(sample.id) === digest) continue
      if (isUnreadable(sample)) output.fail(sample.id, sample.reason)
      else await scan(sample)
    }
    for (const [id, digest] of known ?? []) if (digest && !found.has(id)) output.note(id, 'is no longer a skill.')
    if (!known) output.note('watching', `${[...found.values()].filter(Boolean).length} skills; end with Ctrl+C.`)
    known = found
    watched.close()
    watched = next
    await watched.waitForChange(signal)
  }
  watched.close()
}

/**
 * Watches folders without their subfolders. The recursive mode of `fs.watch` would also watch every file of
 * `node_modules` and `.git`, which exceeds the limits of Linux.
 */
function watchFolders(output: ScanOutput) {
  const closing = new AbortController()
  const changes = new EventTarget()
  const added = new Set<string>()
  let hasChanged = false
  const onChange = () => {
    hasChanged = true
    changes.dispatchEvent(new Event('change'))
  }
  return {
    /** Watches a folder, or one name in it. */
    add(folder: string, only?: string): void {
      if (added.has(`${folder}\0${only}`)) return
      added.add(`${folder}\0${only}`)
      try {
        const watcher = watch(folder, { signal: closing.signal }, (_, name) => {
          if (only === undefined || name === null || name === only) onChange()
        })
        watcher.on('error', () => watcher.close())
      } catch (error) {
        const code = readErrorCode(error)
        if (code !== 'ENOENT') output.note(folder, `it cannot be watched: ${code}.`)
      }
    },
    async waitForChange(signal: AbortSignal): Promise<void> {
      try {
        if (!hasChanged) await once(changes, 'change', { signal })
        await setTimeout(quietMs, undefined, { signal })
      } catch {
        // The interruption ends the wait.
      }
    },
    close: () => closing.abort(),
  }
}
