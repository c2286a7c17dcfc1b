import { skillClients, type SkillClient } from '@skillstead/protocol'

/** What this registry reads: the fields of a skill's page, and the contract. */
const registry = {
  title: 'Skillstead',
  reads: ['inputs', 'outputs', 'version', 'category', 'keywords', 'tags', 'requires'],
  readsMetadata: ['version', 'category', 'keywords', 'tags', 'requires'],
} satisfies Partial<SkillClient>

/** What to do with a key that is not in the open format, as sentences that name the clients which read it. */
export function adviseOnKey(key: string, value: unknown): string {
  const readers = [...skillClients, registry].filter(({ reads }) => reads.includes(key))
  const isAlsoBelow = readers.every(({ readsMetadata = [] }) => readsMetadata.includes(key))
  if (isAlsoBelow) return `Move it below 'metadata'${isNested(value) ? ', as one text' : ''}.`
  const skipping = skillClients.filter(({ otherKeys }) => otherKeys !== undefined)
  const skips = skipping.map(({ title, otherKeys }) => `${title} ${otherKeys!.replace('skips', 'skips such a skill')}`)
  const titles = readers.map(({ title }) => title)
  const verb = titles.length === 1 ? 'reads' : 'read'
  return `Leave it: ${joinWords(titles)} ${verb} it only at the top level. ${upperFirst(joinWords(skips))}; other clients ignore the key.`
}

/** What to do with a value below `metadata` that is not text. */
export function adviseOnMetadata(key: string, value: unknown): string {
  if (!isNested(value)) return 'Put it in quotes.'
  const reader = skillClients.find(({ readsMetadata }) => readsMetadata?.includes(key))
  if (reader) return `Leave it: ${reader.title} reads it so.`
  const isOfRegistry = registry.reads.includes(key)
  const isBelow = registry.readsMetadata.includes(key)
  if (isOfRegistry && !isBelow) return `Move it to the top level, where ${registry.title} reads it.`
  return Array.isArray(value) ? 'Write it as one text, with commas.' : 'Write it as one text.'
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
