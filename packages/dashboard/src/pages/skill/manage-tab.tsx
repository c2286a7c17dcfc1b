import type { Downloads, Recall, Recalls, SkillDetails } from '@skillstead/protocol'
import { useLocation } from 'preact-iso'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api, useData } from '../../api.ts'
import { site } from '../../site.ts'
import { ConfirmButton, Field, Form, Select, TextArea, ActionButton, choice, type Fields } from '../../ui/form.tsx'
import { Standing } from './standing.tsx'
import { type ShownSkill, useDownloads } from './shown-skill.ts'
import { Badge, Time, toCount, UserLink, NewSecret } from '../../ui/parts.tsx'
import { DataTable, Shown, usePaged, type Column, ItemList } from '../../ui/page.tsx'
import { toVisibilityFields, toVisibilityOptions, useRoles } from '../../organisations.ts'
import { ModerationDecision } from '../admin/decide.tsx'
import { nodeUrl } from '../../addresses.ts'

/** The actions on a skill: of its owner, or of members of its organisation by their roles; and of administrators. */
export function ManageTab({ shown: { skill } }: { shown: ShownSkill }) {
  const { mayPublish, isOwner, isAdmin } = useRoles(skill)
  const name = skill.fullName
  return (
    <>
      {isOwner && <Standing name={name} />}
      {mayPublish && (
        <>
          <Section title="Details and visibility">{() => <Details skill={skill} />}</Section>
          <Section title="Versions">{() => <Yanks skill={skill} />}</Section>
          <Section title="Deprecation">{() => <Deprecation skill={skill} />}</Section>
        </>
      )}
      {isOwner && (
        <>
          <Section title="Downloads">{() => <DownloadGroups name={name} />}</Section>
          {site.recordsInstallers && <Section title="Installed by">{() => <InstalledBy name={name} />}</Section>}
          {skill.visibility !== 'public' && <Section title="Share links">{() => <Shares name={name} />}</Section>}
          <Section title="Collaborators and transfer">{() => <HandOver name={name} />}</Section>
        </>
      )}
      {(isOwner || isAdmin) && <Section title="Recalls">{() => <RecallsOfSkill name={name} />}</Section>}
      {isAdmin && <Section title="Moderation">{() => <ModerationOfSkill name={name} />}</Section>}
      {isOwner && <Section title="Delete">{() => <Withdrawal name={name} />}</Section>}
    </>
  )
}

