import { builtInDocuments } from './built-in.ts'

const names: Readonly<Record<string, string>> = Object.assign({}, ...builtInDocuments.map((each) => each.names))
const listNames = (name: string): ReadonlySet<string> => new Set(names[name]!.split(' '))
const packages = listNames('packages')
const scopes = listNames('scopes')
const otherPackages = listNames('other-packages')
const images = listNames('images')
const otherImages = listNames('other-images')

/** Names of this length look alike if any one letter differs; shorter ones only if that letter is easily mistaken. */
const anyLetterMin = 7
const nameMin = 5

const boast = /^(?<name>.{4,})[-_.](?:official|offical|original|genuine|patched|fixed|unlocked|premium)$/
const misspelt = /(?:utilz|helperz|clientz|serivce|libary|offical)$/

/** Words after which a command is over and a sentence continues. */
const sentenceWords = /^(?:and|or|to|for|then|before|after|in|with|if|as|from|on|when|which|that|into|using|via|by)$/

/** Whether one of the packages that a command names passes for a popular one. */
export function namesLookAlike(text: string): boolean {
  for (const word of text.toLowerCase().split(/[\s,{}[\]]+/)) {
    if (sentenceWords.test(word)) return false
    const name = /^["']?(?<name>@?[a-z][\w.-]*(?:\/[\w.-]+)?)/.exec(word)?.groups!['name']?.replace(/[.:]+$/, '')
    if (name && isLookAlike(name)) return true
  }
  return false
}

/** Whether a package passes for a popular one: by a typing error in its name or scope, or by a boast added to it. */
function isLookAlike(name: string): boolean {
  const [scope, scoped] = name.startsWith('@') ? name.split('/') : []
  if (scope) return scoped !== undefined && isSlipOf(scope, scopes)
  // PyPI reads an underscore or a dot as a hyphen; a digit at the end states a major version.
  const plain = name.replaceAll(/[_.]/g, '-').replace(/\d{1,2}$/, '')
  if ([name, plain].some((each) => packages.has(each) || otherPackages.has(each))) return false
  if (misspelt.test(name) || packages.has(boast.exec(name)?.groups?.['name'] ?? '')) return true
  return name.length >= nameMin && isSlipOf(name, packages)
}

/** Whether the last word of a command names an image that passes for an official one. */
export function imageLooksAlike(text: string): boolean {
  const name = /[a-z][\w.-]*$/.exec(text.toLowerCase())?.[0] ?? ''
  return name.length >= 5 && !images.has(name) && !otherImages.has(name) && isSlipOf(name, images)
}

/** Whether a name is one typing error away from one of the names, but none of them. */
function isSlipOf(name: string, known: ReadonlySet<string>): boolean {
  if (known.has(name)) return false
  for (const each of known) if (Math.abs(each.length - name.length) <= 1 && isOneSlip(name, each)) return true
  return false
}

/** Whether one letter is missing, added, doubled, swapped with the next, or replaced (in long names by any letter). */
function isOneSlip(name: string, other: string): boolean {
  let same = 0
  while (same < name.length && name[same] === other[same]) same++
  const [rest, otherRest] = [name.slice(same), other.slice(same)]
  if (rest.length === otherRest.length) {
    if (rest[0] === otherRest[1] && rest[1] === otherRest[0]) return rest.slice(2) === otherRest.slice(2)
    const isVowel = name.length === anyLetterMin - 1 && vowels.has(rest[0]!) && vowels.has(otherRest[0]!)
    const isLetter = name.length >= anyLetterMin || isVowel || looksLike.has(`${rest[0]}${otherRest[0]}`)
    return isLetter && same > 0 && rest.slice(1) === otherRest.slice(1)
  }
  const [longer, shorter] = rest.length > otherRest.length ? [rest, otherRest] : [otherRest, rest]
  const isDoubled = longer[0] === name[same - 1] || longer[0] === longer[1]
  return same > 0 && longer.slice(1) === shorter && (name.length >= anyLetterMin || isDoubled || rest === shorter)
}

const vowels: ReadonlySet<string> = new Set('aeiou')

/** Letters that look alike, or are next to each other on a keyboard. */
const looksLike: ReadonlySet<string> = new Set('0o o0 1l l1 zs sz ck kc yi iy vw wv mn nm'.split(' '))
