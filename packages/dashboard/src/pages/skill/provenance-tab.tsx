import { parseVersionEntry, type Provenance, type PublisherIdentity } from '@skillstead/protocol'
import { nodeUrl } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { Copyable, Empty, Time, Terms, UserLink } from '../../ui/parts.tsx'
import { VersionLink } from '../../ui/skill-list.tsx'
import { Shown } from '../../ui/page.tsx'
import { Origin } from './facts-column.tsx'
import { type ShownSkill, toContentBytes } from './shown-skill.ts'
import type { ProvenanceReport } from '@skillstead/client/verify'
import { useState } from 'preact/hooks'
import { Form, TextArea, useAction, type Fields } from '../../ui/form.tsx'

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
  const { publisher, authorVerified, origin, forkChain, log } = record
  const entry = log && (
    <>
      Entry {(log.index + 1).toLocaleString('en')} of {log.treeSize.toLocaleString('en')} in the log of{' '}
      <bdi>{log.origin}</bdi>
    </>
  )
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
          ['Published from', identity ? <Job identity={identity} /> : 'A person, or a program with an API key.'],
          ['Origin', origin.kind === 'local' ? 'Published on this node.' : <Origin of={origin} />],
          ['Forked from', forkChain.length === 0 ? 'Not a fork.' : <Chain of={forkChain} />],
          ['Log', entry ?? 'Not logged, because it is not public.'],
          ['Digest', <code>{record.digest}</code>],
        ]}
      />
    </>
  )
}

/** The CI job that published the version. */
function Job({ identity: { issuer, claims } }: { identity: PublisherIdentity }) {
  const words = Object.entries(claims).map(([name, value]) => `${name} ${value}`)
  return (
    <>
      CI of <bdi>{issuer}</bdi>: <bdi>{words.join(', ')}</bdi>
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

const Chain = ({ of }: { of: Provenance['forkChain'] }) => (
  <ol class="words">
    {of.slice(0, 50).map(({ fullName, version }) => (
      <li key={`${fullName} ${version}`}>
        <VersionLink fullName={fullName} version={version} />
      </li>
    ))}
  </ol>
)

interface Outcome {
  readonly report: ProvenanceReport
  /** The keys that the visitor entered; keys that the node itself sends prove less. */
  readonly ownKeys: readonly string[]
}

/** Verifies in the browser the signatures of the record and of the log, and that the archive matches both. */
function Proof({ shown, record }: { shown: ShownSkill; record: Provenance }) {
  const [outcome, setOutcome] = useState<Outcome>()
  const action = useAction(async ({ keys = '' }: Fields) => {
    setOutcome(undefined)
    const ownKeys = toLines(keys)
    setOutcome({ ownKeys, report: await verifyInBrowser(shown, record, ownKeys) })
  }, true)
  return (
    <section aria-label="Proof">
      <h2>Verify it yourself</h2>
      <p>
        This downloads the files and verifies in your browser that they are the published ones and that the log contains
        them.
      </p>
      <Form action={action} submit="Verify">
        <details>
          <summary>Use keys from another source</summary>
          <TextArea label="Verifier keys, one per line" name="keys" rows={2}>
            In the format of `skillstead key`. Empty: the key that this node publishes. For a mirrored skill, add the
            key of its origin node.
          </TextArea>
        </details>
      </Form>
      {outcome && <Said outcome={outcome} record={record} />}
    </section>
  )
}

async function verifyInBrowser({ name, version }: ShownSkill, record: Provenance, ownKeys: readonly string[]) {
  const [{ verifyProvenance }, { unzipSync }] = await Promise.all([
    import('@skillstead/client/verify'),
    import('fflate'),
  ])
  const [archive, { files }] = await Promise.all([
    api.getArchive({ name, version, allowRecalled: true }).then(toContentBytes),
    api.getVersion({ name, version }),
  ])
  // fflate does not return modes, so they come from the list of files. The digest covers modes, so a false list is
  // noticed.
  const modes = new Map(files.map(({ path, executable = false }) => [path, executable]))
  const content = Object.entries(unzipSync(archive)).map(([path, bytes]) => ({
    path,
    bytes,
    executable: modes.get(path),
  }))
  const keys = ownKeys.length > 0 ? ownKeys : toLines(decoder.decode(toContentBytes(await api.getPublicKey())))
  return verifyProvenance(record, { keys, content })
}

const decoder = new TextDecoder()
const toLines = (text: string): string[] => text.split('\n').flatMap((line) => line.trim() || [])

function Said({ outcome: { report, ownKeys }, record }: { outcome: Outcome; record: Provenance }) {
  if (!report.ok) return <Refuted problems={report.problems} record={record} />
  const { signers, entry, unproven, provenance } = report
  return (
    <div class="notice good proof" role="status">
      <strong class="good">Verified: all checks passed.</strong>
      <ul>
        <li>The files from this node match the digest, byte for byte.</li>
        {entry && (
          <>
            <li>
              The log of <bdi>{provenance.log!.origin}</bdi> contains this version as entry{' '}
              {(provenance.log!.index + 1).toLocaleString('en')}, since {entry.at}, published by{' '}
              <bdi>{entry.data.publisher.username}</bdi>.
            </li>
            <li>The log’s checkpoint is signed, and its tree contains the entry.</li>
          </>
        )}
        {signers.map(({ name, hash }) => (
          <li key={hash}>
            The record is signed by the key{' '}
            <code>
              {name}+{hash}
            </code>
            .
          </li>
        ))}
      </ul>
      <strong>Not proven:</strong>
      <ul>
        {ownKeys.length === 0 && (
          <li>
            That the key is the right one: it came from this node. Compare it with the one that its operator publishes
            elsewhere.
          </li>
        )}
        {!entry && <li>That other users see the same content: only public skills are in the log.</li>}
        {unproven.length > 0 && (
          <li>
            {unproven.map((field) => fieldWords[field]).join(', ')}: stated only by the mirror, whose key was not given.
          </li>
        )}
        {unproven.length === 0 && (
          <li>That the author verification, forks and origin are true: only the signer states them.</li>
        )}
        <li>That the skill is harmless. See the scan, and read the skill.</li>
      </ul>
    </div>
  )
}

const fieldWords = {
  firstPublishedAt: 'when the first version was published',
  authorVerified: 'that the author is verified',
  forkChain: 'what it was forked from',
  origin: 'where it comes from',
}

function Refuted({ problems, record }: { problems: readonly { part: string; message: string }[]; record: Provenance }) {
  const isMissingKey = record.origin.kind === 'mirror' && problems.every(({ message }) => /not given/.test(message))
  return (
    <div class="problem proof" role="alert">
      <strong class="bad">
        {isMissingKey ? 'Not verified: a key is missing.' : 'Verification failed. Do not install this version.'}
      </strong>
      <ul>
        {problems.map(({ part, message }) => (
          <li key={part + message}>
            {part}: <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
      <p>
        {isMissingKey
          ? 'A mirrored skill is proven by the log of its origin node. Get the key of that node from its operator, and enter it above.'
          : 'The content from this node does not match what was published and signed. Report it to the operator, and get the skill from another source.'}
      </p>
    </div>
  )
}
