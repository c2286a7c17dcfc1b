import type { FileDiff } from '@skillstead/protocol'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Diff } from './diff.tsx'

const openFiles = 5
const filesStep = 50
/** Maximum size of a patch that is shown open; larger patches are collapsed. */
const openCharactersMax = 50_000

/** Notes below the lines of a later version, and what happens when the number of a line is chosen. */
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

function FilePatch({ file, open, onPick, notesOn }: PatchNotes & { file: FileDiff; open: boolean }) {
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
      {isOpen && file.diff !== null && (
        <Diff
          patch={file.diff}
          label={`Differences in ${file.path}`}
          onPick={onPick && ((line) => onPick(file.path, line))}
          notesOn={notesOn && ((line) => notesOn(file.path, line))}
        />
      )}
      {file.diff === null && <p>{omissions[file.omitted ?? 'binary']}</p>}
    </details>
  )
}
