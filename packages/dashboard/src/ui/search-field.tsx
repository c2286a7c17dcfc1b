import { useEffect, useId, useRef, useState } from 'preact/hooks'

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
