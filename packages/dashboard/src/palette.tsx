import './styles/palette.css'
import { ArrowRight, Clock, FileText, Package, Search, type IconNode } from 'lucide'
import type { TargetedKeyboardEvent } from 'preact'
import { useLocation } from 'preact-iso'
import { useEffect, useRef, useState } from 'preact/hooks'
import { addresses, places, toAddress } from './addresses.ts'
import { api, useKeptData } from './api.ts'
import { useMe } from './session.ts'
import { Icon } from './ui/icon.tsx'
import { readRecentSkills } from './browser-memory.ts'

interface Choice {
  readonly icon: IconNode
  readonly title: string
  readonly note?: string
  readonly href: string
}

const skillsMax = 7
const pauseMs = 150

const actions: readonly (readonly [href: string, title: string, who?: 'visitor' | 'user' | 'admin'])[] = [
  ['/account/publish', 'Publish a skill', 'user'],
  ['/account/skills', 'Your skills', 'user'],
  ['/account/keys', 'API keys', 'user'],
  ['/account/sign-in', 'Sign in', 'visitor'],
  ['/admin', 'Operate this node', 'admin'],
  ['/docs/api', 'API reference'],
]

/** Finds skills, pages and actions by typing: a combobox in a dialog, which Escape closes. */
export default function Palette({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [active, setActive] = useState(0)
  const { route } = useLocation()
  const choices = useChoices(text)
  useEffect(() => dialog.current?.showModal(), [])
  const choose = ({ href }: Choice) => {
    close()
    route(href)
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing || choices.length === 0) return
    if (event.key === 'ArrowDown') setActive((active + 1) % choices.length)
    else if (event.key === 'ArrowUp') setActive((active - 1 + choices.length) % choices.length)
    else if (event.key === 'Enter') choose(choices[active] ?? choices[0]!)
    else return
    event.preventDefault()
  }
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Search skills, pages and actions"
        placeholder="Search skills, pages and actions"
        autocomplete="off"
        spellcheck={false}
        dir="auto"
        maxLength={1000}
        aria-expanded={choices.length > 0}
        aria-controls="choices"
        aria-activedescendant={`choice-${active}`}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="choices" class="choices" role="listbox" aria-label="Results">
        {choices.map((choice, place) => (
          <li
            key={choice.href + choice.title}
            id={`choice-${place}`}
            role="option"
            aria-selected={place === active}
            ref={place === active ? scrollIntoSight : undefined}
            onPointerMove={() => setActive(place)}
            onClick={() => choose(choice)}
          >
            <Icon of={choice.icon} />
            <bdi>{choice.title}</bdi>
            {choice.note && (
              <span class="faint" dir="auto">
                {choice.note}
              </span>
            )}
          </li>
        ))}
      </ul>
    </dialog>
  )
}

function scrollIntoSight(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' })
}

function useChoices(text: string): readonly Choice[] {
  const typed = text.trim()
  const q = usePaused(typed)
  const found = useKeptData(['palette', q], async () => (q ? await api.searchSkills({ q, limit: skillsMax }) : null))
  const me = useMe()
  const known: Choice[] = [
    ...places.map(([href, title]) => ({ icon: FileText, href, title })),
    ...actions
      .filter(([, , who]) => who === undefined || (me ? who === 'user' || who === me.role : who === 'visitor'))
      .map(([href, title]) => ({ icon: ArrowRight, href, title })),
  ]
  if (!typed) {
    const recent = readRecentSkills().map((name) => ({ icon: Clock, title: name, href: addresses.skill(name) }))
    return [...recent, ...known]
  }
  const isOutdated = q !== typed || found.isPlaceholderData
  const isShown = ({ fullName }: { fullName: string }) => !isOutdated || fullName.includes(typed.toLowerCase())
  const skills = (found.data?.skills ?? []).filter(isShown).map(({ fullName, description }) => {
    return { icon: Package, title: fullName, note: description, href: addresses.skill(fullName) }
  })
  return [
    ...skills,
    { icon: Search, title: `Search for “${typed}”`, href: toAddress('/', { q: typed }) },
    { icon: Search, title: `Search the documentation for “${typed}”`, href: toAddress('/docs', { q: typed }) },
    ...known.filter(({ title }) => title.toLowerCase().includes(typed.toLowerCase())),
  ]
}

/** The last text that stayed the same for `pauseMs`. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return paused
}
