import { type FileDiff, toMarkedText } from '@skillstead/protocol'
import type { ComponentChildren } from 'preact'
import { useState, useMemo } from 'preact/hooks'

const openFiles = 5
const filesStep = 50
/** Maximum size of a patch that is shown open; larger patches are collapsed. */
const openCharactersMax = 50_000

/** Notes below the lines of the later version, and what a click on the number of a line does. */
interface PatchNotes {
  readonly onPick?: (path: string, line: number) => void
  readonly notesOn?: (path: string, line: number) => ComponentChildren
}

/** The differences of two versions, file by file. */
export function FilePatches({ files, ...notes }: PatchNotes & { files: readonly FileDiff[] }) {
  const [shown, show] = useState(filesStep)
  return (
    <>
      {files.slice(0, shown).map((file, place) => (
        <FilePatch key={file.path} file={file} open={place < openFiles} {...notes} />
      ))}
      {files.length > shown && (
        <button type="button" onClick={() => show(shown + filesStep)}>
          Show more files
        </button>
      )}
    </>
  )
}

const omissions = {
  binary: 'A binary file cannot be compared as text.',
  'too large': 'It is too large to compare here. Download both versions to compare them.',
}

function FilePatch({ file, open, ...notes }: PatchNotes & { file: FileDiff; open: boolean }) {
  const [isOpen, setOpen] = useState(open && (file.diff?.length ?? 0) <= openCharactersMax)
  return (
    <details class="file-patch" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <bdi>{file.path}</bdi>{' '}
        <span class="faint">
          {file.status}
          {file.executable !== undefined && (file.executable ? ', now executable' : ', no longer executable')}
        </span>
      </summary>
      {isOpen && file.diff !== null && <Diff patch={file.diff} path={file.path} {...notes} />}
      {file.diff === null && <p>{omissions[file.omitted ?? 'binary']}</p>}
    </details>
  )
}

/** A line of a patch: unchanged, added or removed; or the position of a hunk, or a note of git. */
interface PatchLine {
  readonly kind: 'same' | 'added' | 'removed' | 'place' | 'note'
  readonly text: string
  readonly from?: number
  readonly to?: number
}

/** Parses the hunks of one file's git patch; the file names before the first hunk are skipped. */
function parsePatch(patch: string): PatchLine[] {
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

const stepLines = 300
/** Maximum number of characters of a line; longer lines are shortened. */
const lineCharactersMax = 2000

/** The patch of one file: added and removed lines have a sign, a colour, and text for screen readers. */
function Diff({ patch, path, ...notes }: PatchNotes & { patch: string; path: string }) {
  const lines = useMemo(() => parsePatch(patch), [patch])
  const [shown, show] = useState(stepLines)
  return (
    <>
      <div class="diff" role="region" aria-label={`Differences in ${path}`} tabIndex={0}>
        {lines.slice(0, shown).map((line, place) => (
          <Line key={place} line={line} path={path} {...notes} />
        ))}
      </div>
      {lines.length > shown && (
        <button type="button" onClick={() => show(shown + stepLines)}>
          Show more of {(lines.length - shown).toLocaleString('en')} lines
        </button>
      )}
    </>
  )
}

const signs = { same: ' ', added: '+', removed: '−', place: '', note: '' }

function Line({
  line: { kind, text, from, to },
  path,
  onPick,
  notesOn,
}: PatchNotes & { line: PatchLine; path: string }) {
  const Text = kind === 'added' ? 'ins' : kind === 'removed' ? 'del' : 'span'
  return (
    <>
      <div class={`line ${kind}`}>
        {onPick && to !== undefined ? (
          <button type="button" class="number" aria-label={`Comment on line ${to}`} onClick={() => onPick(path, to)}>
            {to}
          </button>
        ) : (
          <span class="number" aria-hidden="true">
            {to ?? from}
          </span>
        )}
        <span class="sign" aria-hidden="true">
          {signs[kind]}
        </span>
        <Text dir="auto">{toMarkedText(shortenPatchLine(text))}</Text>
      </div>
      {to !== undefined && notesOn?.(path, to)}
    </>
  )
}

function shortenPatchLine(text: string): string {
  if (text.length <= lineCharactersMax) return text
  const more = text.length - lineCharactersMax
  return `${text.slice(0, lineCharactersMax)}… (${more.toLocaleString('en')} more characters)`
}
