import { api, useData } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { Page, ItemList } from '../../ui/page.tsx'
import { useState } from 'preact/hooks'
import { Field, Form, Select, TextArea, useAction, type Fields } from '../../ui/form.tsx'
import { Notice, NameHeading, Badge, Time, type Tone, toWords } from '../../ui/parts.tsx'

/** The upstreams of the node. */
export function MirrorsPage() {
  const found = useData(['mirrors'], () => api.listMirrors())
  return (
    <Page
      title="Mirrors"
      hint="Other registries whose skills this node copies, so that they work without a network."
      aside={<NewMirror />}
    >
      <ItemList
        of={found}
        items="mirrors"
        label="Upstreams"
        empty="No upstreams. Add one to copy its skills to this node."
      >
        {(mirror) => (
          <li key={mirror.name}>
            <NameHeading href={addresses.mirror(mirror.name)} name={mirror.name} />
            <MirrorFacts of={mirror} />
          </li>
        )}
      </ItemList>
    </Page>
  )
}

const kinds = [
  ['', 'Detect'],
  ['node', 'A Skillstead node'],
  ['registry', 'Another registry with the base API'],
  ['discovery', 'A discovery index'],
  ['git', 'A git repository'],
] as const
const modes = [
  ['full', 'Everything'],
  ['selected', 'The skills named below'],
  ['pull-through', 'Skills on first request'],
] as const

type Kind = Exclude<(typeof kinds)[number][0], ''>
type Mode = (typeof modes)[number][0]

/** Adds an upstream. */
function NewMirror() {
  const [problem, setProblem] = useState<string | null>(null)
  const action = useAction(async (fields: Fields) => {
    const made = await api.addMirror({
      name: fields.name!,
      url: fields.url!,
      kind: (fields.kind || undefined) as Kind | undefined,
      mode: fields.mode as Mode,
      selected: fields.mode === 'selected' ? fields.selected?.split(/\s+/).filter(Boolean) : undefined,
      everySeconds: Number(fields.minutes) * 60,
      key: fields.key || undefined,
      apiKey: fields.apiKey || undefined,
    })
    setProblem(made.problem)
  })
  return (
    <details class="card">
      <summary>Add an upstream</summary>
      <Form action={action} submit="Add" done="Added.">
        <Field label="Name" name="name" required pattern="[a-z0-9\-]+">
          Its local name.
        </Field>
        <Field label="Address" name="url" type="url" required />
        <Select label="Kind" name="kind" options={kinds} />
        <Select label="Mode" name="mode" options={modes} />
        <TextArea label="Names" name="selected" rows={2}>
          One per line; * matches any characters: owner/*.
        </TextArea>
        <Field label="Sync interval in minutes" name="minutes" type="number" min={0} defaultValue="60" required />
        <Field label="Public key of its log" name="key">
          Only this key is trusted. Empty: the key is trusted on first use.
        </Field>
        <Field label="Your upstream API key" name="apiKey" type="password" autocomplete="off">
          For your private skills; stored encrypted.
        </Field>
      </Form>
      {problem !== null && <Notice tone="fair">The upstream is unreachable: {problem}</Notice>}
    </details>
  )
}

export type Mirror = Awaited<ReturnType<typeof api.getMirror>>

const tones: Record<Mirror['state'], Tone> = {
  current: 'good',
  new: 'plain',
  behind: 'fair',
  syncing: 'fair',
  stopped: 'bad',
}

/** The state of an upstream: its lag, and problems that need attention. */
export function MirrorFacts({ of }: { of: Mirror }) {
  const behind = of.verified - of.applied
  return (
    <>
      <p class="facts">
        <Badge tone={tones[of.state]}>{of.state}</Badge>
        <span>{of.kind}</span>
        <code>{of.location}</code>
        <span>{of.skills.toLocaleString('en')} skills</span>
        {behind > 0 && <span>{behind.toLocaleString('en')} entries behind</span>}
        <span>{of.syncedAt ? <Synced at={of.syncedAt} /> : 'never synced'}</span>
        {of.nextAt && <Time at={of.nextAt} verb="next" />}
        {of.writesWaiting > 0 && <span>{of.writesWaiting} writes wait</span>}
        {of.writesInConflict > 0 && <Badge tone="bad">{of.writesInConflict} writes in conflict</Badge>}
      </p>
      {of.alarm && (
        <p class="notice bad">
          Paused, {toWords(of.alarm.code)}: {of.alarm.message}
        </p>
      )}
      {!of.alarm && of.lastError && (
        <p class="notice fair">
          The last sync failed <Time at={of.lastError.at} />: {of.lastError.message}
        </p>
      )}
    </>
  )
}

function Synced({ at }: { at: string }) {
  return (
    <>
      synced <Time at={at} />
    </>
  )
}
