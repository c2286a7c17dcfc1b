import type { Encoded } from './decode.ts'
import { regexWith } from './regex.ts'

const marker = /^[ \t]{0,12}(?:[-*+]|\d{1,3}[.)])[ \t]+(?=\S)/
/** Verbs with which an introduction says what to do with the items. */
const verbs = regexWith('i')`\b(ask|tell|paste|send|provid|give|share|enter|need|collect|gather|read|take|copy|includ|
  upload|post|fetch|download|execut|install|store|save|write|report|record|look|search|find|request|append|add|forward|
  keep|log|remember|submit|attach|transmit|grant|enable|disable|delete|remove|skip|ignore)`
/** What an introduction or an item says by itself, or turns into its opposite. */
const turned = /\b(?:not|no|never|without|avoid|instead|unless|if|when)\b|n['\u2019]t\b/i
const leadCharactersMin = 8
const leadCharactersMax = 400
const itemCharactersMax = 160
const itemsMax = 24

interface List {
  readonly lead: string
  readonly start: number
  readonly items: string[]
  end: number
}

/** Reads each item of a list as the end of the sentence that introduces it: "ask the user for:" and "- the password". */
export function* findLists(text: string): Generator<Encoded> {
  for (const { lead, start, end, items } of listLists(text)) {
    const sentences = items.filter((item) => item.length <= itemCharactersMax && !turned.test(item))
    if (sentences.length === 0) continue
    const joined = sentences.map((item) => `${lead} ${item}`).join('\n\n')
    yield { text: joined, spelled: text.slice(start, end), start, end, form: 'list', isHidden: false }
  }
}

/** The lists that a sentence with a verb introduces, at most one blank line above the first item. */
function* listLists(text: string): Generator<List> {
  let above = { line: '', start: 0, blanks: 0 }
  let list: List | undefined
  for (let start = 0; start < text.length;) {
    const next = text.indexOf('\n', start)
    const end = next === -1 ? text.length : next
    const line = text.slice(start, Math.min(end, start + leadCharactersMax + 1))
    const mark = marker.exec(line)
    if (mark) {
      list ??= toList(above)
      if (list && list.items.length < itemsMax) list.items.push(line.slice(mark[0].length).trimEnd())
      if (list) list.end = end
      above = { line: '', start: end, blanks: 0 }
    } else if (line.trim() === '') {
      above.blanks++
    } else {
      if (list) yield list
      list = undefined
      above = { line, start, blanks: 0 }
    }
    start = end + 1
  }
  if (list) yield list
}

/** The list that a line introduces with its last sentence, if that is one to read on. */
function toList({ line, start, blanks }: { line: string; start: number; blanks: number }): List | undefined {
  if (blanks > 1 || line.length > leadCharactersMax) return undefined
  const plain = line.trimEnd().replace(/[*_]{1,3}$/, '')
  if (!/[\w):\u2014-]$/.test(plain)) return undefined
  const sentence = plain.slice(Math.max(...['. ', '! ', '? '].map((stop) => plain.lastIndexOf(stop))) + 1).trim()
  const lead = sentence.replace(/[:\u2014-]$/, '')
  if (lead.length < leadCharactersMin || turned.test(lead) || !verbs.test(lead)) return undefined
  return { lead, start, items: [], end: start }
}
