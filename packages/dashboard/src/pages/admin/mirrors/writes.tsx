import { api } from '../../../api.ts'
import { ConfirmButton, ActionButton, Field, Form } from '../../../ui/form.tsx'
import { Badge, Time } from '../../../ui/parts.tsx'
import { ItemList, usePaged } from '../../../ui/page.tsx'

type Write = Awaited<ReturnType<typeof api.listMirrorWrites>>['writes'][number]

/** Local writes that are to be sent upstream; the operator resolves conflicts. */
export function Writes({ upstream }: { upstream: string }) {
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
