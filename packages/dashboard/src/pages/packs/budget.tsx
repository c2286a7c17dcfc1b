import type { api } from '../../api.ts'
import { Badge } from '../../ui/parts.tsx'

type Pack = Awaited<ReturnType<typeof api.getPack>>

/** What hosts give to their list of skills, in characters of names and descriptions. */
const listingCharactersMax = 8000

/** How much of an agent's context the list of a pack's skills takes. */
export function Budget({ of }: { of: Pack['budget'] }) {
  const characters = of.listingCharacters.toLocaleString('en')
  if (of.fits) return <Badge tone="good">{characters} characters, fits the context</Badge>
  return <Badge tone="fair">{characters} characters, over the budget</Badge>
}

/** The same as a bar, with what it means. */
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
        give to their list of skills.{' '}
        {of.fits
          ? 'All of them are seen by an agent.'
          : 'Some will not be seen by an agent: take skills out, or shorten descriptions.'}
      </p>
    </section>
  )
}
