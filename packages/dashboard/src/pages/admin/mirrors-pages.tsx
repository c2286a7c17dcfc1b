import { api, useData } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { Page, ItemList, Shown, usePaged } from '../../ui/page.tsx'
import { useState } from 'preact/hooks'
import {
  Field,
  Form,
  Select,
  choice,
  TextArea,
  useAction,
  type Fields,
  ConfirmButton,
  ActionButton,
} from '../../ui/form.tsx'
import { Notice, NameHeading, Badge, Time, toWords, Copyable, Figures } from '../../ui/parts.tsx'
import { useRoute } from 'preact-iso'

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

/** Adds an upstream. */
function NewMirror() {
  const add = useAction((fields: Fields) =>
    api.addMirror({
      name: fields.name!,
      url: fields.url!,
      kind: choice(kinds, fields.kind) || undefined,
      mode: choice(modes, fields.mode),
      selected: fields.mode === 'selected' ? fields.selected?.split(/\s+/).filter(Boolean) : undefined,
      everySeconds: Number(fields.minutes) * 60,
      key: fields.key || undefined,
      apiKey: fields.apiKey || undefined,
    }),
  )
  return (
    <details class="card">
      <summary>Add an upstream</summary>
      <Form action={add} submit="Add" done="Added.">
        <Field label="Name" name="name" required pattern="[a-z0-9\-]+" hint="Its local name." />
        <Field label="Address" name="url" type="url" required />
        <Select label="Kind" name="kind" options={kinds} />
        <Select label="Mode" name="mode" options={modes} />
        <TextArea label="Names" name="selected" rows={2} hint="One per line; * matches any characters: owner/*." />
        <Field label="Sync interval in minutes" name="minutes" type="number" min={0} defaultValue="60" required />
        <Field label="Public key of its log" name="key">
          Only this key is trusted. Empty: the key is trusted on first use.
        </Field>
        <Field label="Your upstream API key" name="apiKey" type="password" autocomplete="off">
          For your private skills; stored encrypted.
        </Field>
      </Form>
      {add.result?.problem != null && <Notice tone="fair">The upstream is unreachable: {add.result.problem}</Notice>}
    </details>
  )
}

type Mirror = Awaited<ReturnType<typeof api.getMirror>>

const tones = { current: 'good', new: 'plain', behind: 'fair', syncing: 'fair', stopped: 'bad' } as const

