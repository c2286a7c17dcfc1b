import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { api, useData } from '../../api.ts'
import { ConfirmButton, ActionButton, Field, Form } from '../../ui/form.tsx'
import { Page, Shown, ItemList, usePaged } from '../../ui/page.tsx'
import { Copyable, Time, Figures, toWords, Badge } from '../../ui/parts.tsx'
import { MirrorFacts, type Mirror } from './mirrors-page.tsx'

/** One upstream: its state, refused entries, pending writes, and all actions. */
export function MirrorPage() {
  const { upstream = '' } = useRoute().params
  const found = useData(['mirror', upstream], () => api.getMirror({ upstream }))
  return (
    <Page title={upstream} aside={<a href="/admin/mirrors">All mirrors</a>}>
      <Shown of={found}>{(mirror) => <MirrorShown mirror={mirror} />}</Shown>
    </Page>
  )
}

function MirrorShown({ mirror }: { mirror: Mirror }) {
  const { lastReport, alarm, name } = mirror
  return (
    <>
      <MirrorFacts of={mirror} />
      <div class="row">
        {alarm ? <Resume name={name} alarm={alarm} isPinned={mirror.settings.pinned} /> : <SyncButtons name={name} />}
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
      {mirror.keys.length > 0 && (
        <section>
          <h2>Trusted keys</h2>
          <p class="faint">
            {mirror.settings.pinned
              ? 'Pinned by an administrator.'
              : 'Trusted on first use. Compare it with the key that its operator publishes.'}
          </p>
          {mirror.keys.map((key) => (
            <Copyable key={key} text={key} />
          ))}
        </section>
      )}
      {lastReport && lastReport.refused.length > 0 && (
        <section>
          <h2>Refused in the last sync</h2>
          <ul>
            {lastReport.refused.map(({ subject, reason, detail }) => (
              <li key={`${subject} ${reason}`}>
                <bdi>{subject}</bdi>: {toWords(reason)}. {detail}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Writes upstream={name} />
      <Leave name={name} />
    </>
  )
}

function SyncButtons({ name }: { name: string }) {
  return (
    <>
      <ActionButton work={() => api.syncMirror({ upstream: name })}>Sync now</ActionButton>
      <ActionButton work={() => api.syncMirror({ upstream: name, full: true })}>Sync everything again</ActionButton>
    </>
  )
}

interface Stopped {
  readonly name: string
  readonly alarm: NonNullable<Mirror['alarm']>
  readonly isPinned: boolean
}

function Resume({ name, alarm, isPinned }: Stopped) {
  const [key, setKey] = useState('')
  const isAboutKeys = alarm.code === 'key' || alarm.code === 'origin'
  const work = async () => {
    const accept = alarm.code as NonNullable<Parameters<typeof api.syncMirror>[0]>['accept']
    const allowRemovals = alarm.code === 'mass_removal' || undefined
    await api.syncMirror({ upstream: name, accept, allowRemovals, key: (isAboutKeys && key.trim()) || undefined })
  }
  return (
    <ConfirmButton action="Resume" title="Resume this mirror?" work={work}>
      <p>{alarm.message}</p>
      <p>Ask the operator of {name} first: this can be an attack. Imported skills are served meanwhile.</p>
      {isAboutKeys && alarm.keys.length > 0 && (
        <>
          <p>Offered instead. Compare it with the key that the operator of {name} publishes:</p>
          {alarm.keys.map((offered) => (
            <Copyable key={offered} text={offered} />
          ))}
        </>
      )}
      {isAboutKeys && (
        <Field
          label="New public key"
          name="newKey"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          required={isPinned}
        >
          {isPinned ? 'Required: the old key was pinned.' : 'Pinned from then on. Default: the key offered above.'}
        </Field>
      )}
    </ConfirmButton>
  )
}

function Leave({ name }: { name: string }) {
  const { route } = useLocation()
  return (
    <ConfirmButton
      action="Remove the upstream"
      title={`Remove ${name}?`}
      work={async () => {
        await api.removeMirror({ upstream: name })
        route('/admin/mirrors')
      }}
    >
      <p>Skills imported from it stay here, and are no longer updated.</p>
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
