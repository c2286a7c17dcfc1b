import { api } from '../../../api.ts'
import { refresh, useData } from '../../../data/queries.ts'
import { useAddress } from '../../../data/use-address.ts'
import { ConfirmButton } from '../../../ui/confirm.tsx'
import { ActionButton, Field, Form, useAction } from '../../../ui/form.tsx'
import { toPageNumber } from '../../../ui/pager.tsx'
import { Badge, Time } from '../../../ui/parts.tsx'
import { Shown } from '../../../ui/shown.tsx'
import { Queue } from '../queue.tsx'

type Write = Awaited<ReturnType<typeof api.listMirrorWrites>>['writes'][number]

/** Local writes that are to be sent upstream; the operator resolves conflicts. */
export function Writes({ upstream }: { upstream: string }) {
  const page = toPageNumber(useAddress().fields.page)
  const found = useData(['mirror', upstream, 'writes', page], () => api.listMirrorWrites({ upstream, page }))
  return (
    <section>
      <h2>Pending writes</h2>
      <Shown of={found}>
        {({ writes, totalPages }) => (
          <Queue items={writes} label="Writes" empty="No pending writes." page={page} totalPages={totalPages}>
            {(write) => <WriteItem key={write.id} write={write} />}
          </Queue>
        )}
      </Shown>
    </section>
  )
}

function WriteItem({ write }: { write: Write }) {
  const { id, upstream, state } = write
  const settle = async (action: 'retry' | 'drop' | 'rename', newName?: string) => {
    await api.settleMirrorWrite({ upstream, id, action, newName })
    await Promise.all([refresh('mirror', upstream), refresh('mirrors')])
  }
  const retry = useAction(() => settle('retry'))
  const rename = useAction(({ newName }: Record<string, string>) => settle('rename', newName))
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
            <ActionButton action={retry}>Retry</ActionButton>
            <ConfirmButton action="Drop" title="Drop this write?" work={() => settle('drop')}>
              <p>The change stays on this node and is never sent to {upstream}.</p>
            </ConfirmButton>
          </div>
          {(write.kind === 'publish' || write.kind === 'fork') && (
            <details>
              <summary>Publish it upstream under another name</summary>
              <Form action={rename} submit="Rename and send">
                <Field label="New upstream name" name="newName" required pattern="[a-z0-9\-]+" />
              </Form>
            </details>
          )}
        </>
      )}
    </li>
  )
}
