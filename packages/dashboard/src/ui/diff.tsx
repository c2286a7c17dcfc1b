import { toMarkedText } from '@skillstead/protocol'
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { parsePatch, type PatchLine } from './parse-patch.ts'

const stepLines = 300
/** Maximum number of characters of a line; longer lines are shortened. */
const lineCharactersMax = 2000

/** Notes below lines of the later version, and what happens when the number of such a line is chosen. */
interface LineNotes {
  readonly onPick?: ((line: number) => void) | undefined
  readonly notesOn?: ((line: number) => ComponentChildren) | undefined
}

/** The patch of one file: added and removed lines have a sign, a colour, and text for screen readers. */
export function Diff({ patch, label, ...notes }: LineNotes & { patch: string; label: string }) {
  const lines = useMemo(() => parsePatch(patch), [patch])
  const [shown, show] = useState(stepLines)
  return (
    <>
      <div class="diff" role="region" aria-label={label} tabIndex={0}>
        {lines.slice(0, shown).map((line, place) => (
          <Line key={place} line={line} {...notes} />
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

function Line({ line: { kind, text, from, to }, onPick, notesOn }: LineNotes & { line: PatchLine }) {
  const Text = kind === 'added' ? 'ins' : kind === 'removed' ? 'del' : 'span'
  return (
    <>
      <div class={`line ${kind}`}>
        {onPick && to !== undefined ? (
          <button type="button" class="number" aria-label={`Comment on line ${to}`} onClick={() => onPick(to)}>
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
      {to !== undefined && notesOn?.(to)}
    </>
  )
}

function shortenPatchLine(text: string): string {
  if (text.length <= lineCharactersMax) return text
  const more = text.length - lineCharactersMax
  return `${text.slice(0, lineCharactersMax)}… (${more.toLocaleString('en')} more characters)`
}
