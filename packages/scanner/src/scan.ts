import type { ScanReport, Security } from '@skillstead/protocol'
import { toDigest } from '@skillstead/skill-format/archives'
import { Scan } from './scan-files.ts'

/** A file of a skill: its bytes as they were published, or a text. */
export type ScanFile = { readonly path: string } & ({ readonly text: string } | { readonly bytes: Uint8Array })

/**
 * Looks for what no skill should ask of an agent, offline and in linear time, in slices of some 32 Ki characters between
 * which the caller may rest. Never throws, whatever the files; `now` is in milliseconds since 1970.
 */
export function* scanInSlices(files: readonly ScanFile[], now: number): Generator<void, Security> {
  const scan = new Scan(files)
  yield* scan.run()
  return scan.toSecurity(now)
}

/** As {@link scanInSlices}, at once. */
export function scanFiles(files: readonly ScanFile[], now: number): Security {
  const slices = scanInSlices(files, now)
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
  }
}

/** The report on files that were not looked at, for a reason that is a sentence: it calls for caution. */
export function toUnscanned([first]: readonly ScanFile[], reason: string, now: number): Security {
  const scan = new Scan([{ path: first?.path ?? 'SKILL.md', text: '' }])
  scan.cutAt(first?.path ?? 'SKILL.md', reason)
  for (const _ of scan.run());
  return scan.toSecurity(now)
}

/** The whole report on one text; its digest is that of its UTF-8 bytes. */
export function scanText({ path, text }: { path: string; text: string }, source: string, now: number): ScanReport {
  return { ...scanFiles([{ path, text }], now), digest: toDigest(Buffer.from(text)), source }
}
