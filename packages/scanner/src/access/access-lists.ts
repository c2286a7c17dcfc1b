import { createHash } from 'node:crypto'
import { accessKinds, toRecord, type Access, type AccessKind } from '@skillstead/protocol'
import { ambientVariables } from './access-words.ts'

/** Maximum number of items of a list that are shown. The other items are counted, and identified by a digest. */
const itemsShownMax = 100
const itemCharactersMax = 100
const cutsMax = 20

/** Collects the programs, hosts, paths and other items that a version uses. */
export class AccessLists {
  /** The name of the skill, which is also that of its folder. */
  ownFolder = ''
  /** The variables that the current file sets, those that it reads, and the functions that it defines. */
  readonly assigned = new Set<string>()
  readonly read = new Set<string>()
  readonly functions = new Set<string>()
  readonly #lists = new Map<AccessKind, Set<string>>(accessKinds.map((kind) => [kind, new Set()]))
  readonly #cuts: string[] = []

  /** Adds an item: removes control characters, and truncates it if it is long. */
  add(kind: AccessKind, item: string): void {
    const list = this.#lists.get(kind)!
    if (list.has(item)) return
    const clean = cleanItem(item)
    if (clean !== '') list.add(clean)
  }

  /** Adds an environment variable, unless every shell sets it. */
  addVariable(name: string): void {
    if (variableName.test(name) && !ambientVariables.has(name) && !name.startsWith('BASH_'))
      this.add('environment', name)
  }

  /**
   * Reports an unread part of the version. The entry contains the digest of the part, so that two versions with
   * different unread parts never look alike.
   */
  addCut(what: string, left: Uint8Array | string): void {
    this.#cuts.push(`${cleanItem(what)} (sha256:${digest(left)})`)
  }

  /** Ends the current file: variables that the file reads but does not set come from the environment. */
  endFile(): void {
    for (const name of this.read) if (!this.assigned.has(name)) this.addVariable(name)
    for (const names of [this.assigned, this.read, this.functions]) names.clear()
  }

  toAccess(): Access {
    const lists = toRecord(accessKinds, (kind) => this.#toList(kind))
    const cut = this.#cuts.slice(0, cutsMax)
    const more = this.#cuts.slice(cutsMax)
    if (more.length > 0) cut.push(`${more.length} more parts were not read (sha256:${digest(more.join('\n'))})`)
    return { ...lists, cut: cut.toSorted() }
  }

  #toList(kind: AccessKind): string[] {
    const sorted = [...this.#lists.get(kind)!].toSorted()
    const rest = sorted.slice(itemsShownMax)
    if (rest.length > 0) this.addCut(`${kind}: ${rest.length} more are not listed`, rest.join('\n'))
    return sorted.slice(0, itemsShownMax)
  }
}

const variableName = /^[A-Z][A-Z0-9_]{1,63}$/
// oxlint-disable-next-line no-control-regex
const unclean = /[\p{C}\s]+/gu
const plain = /^[ -~]*$/

/** Makes an item one line without invisible characters, because agents read the lists. */
function cleanItem(item: string): string {
  const text = item.length > itemCharactersMax ? item.slice(0, itemCharactersMax) : item
  return plain.test(text) ? text.trim() : text.toWellFormed().replace(unclean, ' ').trim()
}

const digest = (left: Uint8Array | string) => createHash('sha256').update(left).digest('hex').slice(0, 12)
