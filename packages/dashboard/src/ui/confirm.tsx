import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { Problem } from './problem.tsx'
import { unlessBusy, useAction } from './form.tsx'

/** A button for an action that cannot be undone: a dialog explains it before it runs. */
export function ConfirmButton(props: {
  title: ComponentChildren
  children: ComponentChildren
  action: string
  work: () => Promise<unknown>
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const action = useAction(async () => {
    await props.work()
    dialog.current?.close()
  })
  return (
    <>
      <button type="button" class="danger" onClick={() => dialog.current?.showModal()}>
        {props.action}
      </button>
      <dialog ref={dialog} aria-labelledby={heading}>
        <h2 id={heading}>{props.title}</h2>
        {props.children}
        {action.error != null && <Problem error={action.error} />}
        <div class="row">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="button" class="danger" {...unlessBusy(action)}>
            {props.action}
          </button>
        </div>
      </dialog>
    </>
  )
}
