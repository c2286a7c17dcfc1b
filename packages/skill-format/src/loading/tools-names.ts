/**
 * Assigns a unique tool name to each skill: the short name, or `<owner>-<name>` if several skills have the same one.
 * Model APIs reject a request with two tools of the same name.
 *
 * @example
 * toToolNames([{ fullName: 'alice/pdf' }, { fullName: 'bob/pdf' }]) // ['alice-pdf', 'bob-pdf']
 */
export function toToolNames(skills: readonly { readonly fullName: string }[]): string[] {
  const shortNames = skills.map(({ fullName }) => toToolName(fullName.slice(fullName.lastIndexOf('/') + 1)))
  const taken = new Set<string>()
  return skills.map(({ fullName }, i) => {
    const isShared = shortNames.indexOf(shortNames[i]!) !== shortNames.lastIndexOf(shortNames[i]!)
    const wanted = isShared ? toToolName(fullName.replace('/', '-')) : shortNames[i]!
    let name = wanted
    for (let n = 2; taken.has(name); n++) name = toToolName(`${wanted.slice(0, nameCharactersMax - 5)}-${n}`)
    taken.add(name)
    return name
  })
}

/**
 * Converts a name to one that every model API accepts (`^[a-zA-Z0-9_-]{1,64}$`); a long name is truncated and ends in a
 * hash of the whole name.
 */
export function toToolName(name: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return name
  const slug = (name.match(/[a-zA-Z0-9_]+/g) ?? ['skill', hash(name)]).join('-')
  if (slug.length <= nameCharactersMax) return slug
  return `${slug.slice(0, nameCharactersMax - hashCharacters - 1)}-${hash(name)}`
}

const nameCharactersMax = 64
const hashCharacters = 7

/** FNV-1a in 32 bits: distinguishes long names; not cryptographic. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193)
  return (value >>> 0).toString(36).padStart(hashCharacters, '0')
}
