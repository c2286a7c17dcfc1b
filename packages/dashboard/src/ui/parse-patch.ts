/** A line of a patch: unchanged, added, removed, or a position. */
export interface PatchLine {
  readonly kind: 'same' | 'added' | 'removed' | 'place' | 'note'
  readonly text: string
  readonly from?: number
  readonly to?: number
}

/** Parses the hunks of one file's git patch; the file names before the first hunk are skipped. */
export function parsePatch(patch: string): PatchLine[] {
  const lines: PatchLine[] = []
  let from = 0
  let to = 0
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line)
    if (hunk) {
      ;[from, to] = [Number(hunk[1]), Number(hunk[2])]
      lines.push({ kind: 'place', text: `Lines from ${to || from}` })
    } else if (lines.length === 0) continue
    else if (line.startsWith('+')) lines.push({ kind: 'added', text: line.slice(1), to: to++ })
    else if (line.startsWith('-')) lines.push({ kind: 'removed', text: line.slice(1), from: from++ })
    else if (line.startsWith('\\')) lines.push({ kind: 'note', text: 'No line break at the end of the file' })
    else lines.push({ kind: 'same', text: line.slice(1), from: from++, to: to++ })
  }
  return lines
}
