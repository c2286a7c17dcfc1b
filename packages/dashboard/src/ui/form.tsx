import { useMutation } from '@tanstack/preact-query'
import type { ComponentChildren, InputHTMLAttributes, TargetedSubmitEvent } from 'preact'
import { useLocation } from 'preact-iso'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { reloadAfterChange } from '../api.ts'
import { Notice } from './parts.tsx'
import { Problem } from './problem.tsx'

/**
 * Creates an action that runs `work`, and then reloads what the page shows, unless `isRead`. `done` says whether the
 * last run succeeded, `result` is what it returned; `reset` forgets both.
 */
export function useAction<Input = void, Result = unknown>(work: (input: Input) => Promise<Result>, isRead = false) {
  const { mutate, isPending, isSuccess, data, reset, error } = useMutation({
    mutationFn: async (input: Input) => {
      const { pathname } = location
      const result = await work(input)
      if (!isRead) await reloadAfterChange(pathname)
      return result
    },
  })
  return { run: (input: Input) => mutate(input), busy: isPending, done: isSuccess, result: data, reset, error }
}

export type Action<Input = void, Result = unknown> = ReturnType<typeof useAction<Input, Result>>

/** Shows the outcome of an action: the error, or a success message. */
export function Outcome({ of, done }: { of: Pick<Action, 'done' | 'error'>; done?: string }) {
  if (of.error != null) return <Problem error={of.error} />
  return of.done && done ? <Notice>{done}</Notice> : null
}

export type Fields = Record<string, string>

/** The fields of a form that are filled in. */
export function onlyFilled(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
}

/**
 * A form that runs `action`, or an action with `work`, with its fields as text, by name. The button is disabled while
 * the action runs; an error is shown below the button.
 */
export function Form<Result>(props: {
  action?: Pick<Action<Fields>, 'run' | 'busy' | 'done' | 'error'>
  work?: (fields: Fields) => Promise<Result>
  /** What is shown in place of the form after success, until `close` is called. */
  answer?: (result: Result, close: () => void) => ComponentChildren
  submit: string
  /** The message after success, if the page does not show the result itself. */
  done?: string
  /** The title of a card that contains the form and is closed at first. In the head of a page it is the main button. */
  card?: string
  children: ComponentChildren
}) {
  const { card, work } = props
  const own = useAction(async (fields: Fields) => work?.(fields))
  const { action = own } = props
  if (props.answer && own.done) return props.answer(own.result!, own.reset)
  const send = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (action.busy) return
    const fields = [...new FormData(event.currentTarget)].filter(
      (field): field is [string, string] => typeof field[1] === 'string',
    )
    action.run(Object.fromEntries(fields))
  }
  const form = (
    <form class="form" onSubmit={send}>
      {props.children}
      <div>
        <button type="submit" class="main" aria-disabled={action.busy}>
          {action.busy ? 'One moment…' : props.submit}
        </button>
      </div>
      <Outcome of={action} done={props.done} />
    </form>
  )
  if (card === undefined) return form
  return (
    <details class="card">
      <summary>{card}</summary>
      {form}
    </details>
  )
}

interface FieldProps {
  readonly label: string
  /** A hint below the field. Default: the children. */
  readonly hint?: ComponentChildren
  readonly children?: ComponentChildren
}

/** A control with its label and its hint. */
function Labelled(props: {
  label: string
  hint?: ComponentChildren
  children: (control: { id: string; 'aria-describedby': string | undefined }) => ComponentChildren
}) {
  const { label, hint, children } = props
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': hint ? `${id}-hint` : undefined })}
      {hint && (
        <small id={`${id}-hint`} class="hint">
          {hint}
        </small>
      )}
    </div>
  )
}

type InputProps = InputHTMLAttributes<HTMLInputElement>

/** A text field with a label and a hint. */
export const Field = ({ label, children, hint = children, ...input }: FieldProps & InputProps) => (
  <Labelled label={label} hint={hint}>
    {(control) => <input {...control} dir="auto" {...input} />}
  </Labelled>
)

type AreaProps = { name: string; rows?: number; required?: boolean; maxLength?: number; value?: string }

export const TextArea = ({ label, children, hint = children, value, ...area }: FieldProps & AreaProps) => (
  <Labelled label={label} hint={hint}>
    {(control) => <textarea {...control} dir="auto" rows={4} defaultValue={value} {...area} />}
  </Labelled>
)

/** A value with its title, or a value that is its own title. */
type Option<T extends string = string> = T | readonly [value: T, title: string]

