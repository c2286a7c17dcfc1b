import { api } from '../../api.ts'
import { useData } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'
import { useAddress } from '../../data/use-address.ts'
import { Check, Select } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { Pager, toPageNumber } from '../../ui/pager.tsx'
import { Badge, Count, Empty, SecurityBadge, Time } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { NewEntry, RemoveEntry } from './index-entry.tsx'
import { ScanForm } from './scan-form.tsx'

const registryOptions = [
  ['all', 'All'],
  ['github', 'GitHub'],
  ['skills.sh', 'skills.sh'],
] as const
type Registry = (typeof registryOptions)[number][0]

/** Indexed skills of other registries, and a form that scans a skill before an install. */
export default function ExternalPage() {
  const me = useMe()
  return (
    <Page title="External skills">
      <p class="faint">Indexed skills of other registries. This node does not serve their content.</p>
      {me === null ? (
        <section class="card">
          <h2>Scan a skill before you install it</h2>
          <p>
            <SignInLink>Sign in</SignInLink> to scan a skill by its URL or its text.
          </p>
        </section>
      ) : (
        me && <ScanForm />
      )}
      {me?.role === 'admin' && <NewEntry />}
      <Known />
    </Page>
  )
}

function Known() {
  const { fields, change } = useAddress()
  const isAdmin = useMe()?.role === 'admin'
  const registry = (registryOptions.find(([value]) => value === fields.registry)?.[0] ?? 'all') satisfies Registry
  const verified = fields.verified === 'true' || undefined
  const wanted = { registry, verified, page: toPageNumber(fields.page) }
  const found = useData(['external', wanted], () => api.listExternal(wanted))
  return (
    <>
      <div class="filters">
        <Select
          label="Registry"
          name="registry"
          value={registry}
          options={registryOptions}
          onChange={(value) => change({ registry: value === 'all' ? undefined : value, page: undefined })}
        />
        <Check
          checked={verified === true}
          onChange={(event) => change({ verified: event.currentTarget.checked ? 'true' : undefined, page: undefined })}
        >
          Scanned
        </Check>
      </div>
      <Shown of={found}>
        {({ externalSkills, total, page, totalPages }) => (
          <>
            {externalSkills.length === 0 && (
              <Empty>
                <p>None are known{total === 0 && registry === 'all' && !verified ? ' yet' : ' of this kind'}.</p>
                <p>They appear here when a user reports an install from another registry, or imports a list.</p>
              </Empty>
            )}
            <ul class="plain">
              {externalSkills.map((skill) => (
                <li key={skill.id}>
                  <h2>
                    <a href={toWebAddress(skill.url)} rel="noopener noreferrer nofollow">
                      <bdi>{skill.name}</bdi>
                    </a>
                  </h2>
                  <p dir="auto">{skill.description}</p>
                  <p class="facts">
                    <Badge>{skill.registry}</Badge>
                    <SecurityBadge score={skill.securityScore} />
                    {skill.author && <bdi>{skill.author}</bdi>}
                    <Count of={skill.installs} unit="install" />
                    {skill.scannedAt && (
                      <span>
                        scanned <Time at={skill.scannedAt} />
                      </span>
                    )}
                  </p>
                  {isAdmin && <RemoveEntry id={skill.id} name={skill.name} />}
                </li>
              ))}
            </ul>
            <Pager page={page} totalPages={totalPages} />
          </>
        )}
      </Shown>
    </>
  )
}

/** Only http and https links: other schemes can run code. */
function toWebAddress(url: string): string | undefined {
  return /^https?:\/\//i.test(url) ? url : undefined
}
