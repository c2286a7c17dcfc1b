import { useMutation } from '@tanstack/preact-query'
import type { ComponentChildren, InputHTMLAttributes, TargetedSubmitEvent } from 'preact'
import { useId } from 'preact/hooks'
import { Notice } from './parts.tsx'
import { Problem } from './problem.tsx'

/** The state of an action: whether it is running, and its error. */
export interface Action<Input = void> {
  run(input: Input): void
  readonly busy: boolean
  /** Whether the last run succeeded. */
  readonly done: boolean
  readonly error: unknown
}

export function useAction<Input = void>(work: (input: Input) => Promise<unknown>): Action<Input> {
  const { mutate, isPending, isSuccess, error } = useMutation({ mutationFn: work })
  return { run: (input) => mutate(input), busy: isPending, done: isSuccess, error }
}

/** The outcome: the error, or that it succeeded. */
export function Outcome({ of, done }: { of: Pick<Action, 'done' | 'error'>; done?: string }) {
  if (of.error != null) return <Problem error={of.error} />
  return of.done && done ? <Notice>{done}</Notice> : null
}

/** A form with its fields as text, by name. Its button is disabled while the action runs; the error is shown below. */
export function Form(props: {
  action: Action<Record<string, string>>
  submit: string
  /** Shown on success, if the page does not show the result itself. */
  done?: string
  class?: string
  children: ComponentChildren
}) {
  const { action } = props
  const send = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (action.busy) return
    const fields = [...new FormData(event.currentTarget)].filter(
      (field): field is [string, string] => typeof field[1] === 'string',
    )
    action.run(Object.fromEntries(fields))
  }
  return (
    <form class={`form ${props.class ?? ''}`} onSubmit={send}>
      {props.children}
      <div>
        <button type="submit" class="main" aria-disabled={action.busy}>
          {action.busy ? 'One moment…' : props.submit}
        </button>
      </div>
      <Outcome of={action} done={props.done} />
    </form>
  )
}

/** A text field with a label and a hint. */
export function Field({
  label,
  hint,
  ...input
}: { label: string; hint?: string } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} dir="auto" aria-describedby={hint ? `${id}-hint` : undefined} {...input} />
      {hint && (
        <small id={`${id}-hint`} class="hint">
          {hint}
        </small>
      )}
    </div>
  )
}

export function TextArea(props: {
  label: string
  name: string
  hint?: string
  rows?: number
  required?: boolean
  maxLength?: number
  value?: string
}) {
  const id = useId()
  const { label, hint, value, ...area } = props
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        dir="auto"
        aria-describedby={hint ? `${id}-hint` : undefined}
        rows={4}
        defaultValue={value}
        {...area}
      />
      {hint && (
        <small id={`${id}-hint`} class="hint">
          {hint}
        </small>
      )}
    </div>
  )
}

export function Select(props: {
  label: string
  name: string
  value?: string
  options: readonly (readonly [value: string, title: string])[]
  onChange?: (value: string) => void
}) {
  const id = useId()
  const { onChange } = props
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <select
        id={id}
        name={props.name}
        {...(onChange && { value: props.value, onChange: (event) => onChange(event.currentTarget.value) })}
      >
        {props.options.map(([value, title]) => (
          // Without a listener the form owns the field, so its initial value is set once, on the option.
          <option key={value} value={value} selected={!onChange && value === props.value}>
            {title}
          </option>
        ))}
      </select>
    </div>
  )
}

/** A checkbox with its label. */
export function Check({
  children,
  ...input
}: Pick<InputHTMLAttributes<HTMLInputElement>, 'name' | 'required' | 'checked' | 'defaultChecked' | 'onChange'> & {
  children: ComponentChildren
}) {
  return (
    <label class="check">
      <input type="checkbox" {...input} />
      <span>{children}</span>
    </label>
  )
}

/** Properties of an action button: while the action runs, clicks do nothing and the focus stays. */
export function unlessBusy({ busy, run }: Pick<Action, 'busy' | 'run'>) {
  return { 'aria-disabled': busy, onClick: () => !busy && run() }
}

/** A button that shows when its action runs, and its error below. */
export function ActionButton(props: { action: Action; children: ComponentChildren; danger?: boolean }) {
  const { action } = props
  return (
    <>
      <button type="button" class={props.danger ? 'danger' : ''} {...unlessBusy(action)}>
        {action.busy ? 'One moment…' : props.children}
      </button>
      {action.error != null && <Problem error={action.error} />}
    </>
  )
}
