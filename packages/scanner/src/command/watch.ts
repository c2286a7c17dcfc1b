import { once } from 'node:events'
import { statSync } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isUnreadable } from '@skillstead/skill-format/archives'
import { FolderWatch } from './folder-watch.ts'
import type { ScanIo } from './io.ts'
import { openAll } from './open-all.ts'
import type { Sample } from './sample.ts'
import type { ScanOutput } from './scan-output.ts'

/** Editors write a file in several steps. */
const quietMs = 100

/** Scans the skills of places, and again each skill whose folder changes, until it is interrupted. */
export async function watchSkills(
  places: readonly string[],
  io: ScanIo,
  output: ScanOutput,
  scan: (sample: Sample) => Promise<unknown>,
): Promise<void> {
  const signal = io.interruption()
  const watched = new FolderWatch((folder, problem) => output.note(folder, problem))
  let skills = await scanChanged(() => true, output.note)
  output.note('watching', `${skills.size} skills; end with Ctrl+C.`)
  while (!signal.aborted) {
    const changed = await nextChange(watched, signal)
    const isChanged = (path: string) => changed.some((one) => isAtOrBelow(one, resolve(path)))
    if (!places.some(isChanged)) continue
    const found = await scanChanged(
      (path) => isChanged(path) || (isFolder(path) && !skills.has(path)),
      () => undefined,
    )
    for (const folder of skills) if (!found.has(folder)) output.note(folder, 'is no longer a skill.')
    skills = found
  }
  watched.close()

  /** Scans the skills and files for which `isDue`, and returns the folders of all skills. */
  async function scanChanged(isDue: (path: string) => boolean, onNote: ScanOutput['note']): Promise<Set<string>> {
    const found = new Set<string>()
    const isWanted = (folder: string) => isDue(found.add(folder) && folder)
    const onFolder = (folder: string) => watched.add(resolve(folder))
    for (const place of places) watched.add(dirname(resolve(place)))
    const due = places.filter((place) => isFolder(place) || isDue(place))
    const request = { places: due, isEnclosing: false }
    for await (const sample of openAll(request, { stdin: io.stdin, onNote, isWanted, onFolder })) {
      if (signal.aborted) break
      if (!isUnreadable(sample)) await scan(sample)
      // A folder has no samples if none of its skills has changed.
      else if (found.size === 0 || !places.includes(sample.id)) output.fail(sample.id, sample.reason)
    }
    watched.dropOthers()
    return found
  }
}

/** The paths that changed, once there are any; none after an interruption. */
async function nextChange(watched: FolderWatch, signal: AbortSignal): Promise<readonly string[]> {
  try {
    if (!watched.hasChanges) await once(watched, 'change', { signal })
    await setTimeout(quietMs, undefined, { signal })
  } catch {
    return []
  }
  return watched.takeChanges()
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
