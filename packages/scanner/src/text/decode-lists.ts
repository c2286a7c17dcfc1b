import type { Encoded } from './decode.ts'
import { regexWith } from './regex.ts'

const marker = /^(?<indent>[ \t]{0,12})(?:[-*+\u2022\u2013]|\d{1,3}[.)])[ \t]+(?=\S)/
const fence = /^[ \t]*(?:```|~~~)/
/** Verbs with which an introduction says what to do with the items. */
const verbs = regexWith('i')`\b(ask|tell|paste|send|provid|give|share|enter|need|collect|gather|read|take|copy|includ|
  upload|post|fetch|download|execut|install|store|save|write|report|record|look|search|find|request|append|add|forward|
  keep|log|remember|submit|attach|transmit|grant|enable|disable|delete|remove|skip|ignore)`
/** What an introduction or an item says by itself, or turns into its opposite. */
const turned = /^(?:if|when|unless)\b|\b(?:not|no|never|without|avoid|instead)\b|n['\u2019]t\b/i
/** An item that has sentences or parts of its own. */
const structured = /[.!?:]\W{0,3}\s|\s[\u2014\u2013-]\s/
const leadCharactersMin = 8
const leadCharactersMax = 200
const itemCharactersMax = 160
const itemsMax = 60
const blanksMax = 3

interface List {
  readonly lead: string
  readonly start: number
  /** The white space before its items; those with more belong to an item. */
  readonly indent: string
  readonly items: string[]
  end: number
}

/** Reads each item of a list as the end of the sentence that introduces it: "ask the user for:" and "- the password". */
export function* findLists(text: string): Generator<Encoded> {
  for (const { lead, start, end, items } of listLists(text)) {
    const sentences = items.filter(
      (item) => item.length <= itemCharactersMax && !turned.test(item) && !structured.test(item),
    )
    if (sentences.length === 0) continue
    const joined = sentences.map((item) => `${lead} ${item}`).join('\n\n')
    // What matches in the introduction or an item alone was found already.
    const spelled = sentences.map((item) => `${lead}\n\n${item}`).join('\n\n')
    yield { text: joined, spelled, start, end, form: 'list', isHidden: false }
  }
}

/** The lists that a sentence with a verb introduces, with few blank lines above the first item. */
function* listLists(text: string): Generator<List> {
  let above = { line: '', blanks: 0 }
  let list: List | undefined
  let isInFence = false
  for (let start = 0; start < text.length;) {
    const next = text.indexOf('\n', start)
    const end = next === -1 ? text.length : next
    const line = text.slice(start, Math.min(end, start + leadCharactersMax + 1))
    if (fence.test(line)) isInFence = !isInFence
    const mark = isInFence ? null : marker.exec(line)
    if (mark) {
      const indent = mark.groups!['indent']!
      list ??= toList(above, start, indent)
      if (list) take(list, indent, line.slice(mark[0].length).trimEnd(), end)
      above = { line: '', blanks: 0 }
    } else if (line.trim() === '') {
      above.blanks++
    } else if (!list || !/^[ \t]/.test(line)) {
      if (list) yield list
      list = undefined
      above = { line, blanks: 0 }
    }
    start = end + 1
  }
  if (list) yield list
}

function take(list: List, indent: string, item: string, end: number): void {
  if (list.indent === indent && list.items.length < itemsMax) list.items.push(item)
  list.end = end
}

/** The list at a position that the line above introduces with its last sentence, if that is one to read on. */
function toList({ line, blanks }: { line: string; blanks: number }, start: number, indent: string): List | undefined {
  if (blanks > blanksMax || line.length > leadCharactersMax) return undefined
  const plain = line.trimEnd().replace(/[*_]{1,3}$/, '')
  if (!/[\w):\u2014-]$/.test(plain)) return undefined
  const sentence = plain.slice(Math.max(...['. ', '! ', '? '].map((stop) => plain.lastIndexOf(stop))) + 1).trim()
  const lead = sentence.replace(/[:\u2014-]$/, '')
  if (lead.length < leadCharactersMin || turned.test(lead) || !verbs.test(lead)) return undefined
  return { lead, start, indent, items: [], end: start }
}
