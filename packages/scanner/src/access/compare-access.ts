import { accessKinds, parseVersion, toRecord, type Access, type Widens } from '@skillstead/protocol'

const lists = [...accessKinds, 'cut'] as const

/** The items of `access` that `other` lacks. */
export function subtractAccess(access: Access, other: Access): Access {
  return toRecord(lists, (kind) => {
    const had = new Set(other[kind])
    return access[kind].filter((item) => !had.has(item))
  })
}

/** Whether access lists have any item; an unread part counts, because it may use anything. */
export function addsAccess(access: Access): boolean {
  return lists.some((kind) => access[kind].length > 0)
}

/** A version with its access lists. */
export interface VersionAccess {
  readonly version: string
  readonly access: Access
}

/** The items that the later of two versions uses in addition to the earlier one; null if there are none. */
export function findWidening(earlier: VersionAccess, later: VersionAccess): Widens | null {
  const added = subtractAccess(later.access, earlier.access)
  return addsAccess(added) ? { since: earlier.version, patch: isPatch(earlier.version, later.version), added } : null
}

/** Whether two versions have the same major and minor number. */
export function isPatch(from: string, to: string): boolean {
  const [before, after] = [parseVersion(from), parseVersion(to)]
  return before !== undefined && after !== undefined && before[0] === after[0] && before[1] === after[1]
}
