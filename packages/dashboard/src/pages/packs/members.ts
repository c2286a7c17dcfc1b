import type { api } from '../../api.ts'

type Pack = Awaited<ReturnType<typeof api.getPack>>
export type Visibility = Pack['visibility']

export const visibilityOptions = [
  ['public', 'Public: all users and guests'],
  ['internal', 'Internal: users of this node'],
  ['private', 'Private: only you'],
] as const

/** Parses lines of `owner/name` or `owner/name@version`. */
export function toMembers(text: string): { name: string; version?: string }[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter(Boolean).map((line) => {
    const [name = '', version] = line.split('@')
    return version ? { name, version } : { name }
  })
}

/** The members of a pack as such lines. */
export function toLines(skills: Pack['skills']): string {
  return skills
    .map(({ fullName, pinnedVersion }) => (pinnedVersion ? `${fullName}@${pinnedVersion}` : fullName))
    .join('\n')
}