const toPairs = <T extends string>(options: readonly Option<T>[]) =>
  options.map((option): readonly [T, string] => (typeof option === 'string' ? [option, option] : option))

/** The value of the option that a form sends. Throws a TypeError for a text that is the value of no option. */
export function choice<T extends string>(options: readonly Option<T>[], text: string | undefined): T {
  const chosen = toPairs(options).find(([value]) => value === text)
  if (!chosen) throw new TypeError(`There is no option '${text}'.`)
  return chosen[0]
}

function Options({ of, selected }: { of: readonly Option[]; selected?: string | undefined }) {
  return toPairs(of).map(([value, title]) => (
    <option key={value} value={value} selected={value === selected}>
      {title}
    </option>
  ))
}

export function Select(props: {
  label: string
  name: string
  value?: string
  options: readonly Option[]
  onChange?: (value: string) => void
}) {
  const { onChange } = props
  return (
    <Labelled label={props.label}>
      {(control) => (
        <select
          {...control}
          name={props.name}
          {...(onChange && { value: props.value, onChange: (event) => onChange(event.currentTarget.value) })}
        >
          {/* Without `onChange` the form owns the value, so the initial value is set once, by selecting the option. */}
          <Options of={props.options} selected={onChange ? undefined : props.value} />
        </select>
      )}
    </Labelled>
  )
}

type CheckProps = Pick<InputProps, 'name' | 'required' | 'checked' | 'defaultChecked' | 'onChange' | 'children'>

/** A checkbox with its label. */
export const Check = ({ children, ...input }: CheckProps) => (
  <label class="check">
    <input type="checkbox" {...input} />
    <span>{children}</span>
  </label>
)

/** Properties of an action button: while the action runs, clicks do nothing and the focus stays. */
export const unlessBusy = ({ busy, run }: Pick<Action, 'busy' | 'run'>) => ({
  'aria-disabled': busy,
  onClick: () => !busy && run(),
})

/** A select field for tables, which runs `work` when the user chooses, and shows an error below. */
export function ActionSelect<T extends string>(props: {
  label: string
  value: T
  options: readonly Option<T>[]
  work: (value: T) => Promise<unknown>
}) {
  const change = useAction(props.work)
  return (
    <>
      <select
        aria-label={props.label}
        value={props.value}
        disabled={change.busy}
        onChange={(event) => change.run(choice(props.options, event.currentTarget.value))}
      >
        <Options of={props.options} />
      </select>
      <Outcome of={change} />
    </>
  )
}

interface WorkProps {
  work: () => Promise<unknown>
  readonly children: ComponentChildren
}

/** A button that shows whether its action is running, with the error of the action below. */
export function ActionButton(props: WorkProps & { danger?: boolean; done?: string }) {
  const action = useAction(props.work)
  return (
    <>
      <button type="button" class={props.danger ? 'danger' : ''} {...unlessBusy(action)}>
        {action.busy ? 'One moment…' : props.children}
      </button>
      <Outcome of={action} done={props.done} />
    </>
  )
}

/** A button for an action that cannot be undone: a dialog explains it before it runs. Default class: danger. */
export function ConfirmButton(
  props: WorkProps & {
    title: ComponentChildren
    action: string
    class?: string
    /** The page to open after the action. */
    leadsTo?: string | undefined
  },
) {
  const { class: kind = 'danger', work, leadsTo } = props
  const { route } = useLocation()
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const action = useAction(async () => {
    await work()
    if (leadsTo !== undefined) route(leadsTo)
  })
  useEffect(() => {
    if (action.done) dialog.current?.close()
  }, [action.done])
  return (
    <>
      <button type="button" class={kind} onClick={() => dialog.current?.showModal()}>
        {props.action}
      </button>
      <dialog ref={dialog} aria-labelledby={heading}>
        <h2 id={heading}>{props.title}</h2>
        {props.children}
        <Outcome of={action} />
        <div class="row">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="button" class={kind || 'main'} {...unlessBusy(action)}>
            {props.action}
          </button>
        </div>
      </dialog>
    </>
  )
}

const pauseMs = 250

/** A search field that reports its text after a pause, so that typing a word causes one request. */
export function SearchField(props: { label: string; value: string; onChange(value: string): void }) {
  const id = useId()
  const [typed, type] = useState(props.value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => type(props.value), [props.value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (value: string) => {
    type(value)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => props.onChange(value), pauseMs)
  }
  return (
    <search class="field">
      <label for={id}>{props.label}</label>
      <input id={id} type="search" dir="auto" value={typed} onInput={(event) => change(event.currentTarget.value)} />
    </search>
  )
}
