import { parseVersionEntry, type Provenance, type PublisherIdentity } from '@skillstead/protocol'
import { addresses, nodeUrl, toAddress } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { Copyable, Empty, Time, Terms, UserLink } from '../../ui/parts.tsx'
import { Shown } from '../../ui/page.tsx'
import { Origin } from './facts-column.tsx'
import { Proof } from './proof.tsx'
import type { ShownSkill } from './shown-skill.ts'

/** The publisher and origin of the version, and the proof. */
export function ProvenanceTab({ shown }: { shown: ShownSkill }) {
  const { name, version } = shown
  const found = useData(
    ['skill', name, 'provenance', version],
    async () => {
      const record = await api.getProvenance({ name, version })
      // A version that is not public is in no log.
      const identity = record.log ? readIdentity(record.log.entry) : (await api.getVersion({ name, version })).identity
      return { record, identity }
    },
    version !== '',
  )
  if (!version) return <Empty>There is no version, so there is no provenance.</Empty>
  return (
    <Shown of={found}>
      {({ record, identity }) => (
        <>
          <Record record={record} identity={identity} />
          <Proof key={version} shown={shown} record={record} />
          <h2>With the command line</h2>
          <p class="hint">Verifies the same with pinned keys, which a page cannot store.</p>
          <Copyable text={`skillstead verify ${name} --version ${version} --url ${nodeUrl}`} />
        </>
      )}
    </Shown>
  )
}

function Record({ record, identity }: { record: Provenance; identity: PublisherIdentity | undefined }) {
  const { publisher, authorVerified, origin, log } = record
  return (
    <>
      <p>
        Version {record.version} was published <Time at={record.publishedAt} /> by{' '}
        <UserLink name={publisher.username} />
        {record.firstPublishedAt === record.publishedAt ? (
          '; it is the first of this skill.'
        ) : (
          <>
            ; the first version of this skill <Time at={record.firstPublishedAt} />.
          </>
        )}
      </p>
      <Terms
        of={[
          [
            'Author',
            authorVerified.length > 0
              ? `Verified by ${authorVerified.join(', ')}.`
              : 'Not verified: the identity behind this account is unproven.',
          ],
          ['Published from', <Publisher identity={identity} />],
          ['Origin', origin.kind === 'local' ? 'Published on this node.' : <Origin of={origin} />],
          ['Forked from', record.forkChain.length === 0 ? 'Not a fork.' : <Chain record={record} />],
          ['Log', log ? <LogEntry log={log} /> : 'Not logged, because it is not public.'],
          ['Digest', <code>{record.digest}</code>],
        ]}
      />
    </>
  )
}

function LogEntry({ log }: { log: NonNullable<Provenance['log']> }) {
  return (
    <>
      Entry {(log.index + 1).toLocaleString('en')} of {log.treeSize.toLocaleString('en')} in the log of{' '}
      <bdi>{log.origin}</bdi>
    </>
  )
}

/** The CI job that published the version. */
function Publisher({ identity }: { identity: PublisherIdentity | undefined }) {
  if (!identity) return <>A person, or a program with an API key.</>
  return (
    <>
      CI of <bdi>{identity.issuer}</bdi>:{' '}
      <bdi>
        {Object.entries(identity.claims)
          .map(([name, value]) => `${name} ${value}`)
          .join(', ')}
      </bdi>
    </>
  )
}

function readIdentity(entry: string) {
  try {
    return parseVersionEntry(JSON.parse(entry)).data.identity
  } catch {
    return undefined
  }
}

function Chain({ record: { forkChain } }: { record: Provenance }) {
  return (
    <ol class="words">
      {forkChain.slice(0, 50).map(({ fullName, version }) => (
        <li key={`${fullName} ${version}`}>
          <a href={toAddress(addresses.skill(fullName), { version })}>
            <bdi>{fullName}</bdi> {version}
          </a>
        </li>
      ))}
    </ol>
  )
}