/** A part of the tab that loads when it is opened. */
function Section({ title, children }: { title: string; children: () => ComponentChildren }) {
  const [isOpened, setOpened] = useState(false)
  return (
    <details class="section" onToggle={(event) => setOpened(isOpened || event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpened && children()}
    </details>
  )
}

type Group = NonNullable<Downloads['groups']>[number]

const columnsOf = (title: string, words: Readonly<Record<string, string>>): readonly Column<Group>[] => [
  { title, names: true, cell: ({ name }) => words[name] ?? name },
  { title: 'Downloads', number: true, cell: ({ downloads }) => downloads.toLocaleString('en') },
  { title: 'Installs', number: true, cell: ({ installs }) => installs.toLocaleString('en') },
]
const groupings = {
  version: columnsOf('Version', { other: 'Not known' }),
  client: columnsOf('Client', {
    cli: 'skillstead install',
    api: 'API',
    browser: 'Browser',
    oci: 'OCI',
    mcp: 'Agents (MCP)',
    discovery: 'Skill indexes',
    marketplaces: 'Marketplaces',
    other: 'Reported, or not known',
  }),
} as const

/** The downloads of the last 30 days by version and by client; the facts of the skill show them by day. */
const DownloadGroups = ({ name }: { name: string }) => (
  <>
    <DownloadTable name={name} by="version" />
    <DownloadTable name={name} by="client" />
    <p class="faint">The last 30 days, in UTC. An install is a download too. Only counts are stored.</p>
  </>
)

function DownloadTable({ name, by }: { name: string; by: keyof typeof groupings }) {
  const downloads = useDownloads(name, by)
  return (
    <DataTable of={downloads} items="groups" label={`Downloads by ${by}`} columns={groupings[by]} rowKey="name">
      {`No downloads by ${by} in the last 30 days.`}
    </DataTable>
  )
}

function InstalledBy({ name }: { name: string }) {
  const found = usePaged(['skill', name, 'installers'], (page) => api.listInstallers({ name, page }))
  return (
    <>
      <DataTable of={found} items="installers" label="Users who installed it" columns={installers} rowKey="username">
        No signed-in user installed it yet.
      </DataTable>
      <p class="faint">The last install of each user within a year, by its day in UTC. Users see that you see this.</p>
    </>
  )
}

type Installer = Awaited<ReturnType<typeof api.listInstallers>>['installers'][number]
const installers: readonly Column<Installer>[] = [
  { title: 'User', names: true, cell: ({ username }) => <UserLink name={username} /> },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Day', cell: ({ day }) => day },
]

function Deprecation({ skill: { fullName, deprecated, deprecationMessage } }: { skill: SkillDetails }) {
  const change = ({ message = '' }) =>
    api.publishSkill({ name: fullName, deprecated: !deprecated, deprecationMessage: message })
  return (
    <Form work={change} submit={deprecated ? 'Undo the deprecation' : 'Deprecate'}>
      {deprecated ? (
        <p dir="auto">This skill is deprecated. {deprecationMessage}</p>
      ) : (
        <Field label="What to use instead" name="message" maxLength={1000}>
          Shown to users who have it installed.
        </Field>
      )}
    </Form>
  )
}

function Details({ skill }: { skill: SkillDetails }) {
  const { isOwner, organisation } = useRoles(skill)
  const current = skill.organisation === undefined ? skill.visibility : 'organisation'
  const change = ({ visibility, keywords = '', ...fields }: Fields) => {
    const words = keywords.split(',').map((word) => word.trim())
    const given = { ...fields, ...toVisibilityFields(visibility, organisation), keywords: words.filter(Boolean) }
    return api.publishSkill({ name: skill.fullName, ...given })
  }
  return (
    <Form work={change} submit="Save" done="Saved.">
      {isOwner && (
        <Select label="Visibility" name="visibility" value={current} options={toVisibilityOptions(organisation)} />
      )}
      <Field label="Display name" name="displayName" maxLength={100} required defaultValue={skill.displayName} />
      <TextArea label="Description" name="description" required maxLength={1024} value={skill.description}>
        Stays when you publish the next version, unless the description in its SKILL.md changed.
      </TextArea>
      <Field label="Category" name="category" maxLength={64} defaultValue={skill.category} />
      <Field label="Licence" name="license" maxLength={128} defaultValue={skill.license} />
      <Field label="Keywords" name="keywords" defaultValue={skill.keywords.join(', ')} hint="Separated by commas." />
      <Field label="Repository" name="repository" type="url" maxLength={500} defaultValue={skill.repository} />
    </Form>
  )
}

function Withdrawal({ name }: { name: string }) {
  const { route } = useLocation()
  return (
    <ConfirmButton
      action="Delete the skill"
      title={`Withdraw ${name}?`}
      work={async () => {
        await api.deleteSkill({ name })
        // Leave the page before its data is loaded again, because the deleted skill has none.
        route('/account/skills')
      }}
    >
      <p>
        It is deleted for all users, on mirrors too, and its name cannot be used again. This cannot be undone. To advise
        against it, deprecate it instead; to withdraw one version, yank that version.
      </p>
    </ConfirmButton>
  )
}

/** The moderation of a skill by administrators, who need no report for it. */
const ModerationOfSkill = ({ name }: { name: string }) => (
  <>
    <Shown of={useData(['moderation', name], () => api.getModeration({ name }))}>
      {({ state, reason }) => (
        <p class="facts">
          <Badge tone={state === 'shown' ? 'good' : 'bad'}>{state}</Badge>
          <bdi>{reason}</bdi>
        </p>
      )}
    </Shown>
    <ModerationDecision name={name} />
  </>
)

/** The recalls of a skill, who is known to have a recalled version, and a form for another recall. */
function RecallsOfSkill({ name }: { name: string }) {
  const recall = ({ range = '', reason = '' }) => api.recallSkill({ name, range, reason })
  return (
    <>
      <Shown of={useData(['skill', name, 'recalls'], () => api.listRecalls({ name }))}>
        {({ recalls, known }) => (
          <>
            <ul class="plain">
              {recalls.map((one) => (
                <RecallLine key={one.id} name={name} recall={one} />
              ))}
            </ul>
            {known && <Known known={known} />}
          </>
        )}
      </Shown>
      <Form work={recall} submit="Recall" done="Recalled.">
        <Field label="Versions" name="range" required maxLength={200}>
          {'Such as 1.2.3, >=1.0.0 <1.4.2, or * for all. Also covers versions published later.'}
        </Field>
        <TextArea label="Reason" name="reason" required rows={2} maxLength={500}>
          Shown to everyone. Installers and agents refuse these versions at once; you can end the recall.
        </TextArea>
      </Form>
    </>
  )
}

function RecallLine({ name, recall }: { name: string; recall: Recall }) {
  const { id, range, reason, at, endedAt, upstream, versionCount } = recall
  return (
    <li class="row">
      <code>{range}</code>
      <bdi>{reason}</bdi>
      <Time at={at} />
      <span class="faint">{toCount(versionCount, 'version')}</span>
      {endedAt && <Time at={endedAt} verb="ended" />}
      {!endedAt && upstream && <span class="faint">of the upstream, which alone can end it</span>}
      {!endedAt && !upstream && (
        <ConfirmButton action="End" title={`End the recall of ${range}?`} work={() => api.endRecall({ name, id })}>
          <p>
            Versions that are not yanked, and that no other recall covers, are offered to installers and agents again.
            The log keeps the recall and its end.
          </p>
        </ConfirmButton>
      )}
    </li>
  )
}

/** The numbers of agents and users that are known to have a recalled version; no one is named. */
function Known({ known: { agents, users } }: { known: NonNullable<Recalls['known']> }) {
  if (agents.length + users.length === 0) return <p class="faint">No one is known to have a recalled version.</p>
  return (
    <>
      <p>Known to have a recalled version, from heartbeats and installs:</p>
      <ul>
        {agents.map(({ version, platform, count }) => (
          <li key={`${version} ${platform}`}>
            {version}: {toCount(count, 'agent')} of <bdi>{platform}</bdi>
          </li>
        ))}
        {users.map(({ version, count }) => (
          <li key={version}>
            {version}: {toCount(count, 'user')}
          </li>
        ))}
      </ul>
    </>
  )
}

/** Versions that can be yanked and unyanked. */
function Yanks({ skill }: { skill: SkillDetails }) {
  const name = skill.fullName
  const found = useData(['skill', name, 'yanks', skill.updatedAt], () => api.listVersions({ name, limit: 20 }))
  return (
    <>
      <ul class="plain">
        <Shown of={found}>
          {({ versions }) =>
            versions.map(({ version, yanked, publishedAt }) => (
              <li key={version} class="row">
                <strong>{version}</strong>
                <Time at={publishedAt} />
                {yanked ? (
                  <>
                    <Badge tone="bad">yanked</Badge>
                    <ActionButton work={() => api.unyankVersion({ name, version })}>
                      Undo the yank of {version}
                    </ActionButton>
                  </>
                ) : (
                  <ConfirmButton
                    action={`Yank ${version}`}
                    title={`Yank ${version}?`}
                    work={() => api.yankVersion({ name, version })}
                  >
                    <p>
                      Users who installed it are warned. It is served only to users who name it exactly. You can undo
                      this.
                    </p>
                  </ConfirmButton>
                )}
              </li>
            ))
          }
        </Shown>
      </ul>
      <p class="faint">The latest 20. A yanked version is installed only by users who name it exactly.</p>
    </>
  )
}

const roles = [
  ['read', 'may read it'],
  ['write', 'may publish it'],
] as const

/** The collaborators of a skill, and its transfer. */
function HandOver({ name }: { name: string }) {
  const people = useData(['collaborators', name], () => api.listCollaborators({ name }))
  const add = ({ username = '', role }: Fields) => api.putCollaborator({ name, username, role: choice(roles, role) })
  const transfer = ({ newOwner = '' }) => api.transferSkill({ name, newOwner })
  return (
    <>
      <section>
        <h2>Collaborators</h2>
        <ItemList of={people} items="collaborators">
          {({ username, role, status }) => (
            <li key={username} class="row">
              <bdi>{username}</bdi>
              <span class="faint">
                {roles.find(([value]) => value === role)?.[1]}
                {status === 'invited' && ', invited'}
              </span>
              <ActionButton danger work={() => api.deleteCollaborator({ name, username })}>
                Remove {username}
              </ActionButton>
            </li>
          )}
        </ItemList>
        <Form work={add} submit="Invite" done="Invited. The user sees the skill after accepting.">
          <Field label="User" name="username" required />
          <Select label="Who" name="role" options={roles} />
        </Form>
      </section>
      <section>
        <h2>Transfer</h2>
        <p class="hint">
          Open offers are in <a href="/account">your inbox</a>, where you can withdraw them.
        </p>
        <Form work={transfer} submit="Offer" done="Offered. The transfer happens when the new owner accepts.">
          <Field label="New owner" name="newOwner" required hint="The former address redirects to the new one." />
        </Form>
      </section>
    </>
  )
}

/** Share links, which give read access to a skill that is not public. */
function Shares({ name }: { name: string }) {
  const [token, setToken] = useState<string>()
  const shares = useData(['shares', name], () => api.listShares({ name }))
  const make = async ({ days }: Fields) =>
    setToken((await api.createShare({ name, expiresInDays: Number(days) })).token)
  return (
    <section>
      <h2>Share links</h2>
      {token !== undefined && (
        <NewSecret
          label="The share link"
          text={`npx skills add ${nodeUrl}/t/${token}`}
          onDone={() => setToken(undefined)}
        >
          Copy it now: it is shown only once. It gives read access to this skill.
        </NewSecret>
      )}
      <Form work={make} submit="Create link">
        <Field label="Expires after, in days" name="days" type="number" min={1} max={365} required defaultValue="7" />
      </Form>
      <ItemList of={shares} items="shares">
        {({ id, createdAt, expiresAt }) => (
          <li key={id} class="row">
            <span>
              made <Time at={createdAt} />, ends <Time at={expiresAt} />
            </span>
            <ActionButton danger work={() => api.deleteShare({ name, id })}>
              Revoke
            </ActionButton>
          </li>
        )}
      </ItemList>
    </section>
  )
}
