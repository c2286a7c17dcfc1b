import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { documents } from '../support/doc-commands.ts'

/** Phrases that are hard to understand, with their replacements. test/cspell.json has the single words. */
const phrases: readonly [RegExp, string][] = [
  [/unless (?:it is said|you say)|where (?:it|none) is (?:not )?given/, 'Default: X.'],
  [/what a scan has something against/, 'flagged version'],
  [/\bwho(?:ever)? (?:asks?|calls?|holds?|keeps?)\b/, 'the caller, the client'],
  [/\b(?:is|are) (?:told|held back)\b|\bwithout a word\b/, 'receives, is quarantined, silently'],
  [/\bhow (?:it|the node|everything)\b[^.\n]* stands\b|\bstands? still\b/, 'the state; is paused'],
  [/\bis under way\b|\bcomes? in(?:\.| from)|\bgoes on (?:being|serving)\b/, 'is in progress; is imported; continues'],
  [/\bis away\b|\bcomes back\b/, 'is unavailable; is available again'],
  [/\bat its moment\b|\bas often\b/, 'on time; N times'],
  [/\bas (?:it|they) stands?\b/, 'name the thing'],
  [/\bfrom fresh eyes\b|\btakes the star back\b|\ban? \w+ a line\b/, 'reviewed; removes the star; one per line'],
]

/** Prose: without code, outputs, quoted test titles and what programs write. */
function readProse(document: string): string {
  return readFileSync(join(import.meta.dirname, '../..', document), 'utf8')
    .replaceAll(/^```[^]*?^```$/gm, '')
    .replaceAll(/<!-- [^>]*begin[^]*?end[^>]* -->/g, '')
    .replaceAll(/`[^`\n]+`|“[^”\n]+”/g, '')
}

it.each([...documents, 'CONTRIBUTING.md'])('%s contains no phrase that has a plainer replacement', (document) => {
  const prose = readProse(document)
  const found = phrases.flatMap(([phrase, better]) =>
    [...prose.matchAll(new RegExp(phrase, 'gi'))].map(([text]) => `“${text}”: ${better}`),
  )
  expect(found).toEqual([])
})
