import { ciServices, isOneOf, keysOf, type TrustedPublisher } from '@skillstead/protocol'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useMe } from '../../session.ts'
import { ConfirmButton, Field, Form, onlyFilled, Select, TextArea, type Fields } from '../../ui/form.tsx'
import { type Column, DataTable, Page, toTimeColumn, usePaged } from '../../ui/page.tsx'
import type { SectionProps } from '../../organisations.ts'

type Service = keyof typeof ciServices

/** The claims that a form asks for, by service: name, label and an example; the first is required. */
const claimFields: Readonly<Record<Service, readonly (readonly [claim: string, label: string, example: string])[]>> = {
  github: [
    ['repository', 'Repository', 'acme/skills'],
    ['ref', 'Branch or tag', 'refs/heads/main, or refs/tags/*'],
    ['environment', 'Environment', 'release'],
    ['job_workflow_ref', 'Workflow', 'acme/skills/.github/workflows/release.yml@*'],
  ],
  gitlab: [
    ['project_path', 'Project', 'acme/skills'],
    ['ref', 'Branch or tag', 'main'],
    ['environment', 'Environment', 'release'],
  ],
  buildkite: [
    ['organization_slug', 'Organisation', 'acme'],
    ['pipeline_slug', 'Pipeline', 'skills'],
    ['build_branch', 'Branch', 'main'],
  ],
}
const services = Object.entries(ciServices)
const serviceOptions = [...services.map(([name, { title }]) => [name, title] as const), ['', 'Another issuer'] as const]

const columns: readonly Column<TrustedPublisher>[] = [
  { title: 'May publish', names: true, by: ({ target }) => target, cell: ({ target }) => toTargetText(target) },
  { title: 'Jobs of', by: ({ issuer }) => issuer, cell: ({ issuer }) => toIssuerText(issuer) },
  { title: 'With the claims', cell: (one) => <Claims of={one} /> },
  { title: 'Added by', by: ({ createdBy }) => createdBy },
  toTimeColumn('Added', ({ createdAt }) => createdAt),
  { title: 'Action', cell: (one) => <Remove of={one} /> },
]

/** The CI jobs that may publish the skills of the signed-in user without a key. */
export const TrustedIdentitiesPage = () => (
  <Page title="Publishing from CI">
    <TrustedIdentities owner={useMe()!.username} />
  </Page>
)

/** The CI jobs that may publish the skills of an organisation. */
export const TrustedSection = ({ organisation }: SectionProps) => <TrustedIdentities owner={organisation.name} />

function TrustedIdentities({ owner }: { owner: string }) {
  const found = usePaged(['trusted', owner], (page) => api.listTrustedPublishers({ owner, page }))
  return (
    <>
      <p class="hint">
        CI jobs that publish without a stored key: their service vouches for them.{' '}
        <a href="/docs/ci">About publishing from CI</a>
      </p>
      <DataTable of={found} items="publishers" label="Trusted identities" columns={columns}>
        No CI job may publish.
      </DataTable>
      {found.data && <NewIdentity owner={owner} />}
    </>
  )
}

function NewIdentity({ owner }: { owner: string }) {
  const [service, choose] = useState<string>('github')
  const fields = isOneOf(keysOf(claimFields), service) ? claimFields[service] : []
  const add = ({ skill, issuer = '', more = '', ...claims }: Fields) =>
    api.putTrustedPublisher({
      target: skill ? `${owner}/${skill}` : owner,
      issuer: services.find(([name]) => name === service)?.[1].issuer ?? issuer,
      claims: { ...onlyFilled(claims), ...readLines(more) },
    })
  return (
    <Form card="Trust CI jobs" work={add} submit="Trust these jobs" done="Added.">
      <p class="hint">
        All that is filled in must fit, with its case; <code>*</code> stands for any text. The claims are shown with
        each version, and are public for ever if the skill is.
      </p>
      <Field label="Skill" name="skill" maxLength={64}>
        Its name without {owner}. Empty: all skills of {owner}.
      </Field>
      <Select label="Jobs of" name="" value={service} options={serviceOptions} onChange={choose} />
      {fields.length === 0 && <Field label="Issuer" name="issuer" type="url" required hint="The iss of its tokens." />}
      {fields.map(([claim, label, example], place) => (
        <Field key={claim} label={label} name={claim} maxLength={500} required={place === 0}>
          As in {example}.
        </Field>
      ))}
      <TextArea
        key={service}
        label={fields.length === 0 ? 'Claims' : 'Other claims'}
        name="more"
        required={fields.length === 0}
        hint="One per line, as in ref_protected=true."
      />
    </Form>
  )
}

const Remove = ({ of: { id, target, issuer, claims } }: { of: TrustedPublisher }) => (
  <ConfirmButton action="Remove" title="Trust these jobs no longer?" work={() => api.deleteTrustedPublisher({ id })}>
    <Claims of={{ claims }} />
    <p>
      Jobs of {toIssuerText(issuer)} with these claims can no longer publish {toTargetText(target)}. Keys that they were
      given end at once, so a job that is running fails. Published versions stay, and continue to name these claims.
    </p>
  </ConfirmButton>
)

const Claims = ({ of: { claims } }: { of: Pick<TrustedPublisher, 'claims'> }) => (
  <div>
    {Object.entries(claims).map(([name, value]) => (
      <div key={name}>
        {name}: <code>{value}</code>
      </div>
    ))}
  </div>
)

const toTargetText = (target: string): string => (target.includes('/') ? target : `all of ${target}`)

const toIssuerText = (issuer: string): string =>
  services.find(([, service]) => service.issuer === issuer)?.[1].title ?? issuer

/** The claims of a text with one `name=value` per line. The node rejects claims without a name or value. */
function readLines(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const pairs = lines.map((line) => line.split('='))
  return Object.fromEntries(pairs.map(([name = '', ...value]) => [name.trim(), value.join('=').trim()]))
}
