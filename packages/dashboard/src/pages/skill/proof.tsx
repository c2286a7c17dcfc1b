import type { ProvenanceReport } from '@skillstead/client/verify'
import type { Provenance } from '@skillstead/protocol'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { Form, TextArea, useAction } from '../../ui/form.tsx'
import { toBytes, type ShownSkill } from './shown-skill.ts'

interface Outcome {
  readonly report: ProvenanceReport
  /** Keys that whoever looks brought along; those of the node are its own word. */
  readonly ownKeys: readonly string[]
}

/** Checks the record in the browser: its signature, the log's, and that the archive is what they are about. */
export function Proof({ shown, record }: { shown: ShownSkill; record: Provenance }) {
  const [outcome, setOutcome] = useState<Outcome>()
  const action = useAction(async ({ keys = '' }: Record<string, string>) => {
    setOutcome(undefined)
    const ownKeys = keys.split('\n').flatMap((line) => line.trim() || [])
    setOutcome({ ownKeys, report: await verify(shown, record, ownKeys) })
  })
  return (
    <section aria-label="Proof">
      <h2>Check it yourself</h2>
      <p>
        This downloads the files and checks, in your browser and without asking anybody, that they are the ones that
        were published and that the log holds them.
      </p>
      <Form action={action} submit="Verify">
        <details>
          <summary>Check with keys that I have from elsewhere</summary>
          <TextArea
            label="Verifier keys, one a line"
            name="keys"
            rows={2}
            hint="As `skillstead key` prints them. Without any, the key that this node gives is used. For what is mirrored, also that of the node it comes from."
          />
        </details>
      </Form>
      {outcome && <Said outcome={outcome} record={record} />}
    </section>
  )
}

async function verify({ name, version }: ShownSkill, record: Provenance, ownKeys: readonly string[]) {
  const [{ verifyProvenance }, { unzipSync }] = await Promise.all([
    import('@skillstead/client/verify'),
    import('fflate'),
  ])
  const archive = toBytes(await api.getArchive({ name, version }))
  const content = Object.entries(unzipSync(archive)).map(([path, bytes]) => ({ path, bytes }))
  const keys = ownKeys.length > 0 ? ownKeys : await readNodeKeys()
  return verifyProvenance(record, { keys, content })
}

async function readNodeKeys(): Promise<string[]> {
  const text = new TextDecoder().decode(toBytes(await api.getPublicKey()))
  return text.split('\n').flatMap((line) => line.trim() || [])
}

function Said({ outcome: { report, ownKeys }, record }: { outcome: Outcome; record: Provenance }) {
  if (!report.ok) return <Refuted problems={report.problems} record={record} />
  const { signers, entry, unproven, provenance } = report
  return (
    <div class="notice good proof" role="status">
      <strong>Verified: everything that was checked matches.</strong>
      <ul>
        <li>The files that this node gives are the ones that the digest names, to the byte.</li>
        {entry && (
          <>
            <li>
              The log of <bdi>{provenance.log!.origin}</bdi> holds this version as entry{' '}
              {(provenance.log!.index + 1).toLocaleString('en')}, since {entry.at}, published by{' '}
              <bdi>{entry.data.publisher.username}</bdi>.
            </li>
            <li>The log’s checkpoint is signed, and the entry is in the tree that was signed.</li>
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
            That the key is the right one: this node gave it. Compare it with the one that its operator publishes
            elsewhere.
          </li>
        )}
        {!entry && <li>That others were shown the same: what is not public is in no log.</li>}
        {unproven.length > 0 && (
          <li>
            {unproven.map((field) => fieldWords[field]).join(', ')}: only the mirror says so, and no key of it was
            given.
          </li>
        )}
        {unproven.length === 0 && (
          <li>That verification of the author, forks and origin are true: the signer says so.</li>
        )}
        <li>That the skill is harmless. That is for the scan, and for you.</li>
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
      <strong>
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
          ? 'What is mirrored is proven by the log of the node it comes from. Get that node’s key from its operator, and give it above.'
          : 'What this node gives does not match what was published and signed. Tell whoever runs it, and get the skill from elsewhere.'}
      </p>
    </div>
  )
}
