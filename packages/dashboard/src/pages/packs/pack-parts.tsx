import type { api } from '../../api.ts'
import { Badge } from '../../ui/parts.tsx'

type Pack = Awaited<ReturnType<typeof api.getPack>>

/** The size that agent hosts reserve for their list of skills, in characters of names and descriptions. */
const listingCharactersMax = 8000

/** The share of an agent's context that the listing of a pack takes. */
export function Budget({ of }: { of: Pack['budget'] }) {
  const characters = of.listingCharacters.toLocaleString('en')
  if (of.fits) return <Badge tone="good">{characters} characters, fits the context</Badge>
  return <Badge tone="fair">{characters} characters, over the budget</Badge>
}

/** The context share of a pack as a bar, with an explanation. */
export function BudgetBar({ of }: { of: Pack['budget'] }) {
  const max = listingCharactersMax.toLocaleString('en')
  return (
    <section class="card">
      <h2>Context budget</h2>
      <meter
        min={0}
        max={listingCharactersMax}
        high={listingCharactersMax * 0.9}
        value={Math.min(of.listingCharacters, listingCharactersMax)}
        aria-label="Share of the context budget"
      />
      <p>
        The names and descriptions take {of.listingCharacters.toLocaleString('en')} of the {max} characters that hosts
        reserve for their list of skills.{' '}
        {of.fits
          ? 'An agent sees all of them.'
          : 'An agent will not see all of them: remove skills, or shorten descriptions.'}
      </p>
    </section>
  )
}

export type Visibility = Pack['visibility']

export const visibilityOptions = [
  ['public', 'Public: all users and guests'],
  ['internal', 'Internal: users of this node'],
  ['private', 'Private: only you, or members of its organisation above reader'],
] as const

/** Parses lines of `owner/name` or `owner/name@version`. */
export function toMembers(text: string): { name: string; version?: string }[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter(Boolean).map((line) => {
    const [name = '', version] = line.split('@')
    return version ? { name, version } : { name }
  })
}

/** The members of a pack as lines of `owner/name` or `owner/name@version`. */
export function toMemberLines(skills: Pack['skills']): string {
  return skills
    .map(({ fullName, pinnedVersion }) => (pinnedVersion ? `${fullName}@${pinnedVersion}` : fullName))
    .join('\n')
}
