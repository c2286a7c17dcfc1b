import type { TargetedKeyboardEvent } from 'preact'
import { useLocation } from 'preact-iso'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { api, useData } from '../../api.ts'
import { createSearchPace } from './search-pace.ts'
import { Marked } from '../../ui/skill-list.tsx'

/** One pace for all searches in the window: it persists when the user leaves the page and returns. */
const pace = createSearchPace()
const suggestLengthMin = 2

/**
 * A search field that searches while the user types, with completions: a combobox as in
 * https://www.w3.org/WAI/ARIA/apg/patterns/combobox/. The search starts after a pause, or at once on Enter or on a
 * selection.
 */
export function SearchBox({ q, search }: { q: string; search: (q: string) => void }) {
  const { text, type, searchNow } = useTyped(q, search)
  const field = useRef<HTMLInputElement>(null)
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const suggestions = useSuggestions(q, open).filter((suggestion) => suggestion !== q)
  const shown = open && suggestions.length > 0
  const close = () => {
    setOpen(false)
    setActive(-1)
  }
  const choose = (value: string) => {
    searchNow(value)
    close()
  }
  const clear = () => {
    choose('')
    field.current?.focus()
  }
  const move = (step: 1 | -1) => {
    setOpen(true)
    if (!shown) return
    // One position in addition to the suggestions: the typed text.
    const places = suggestions.length + 1
    setActive(((active + 1 + step + places) % places) - 1)
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing) return
    if (event.key === 'ArrowDown') move(1)
    else if (event.key === 'ArrowUp') move(-1)
    else if (event.key === 'Escape' && shown) close()
    else if (event.key === 'Escape') clear()
    else if (event.key === 'Enter') choose(suggestions[active] ?? text)
    else return
    event.preventDefault()
  }
  return (
    <search class="search">
      <label class="unseen" for="q">
        Search skills
      </label>
      <div class="combobox">
        <input
          id="q"
          ref={field}
          type="text"
          role="combobox"
          inputMode="search"
          enterkeyhint="search"
          autocomplete="off"
          spellcheck={false}
          dir="auto"
          maxLength={1000}
          placeholder="What should your agent be able to do?"
          aria-autocomplete="list"
          aria-expanded={shown}
          aria-controls={shown ? 'suggestions' : undefined}
          aria-activedescendant={shown && active >= 0 ? `suggestion-${active}` : undefined}
          value={text}
          onInput={(event) => {
            type(event.currentTarget.value)
            setActive(-1)
            setOpen(true)
          }}
          onKeyDown={onKeyDown}
          onBlur={close}
        />
        {text && (
          <button type="button" class="quiet" aria-label="Clear search" onClick={clear}>
            <span aria-hidden="true">×</span>
          </button>
        )}
        {shown && <Completions suggestions={suggestions} active={active} typed={text} choose={choose} />}
      </div>
    </search>
  )
}

function Completions(props: {
  suggestions: readonly string[]
  active: number
  typed: string
  choose: (suggestion: string) => void
}) {
  const { suggestions, active, typed, choose } = props
  return (
    <ul id="suggestions" class="suggestions" role="listbox" aria-label="Suggestions">
      {suggestions.map((suggestion, place) => (
        <li
          key={suggestion}
          id={`suggestion-${place}`}
          role="option"
          dir="auto"
          aria-selected={place === active}
          // Keep the focus in the field: losing it would close the list before the click arrives.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => choose(suggestion)}
        >
          <Marked text={suggestion} terms={typed} />
        </li>
      ))}
    </ul>
  )
}

/** The text in the field, which may be newer than the searched text. */
function useTyped(q: string, search: (q: string) => void) {
  const { path } = useLocation()
  const [text, setText] = useState(q)
  const sent = useRef(q)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const searchNow = (value: string) => {
    clearTimeout(timer.current)
    setText(value)
    sent.current = value.trim()
    if (sent.current === q) return
    pace.spend(Date.now())
    search(sent.current)
  }
  useEffect(() => {
    // A change of the address by our own search is ignored, because it would undo later typing. Other changes come for
    // example from the back button.
    if (q !== sent.current) searchNow(q)
  }, [q])
  // Cancel a waiting search when the path changes: it would search at the address of the next page. A layout effect,
  // because other effects run too late.
  useLayoutEffect(() => () => clearTimeout(timer.current), [path])
  const latest = useRef(searchNow)
  latest.current = searchNow
  const type = (value: string) => {
    setText(value)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => latest.current(value), pace.pauseAt(Date.now()))
  }
  return { text, type, searchNow }
}

/** The completions of the text; none after an error. */
function useSuggestions(q: string, open: boolean): readonly string[] {
  const enabled = open && q.length >= suggestLengthMin
  const wanted = q.slice(0, 200).toWellFormed()
  const { data } = useData(['suggest', wanted], () => api.suggest({ q: wanted, limit: 8 }), enabled)
  return (enabled && data?.suggestions) || []
}
