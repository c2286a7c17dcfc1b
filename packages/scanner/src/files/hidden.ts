import type { EngineRuleName } from '../rules/engine-rules.ts'
import type { FileRole } from './role.ts'

export interface Hidden {
  readonly rule: EngineRuleName
  readonly start: number
  readonly end: number
}

/** Invisible copies of ASCII. The flags of England, Scotland and Wales contain some, after a black flag. */
const tagsPattern = /(?:\udb40[\udc20-\udc7f]){8,}/g
const zeroWidthPattern = /[\u200b-\u200d\u2060-\u2064\ufeff]{8,}|(?:[\ufe00-\ufe0f]|\udb40[\udd00-\uddef]){8,}/g
const bidiPattern = /[\u202a-\u202e\u2066-\u2069]+/g
const rightToLeftPattern = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/
const blackFlag = '\u{1f3f4}'

/** Gaps after which people stop reading. */
const gaps = ['\n'.repeat(200), '\r\n'.repeat(200), ' '.repeat(600)] as const
const beginnings = gaps.map((gap) => gap.slice(0, 40))
/** Characters that a text must contain to be examined; Latin texts are skipped. */
const tagsFirstHalf = /\udb40/
const zeroWidths = /[\u200b-\u200d\u2060-\u2064\ufeff]|[\ufe00-\ufe0f]|\udb40[\udd00-\uddef]/
const bidiControls = /[\u202a-\u202e\u2066-\u2069]/
const unseen = new RegExp([tagsFirstHalf, zeroWidths, bidiControls].map(({ source }) => source).join('|'))
const readRoles: ReadonlySet<FileRole> = new Set(['instruction', 'reference'])

/** Finds characters and gaps that hide text from a reader, whatever the text is. */
export function* findHidden(text: string, role: FileRole): Generator<Hidden> {
  if (readRoles.has(role) && beginnings.some((gap) => text.includes(gap))) yield* findPadding(text)
  if (!unseen.test(text)) return
  if (tagsFirstHalf.test(text)) yield* findTags(text)
  if (zeroWidths.test(text)) {
    for (const { 0: run, index } of text.matchAll(zeroWidthPattern)) {
      yield { rule: 'zeroWidthRun', start: index, end: index + run.length }
    }
  }
  if (bidiControls.test(text)) yield* findBidi(text)
}

function* findTags(text: string): Generator<Hidden> {
  for (const { 0: run, index } of text.matchAll(tagsPattern)) {
    const isFlag = text.slice(Math.max(0, index - blackFlag.length), index) === blackFlag
    if (!isFlag) yield { rule: 'tagCharacters', start: index, end: index + run.length }
  }
}

/** Reported at the line before the gap; the text after it is scanned separately. */
function* findPadding(text: string): Generator<Hidden> {
  for (const gap of gaps) {
    const at = text.indexOf(gap)
    if (at === -1 || !/\S/.test(text.slice(at))) continue
    const start = text.lastIndexOf('\n', Math.max(0, at - 1)) + 1
    yield { rule: 'padding', start, end: at }
  }
}

/** Direction controls are legitimate next to letters of right-to-left scripts. */
function* findBidi(text: string): Generator<Hidden> {
  for (const { 0: found, index } of text.matchAll(bidiPattern)) {
    if (/^[\u202c\u2069]+$/.test(found)) continue
    const around = text.slice(Math.max(0, index - 200), index + 200)
    if (!rightToLeftPattern.test(around)) yield { rule: 'bidiControl', start: index, end: index + found.length }
  }
}
