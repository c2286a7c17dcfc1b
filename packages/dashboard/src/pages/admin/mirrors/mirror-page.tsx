import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { api } from '../../../api.ts'
import { refresh, useData } from '../../../data/queries.ts'
import { ConfirmButton } from '../../../ui/confirm.tsx'
import { ActionButton, Field, useAction } from '../../../ui/form.tsx'
import { Page } from '../../../ui/page.tsx'
import { Copyable, Time } from '../../../ui/parts.tsx'
import { Shown } from '../../../ui/shown.tsx'
import { Figures } from '../figures.tsx'
import { MirrorFacts, type Mirror } from './mirror-facts.tsx'
import { Writes } from './writes.tsx'

/** One upstream: how it stands, what it refused, what waits for it, and what can be done. */
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
          ['A frozen log would be noticed', mirror.freezeChecked ? 'yes' : 'no: it signs no time'],
        ]}
      />
      {mirror.keys.length > 0 && (
        <section>
          <h2>Keys that are believed</h2>
          <p class="faint">
            {mirror.settings.pinned ? 'Given when it was followed.' : 'Taken on first use: compare with its operator.'}
          </p>
          {mirror.keys.map((key) => (
            <Copyable key={key} text={key} />
          ))}
        </section>
      )}
      {lastReport && lastReport.refused.length > 0 && (
        <section>
          <h2>Refused the last time</h2>
          <ul>
            {lastReport.refused.map(({ subject, reason, detail }) => (
              <li key={`${subject} ${reason}`}>
                <bdi>{subject}</bdi>: {reason.replaceAll('_', ' ')}. {detail}
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
  const sync = useAction(async () => {
    await api.syncMirror({ upstream: name })
    await refreshMirror(name)
  })
  const whole = useAction(async () => {
    await api.syncMirror({ upstream: name, full: true })
    await refreshMirror(name)
  })
  return (
    <>
      <ActionButton action={sync}>Sync now</ActionButton>
      <ActionButton action={whole}>Compare everything again</ActionButton>
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
    await refreshMirror(name)
  }
  return (
    <ConfirmButton action="Go on in spite of it" title="Go on in spite of the alarm?" work={work}>
      <p>{alarm.message}</p>
      <p>Ask the operator of {name} first: an alarm is what an attack looks like. What is here is served meanwhile.</p>
      {isAboutKeys && alarm.keys.length > 0 && (
        <>
          <p>Offered instead; compare it with the key that the operator of {name} names:</p>
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
          hint={isPinned ? 'Required: the old key was pinned.' : 'Pinned from then on. Default: the key offered above.'}
        />
      )}
    </ConfirmButton>
  )
}

async function refreshMirror(name: string): Promise<void> {
  await Promise.all([refresh('mirror', name), refresh('mirrors'), refresh('operator')])
}

function Leave({ name }: { name: string }) {
  const { route } = useLocation()
  return (
    <ConfirmButton
      action="Follow it no more"
      title={`Follow ${name} no more?`}
      work={async () => {
        await api.removeMirror({ upstream: name })
        await refresh('mirrors')
        route('/admin/mirrors')
      }}
    >
      <p>What came from it stays here, and is brought up to date no more.</p>
    </ConfirmButton>
  )
}
