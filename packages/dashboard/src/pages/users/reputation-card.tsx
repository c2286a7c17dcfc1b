import { api, useData } from '../../api.ts'
import { Time, Badge } from '../../ui/parts.tsx'
import { Shown } from '../../ui/page.tsx'

/** The components of a reputation with the maximum points of each: docs/reputation.md. */
const components = [
  { name: 'reviews', title: 'Reviews', most: 250 },
  { name: 'stars', title: 'Stars', most: 250 },
  { name: 'quality', title: 'Quality', most: 200 },
  { name: 'downloads', title: 'Downloads', most: 150 },
  { name: 'verification', title: 'Verification', most: 150 },
] as const

/** The reputation of an author, with its components. */
export function ReputationCard({ username }: { username: string }) {
  const reputation = useData(['reputation', username], () => api.getReputation({ username }))
  return (
    <section class="card" aria-label="Reputation">
      <h2>Reputation</h2>
      <Shown of={reputation}>
        {({ score, level, rank, verified, badges, computedAt, components: points }) => (
          <>
            <p class="score">
              {score.toLocaleString('en')} <small>of 1,000</small>
            </p>
            <p>
              <strong>{level}</strong>, rank {rank.toLocaleString('en')}
            </p>
            <Components of={points} />
            {verified.length > 0 && (
              <>
                <h3>Verified</h3>
                <VerifiedMethods methods={verified} />
              </>
            )}
            {badges.length > 0 && (
              <>
                <h3>Badges</h3>
                <ul class="badges">
                  {badges.map(({ id, title, since }) => (
                    <li key={id}>
                      {title} <Time at={since} faint />
                    </li>
                  ))}
                </ul>
              </>
            )}
            <p class="faint">
              Computed <Time at={computedAt} />
            </p>
          </>
        )}
      </Shown>
    </section>
  )
}

const Components = ({ of }: { of: Awaited<ReturnType<typeof api.getReputation>>['components'] }) => (
  <table class="components">
    <caption class="unseen">Components of the score</caption>
    <thead class="unseen">
      <tr>
        <th scope="col">Component</th>
        <th scope="col">Points</th>
      </tr>
    </thead>
    <tbody>
      {components.map(({ name, title, most }) => (
        <tr key={name}>
          <th scope="row">
            {title}
            <meter min={0} max={most} value={of[name]} aria-label={title} />
          </th>
          <td>
            {of[name]} of {most}
          </td>
        </tr>
      ))}
      {of.penalties < 0 && (
        <tr>
          <th scope="row">Penalties</th>
          <td class="bad">{of.penalties}</td>
        </tr>
      )}
    </tbody>
  </table>
)

const methodTitles = { github: 'GitHub', domain: 'domain', manual: 'manual' } as const

/** The methods by which an author was verified; empty for unverified authors. */
export const VerifiedMethods = ({ methods }: { methods: readonly (keyof typeof methodTitles)[] }) =>
  methods.length > 0 && (
    <span class="row">
      {methods.map((method) => (
        <Badge key={method} tone="good">
          {methodTitles[method]}
        </Badge>
      ))}
    </span>
  )
