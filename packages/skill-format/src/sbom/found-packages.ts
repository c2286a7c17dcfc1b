import { cutList, type PathReason, toOneLine } from '@skillstead/protocol'

/** The registries of declared packages, by their type in a package URL. */
export type Ecosystem = keyof typeof ecosystems

/** Whether a package is needed to run the skill, adds to it, or only serves its development. */
export type PackageScope = 'required' | 'optional' | 'excluded'

/** A package that a file of a skill declares. */
export interface DeclaredPackage {
  readonly ecosystem: Ecosystem
  readonly name: string
  /** The range or address of the package as its file writes it; empty for any version. */
  readonly range: string
  /** The version, if the range allows no other. */
  readonly version: string | undefined
  /** Whether the package comes from the registry of its ecosystem, and not from an address or a path. */
  readonly isRegistered: boolean
  readonly scope: PackageScope
  /** The file that declares the package. */
  readonly path: string
}

/** The packages that the files of a skill declare, and what of these files was not read. */
export interface DeclaredPackages {
  readonly packages: readonly DeclaredPackage[]
  /** Paths of files that were not read, or not completely, with the reason. */
  readonly unread: readonly PathReason[]
}

const number = String.raw`\d+\.\d+\.\d+(?:[-+][\w.+-]{1,60})?`

/** Patterns by ecosystem: of names, of ranges that are no address or path, and of ranges with a single version. */
const ecosystems = {
  npm: {
    name: /^(?:@[a-z\d~_-][\w.~-]*\/)?[a-z\d~_-][\w.~-]*$/i,
    range: /^[^:/]*$/,
    pinned: new RegExp(`^=?\\s?v?(${number})$`),
  },
  jsr: { name: /^@[a-z\d-]+\/[a-z\d-]+$/, range: /^[^:/]*$/, pinned: new RegExp(`^(${number})$`) },
  pypi: { name: /^[a-z\d](?:[\w.-]*[a-z\d])?$/i, range: /^(?!@)[^/]*$/, pinned: /^={2,3}\s?([\w.!+-]+)$/ },
  golang: { name: /^[\w.~-]+(?:\/[\w.~-]+)*$/, range: /^/, pinned: /^(v[\w.+-]+)$/ },
  cargo: { name: /^[a-z][\w-]*$/i, range: /^[^:/]*$/, pinned: new RegExp(`^=\\s?(${number})$`) },
} as const satisfies Record<string, Record<'name' | 'range' | 'pinned', RegExp>>

/** The maximum number of packages of a skill. Further packages are only counted. */
const packagesMax = 1000
const unreadMax = 100
const nameCharactersMax = 214
const rangeCharactersMax = 200

/** Collects the packages that the files of a skill declare. Limits the length of texts, which are not trusted. */
export class FoundPackages {
  readonly #packages: DeclaredPackage[] = []
  readonly #unread: PathReason[] = []
  #more = 0
  #path = ''

  /** Sets the file that declares the packages which are added next. */
  enter(path: string): void {
    this.#path = path
  }

  /** Adds a package. A name that the registry of the ecosystem cannot have is reported as not read. */
  add(ecosystem: Ecosystem, name: string, range: unknown, scope: PackageScope = 'required'): void {
    const rules = ecosystems[ecosystem]
    if (name.length > nameCharactersMax || !rules.name.test(name)) {
      this.addUnread(`${quote(name)} is not the name of a package.`)
      return
    }
    if (typeof range !== 'string') {
      this.addUnread(`The version of ${name} is not a text.`)
      return
    }
    if (this.#packages.length === packagesMax) {
      this.#more += 1
      return
    }
    const text = shorten(range)
    const version = rules.pinned.exec(text)?.[1]
    const isRegistered = rules.range.test(text)
    this.#packages.push({ ecosystem, name, range: text, version, isRegistered, scope, path: this.#path })
  }

  /** Reports that the current file, or a part of it, was not read. The reason is a sentence. */
  addUnread(reason: string): void {
    this.#unread.push({ path: this.#path, reason })
  }

  toDeclared(): DeclaredPackages {
    const { shown, more } = cutList(this.#unread, unreadMax)
    const cuts = [
      ...(this.#more > 0 ? [`${this.#more} more packages are not listed.`] : []),
      ...(more > 0 ? [`${more} more parts were not read.`] : []),
    ]
    return { packages: this.#packages, unread: [...shown, ...cuts.map((reason) => ({ path: '', reason }))] }
  }
}

/** Quotes an untrusted text for use in a sentence. */
export function quote(text: string): string {
  return `'${shorten(text)}'`
}

/**
 * One line without control characters; a longer text ends with an ellipsis. Credentials are removed from addresses,
 * because bills of materials are passed on.
 */
function shorten(text: string): string {
  const safe = text.replaceAll(/:\/\/[^/\s]*@/g, '://')
  const cut = safe.length > rangeCharactersMax ? `${safe.slice(0, rangeCharactersMax)}…` : safe
  return toOneLine(cut.toWellFormed()).trim()
}
