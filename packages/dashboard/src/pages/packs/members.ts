import type { api } from '../../api.ts'

type Pack = Awaited<ReturnType<typeof api.getPack>>
export type Visibility = Pack['visibility']

export const visibilityOptions = [
  ['public', 'Public: everybody'],
  ['internal', 'Internal: whoever has a key of this node'],
  ['private', 'Private: you alone'],
] as const

/** Lines of `owner/name` or `owner/name@version`, as the interface takes them. */
export function toMembers(text: string): { name: string; version?: string }[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter(Boolean).map((line) => {
    const [name = '', version] = line.split('@')
    return version ? { name, version } : { name }
  })
}

/** The same lines, of what a pack holds. */
export function toLines(skills: Pack['skills']): string {
  return skills
    .map(({ fullName, pinnedVersion }) => (pinnedVersion ? `${fullName}@${pinnedVersion}` : fullName))
    .join('\n')
}