/** The state of an upstream: its lag, and problems that need attention. */
function MirrorFacts({ of }: { of: Mirror }) {
  const behind = of.verified - of.applied
  return (
    <>
      <p class="facts">
        <Badge tone={tones[of.state]}>{of.state}</Badge>
        <span>{of.kind}</span>
        <code>{of.location}</code>
        <span>{of.skills.toLocaleString('en')} skills</span>
        {behind > 0 && <span>{behind.toLocaleString('en')} entries behind</span>}
        {of.syncedAt ? <Time at={of.syncedAt} verb="synced" /> : <span>never synced</span>}
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

/** One upstream: its state, refused entries, pending writes, and all actions. */
export function MirrorPage() {
  const { upstream = '' } = useRoute().params
  const found = useData(['mirror', upstream], () => api.getMirror({ upstream }))
  return (
    <Page title={upstream} aside={<a href="/admin/mirrors">All mirrors</a>}>
      <Shown of={found}>
        {(mirror) => (
          <>
            <MirrorFacts of={mirror} />
            <div class="row">
              {mirror.alarm ? (
                <Resume of={mirror} alarm={mirror.alarm} />
              ) : (
                <>
                  <ActionButton work={() => api.syncMirror({ upstream })}>Sync now</ActionButton>
                  <ActionButton work={() => api.syncMirror({ upstream, full: true })}>
                    Sync everything again
                  </ActionButton>
                </>
              )}
            </div>
            <Figures
              of={[
                ['Entries here', mirror.staged],
                ['Under a signed checkpoint', mirror.verified],
                ['In the catalogue', mirror.applied],
                ['Refused', mirror.refused],
                ['Newest checkpoint', mirror.checkpointAt ? <Time at={mirror.checkpointAt} /> : 'none'],
                ['Freeze attacks are detected', mirror.freezeChecked ? 'yes' : 'no: the upstream signs no time'],
              ]}
            />
            <Keys of={mirror} />
            <Refused of={mirror.lastReport?.refused ?? []} />
            <Writes upstream={upstream} />
            <ConfirmButton
              action="Remove the upstream"
              title={`Remove ${upstream}?`}
              work={() => api.removeMirror({ upstream })}
              leadsTo="/admin/mirrors"
            >
              <p>Skills imported from it stay here, and are no longer updated.</p>
            </ConfirmButton>
          </>
        )}
      </Shown>
    </Page>
  )
}

const Keys = ({ of: { keys, settings } }: { of: Mirror }) =>
  keys.length > 0 && (
    <section>
      <h2>Trusted keys</h2>
      <p class="faint">
        {settings.pinned
          ? 'Pinned by an administrator.'
          : 'Trusted on first use. Compare it with the key that its operator publishes.'}
      </p>
      {keys.map(toCopyable)}
    </section>
  )

const toCopyable = (key: string) => <Copyable key={key} text={key} />

const Refused = ({ of }: { of: NonNullable<Mirror['lastReport']>['refused'] }) =>
  of.length > 0 && (
    <section>
      <h2>Refused in the last sync</h2>
      <ul>
        {of.map(({ subject, reason, detail }) => (
          <li key={`${subject} ${reason}`}>
            <bdi>{subject}</bdi>: {toWords(reason)}. {detail}
          </li>
        ))}
      </ul>
    </section>
  )

function Resume({ of: { name, settings }, alarm }: { of: Mirror; alarm: NonNullable<Mirror['alarm']> }) {
  const [key, setKey] = useState('')
  const isAboutKeys = alarm.code === 'key' || alarm.code === 'origin'
  const work = () =>
    api.syncMirror({
      upstream: name,
      accept: alarm.code as Parameters<typeof api.syncMirror>[0]['accept'],
      allowRemovals: alarm.code === 'mass_removal' || undefined,
      key: (isAboutKeys && key.trim()) || undefined,
    })
  return (
    <ConfirmButton action="Resume" title="Resume this mirror?" work={work}>
      <p>{alarm.message}</p>
      <p>Ask the operator of {name} first: this can be an attack. Imported skills are served meanwhile.</p>
      {isAboutKeys && alarm.keys.length > 0 && (
        <>
          <p>Offered instead. Compare it with the key that the operator of {name} publishes:</p>
          {alarm.keys.map(toCopyable)}
        </>
      )}
      {isAboutKeys && (
        <Field
          label="New public key"
          name="newKey"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          required={settings.pinned}
        >
          {settings.pinned
            ? 'Required: the old key was pinned.'
            : 'Pinned from then on. Default: the key offered above.'}
        </Field>
      )}
    </ConfirmButton>
  )
}

type Write = Awaited<ReturnType<typeof api.listMirrorWrites>>['writes'][number]

/** Local writes that are to be sent upstream; the operator resolves conflicts. */
function Writes({ upstream }: { upstream: string }) {
  const found = usePaged(['mirror', upstream, 'writes'], (page) => api.listMirrorWrites({ upstream, page }))
  return (
    <section>
      <h2>Pending writes</h2>
      <ItemList of={found} items="writes" label="Writes" empty="No pending writes.">
        {(write) => <WriteItem key={write.id} write={write} />}
      </ItemList>
    </section>
  )
}

function WriteItem({ write }: { write: Write }) {
  const { id, upstream, state } = write
  const resolveWrite = (action: 'retry' | 'drop' | 'rename', newName?: string) =>
    api.settleMirrorWrite({ upstream, id, action, newName })
  return (
    <li>
      <p class="facts">
        <Badge tone={state === 'conflict' ? 'bad' : 'fair'}>{state}</Badge>
        <strong>{write.kind}</strong>
        <bdi>{write.subject}</bdi>
        {write.version && <span>{write.version}</span>}
        {write.subjectThere !== write.subject && <span>there {write.subjectThere}</span>}
        {write.user && <span>by {write.user}</span>}
        <Time at={write.createdAt} />
        <span>{write.attempts} attempts</span>
      </p>
      {write.problem && <p>{write.problem.message}</p>}
      {state === 'conflict' && (
        <>
          <div class="row">
            <ActionButton work={() => resolveWrite('retry')}>Retry</ActionButton>
            <ConfirmButton action="Drop" title="Drop this write?" work={() => resolveWrite('drop')}>
              <p>The change stays on this node and is never sent to {upstream}.</p>
            </ConfirmButton>
          </div>
          {(write.kind === 'publish' || write.kind === 'fork') && (
            <details>
              <summary>Publish it upstream under another name</summary>
              <Form work={({ newName }) => resolveWrite('rename', newName)} submit="Rename and send">
                <Field label="New upstream name" name="newName" required pattern="[a-z0-9\-]+" />
              </Form>
            </details>
          )}
        </>
      )}
    </li>
  )
}
