import type { Security } from '@skillstead/protocol'
import { toRulesVersion, type AddedRules } from './rules/added-rules.ts'
import { loadRules } from './rules/load-rules.ts'
import { PreparedRules, prepareRules } from './rules/prepared-rules.ts'
import type { ScanFile } from './files/scan-file.ts'
import { Scan } from './scan-files.ts'

/**
 * Scans files for instructions and code that a skill should not contain. Offline and in linear time, in batches of
 * about 32 Ki characters between which the caller may yield. Never throws; `now` is in milliseconds since 1970.
 * `added`: rules that apply besides the built-in ones.
 */
export function* scanInSlices(files: readonly ScanFile[], now: number, added?: AddedRules): Generator<void, Security> {
  try {
    const scan = new Scan(files, prepareRules(added))
    yield* scan.run()
    return scan.toSecurity(now)
  } catch {
    return toUnscanned(files, 'The scan failed and was given up.', now, added)
  }
}

/** As {@link scanInSlices}, without yielding. */
export function scanFiles(files: readonly ScanFile[], now: number, added?: AddedRules): Security {
  const slices = scanInSlices(files, now, added)
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}

const noRules = new PreparedRules(loadRules([]))

/** The report on files that could not be scanned; `reason` is a sentence. The verdict is `caution`. */
export function toUnscanned([first]: readonly ScanFile[], reason: string, now: number, added?: AddedRules): Security {
  const scan = new Scan([{ path: first?.path ?? 'SKILL.md', text: '' }], noRules)
  scan.cutAt(first?.path ?? 'SKILL.md', reason)
  for (const _ of scan.run());
  return { ...scan.toSecurity(now), rulesVersion: toRulesVersion(added) }
}
